#include "bench/fetch/bare_curl.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

namespace portolan::bench {
namespace {

struct Handle {
  CURL* easy = nullptr;
  std::string connect_to;
  curl_slist node{};
  std::string body;
};

size_t Keep(char* bytes, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, size * count);
  return size * count;
}

struct Loop {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  long timeout_ms = -1;  // NOLINT(google-runtime-int)
  std::vector<bool> known;
};

int OnSocket(CURL*, curl_socket_t fd, int what, void* to, void*) {
  auto* loop = static_cast<Loop*>(to);
  const auto index = static_cast<size_t>(fd);
  if (loop->known.size() <= index) loop->known.resize(index + 1);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, nullptr);
    loop->known[index] = false;
    return 0;
  }
  epoll_event event{};
  event.data.fd = fd;
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  epoll_ctl(loop->epoll, loop->known[index] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  loop->known[index] = true;
  return 0;
}

int OnTimer(CURLM*, long timeout_ms, void* to) {  // NOLINT(google-runtime-int)
  static_cast<Loop*>(to)->timeout_ms = timeout_ms;
  return 0;
}

}  // namespace

uint64_t FetchWithBareCurl(const BareCurlRun& run) {
  curl_global_init(CURL_GLOBAL_ALL);
  Loop loop;
  CURLM* multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &loop);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &loop);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(run.max_connections));
  std::vector<std::unique_ptr<Handle>> handles;
  uint64_t bytes = 0;
  bool failed = false;
  size_t active = 0;
  const auto start = [&](Handle& handle) {
    std::string url;
    Address address;
    if (!run.next(url, address)) return;
    handle.body.clear();
    handle.connect_to = "::" + address.ToString() + ":";
    handle.node = {handle.connect_to.data(), nullptr};
    curl_easy_setopt(handle.easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle.easy, CURLOPT_CONNECT_TO, &handle.node);
    curl_multi_add_handle(multi, handle.easy);
    ++active;
  };
  for (size_t i = 0; i < run.concurrent; ++i) {
    auto handle = std::make_unique<Handle>();
    handle->easy = curl_easy_init();
    curl_easy_setopt(handle->easy, CURLOPT_PRIVATE, handle.get());
    curl_easy_setopt(handle->easy, CURLOPT_WRITEFUNCTION, Keep);
    curl_easy_setopt(handle->easy, CURLOPT_WRITEDATA, &handle->body);
    curl_easy_setopt(handle->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(handle->easy, CURLOPT_BUFFERSIZE, 65536L);
    curl_easy_setopt(handle->easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(handle->easy, CURLOPT_FORBID_REUSE, run.reuse_connections ? 0L : 1L);
    start(*handle);
    handles.push_back(std::move(handle));
  }
  int running = 0;
  std::array<epoll_event, 256> events;
  while (active > 0) {
    const int ready = loop.timeout_ms == 0 ? 0
                                           : epoll_wait(loop.epoll, events.data(), static_cast<int>(events.size()),
                                                        static_cast<int>(loop.timeout_ms));
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      const int mask = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                       ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                       ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi, event.data.fd, mask, &running);
    }
    if (ready <= 0) {
      loop.timeout_ms = -1;
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      Handle* handle = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
      failed = failed || message->data.result != CURLE_OK;
      bytes += handle->body.size();
      curl_multi_remove_handle(multi, handle->easy);
      --active;
      start(*handle);
    }
  }
  for (const auto& handle : handles) curl_easy_cleanup(handle->easy);
  curl_multi_cleanup(multi);
  close(loop.epoll);
  return failed ? 0 : bytes;
}

}  // namespace portolan::bench
