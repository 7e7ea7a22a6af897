#include "fetch/curl_multi.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

// Turns that one Settle gives to transfers that are ready at once; then other events are handled.
constexpr int kMaxTurns = 4;
// Sockets that one turn of the loop looks at; the others are ready in the next one.
constexpr int kMaxReadySockets = 64;

uint32_t EventsOf(int what) {
  return ((what & CURL_POLL_IN) != 0 ? uint32_t{EPOLLIN} : 0) | ((what & CURL_POLL_OUT) != 0 ? uint32_t{EPOLLOUT} : 0);
}

}  // namespace

Result<std::unique_ptr<CurlMulti>> CurlMulti::Create(EventLoop& loop, size_t max_connections, OnDone on_done) {
  std::unique_ptr<CurlMulti> made(new CurlMulti(loop, std::move(on_done)));
  made->multi_ = curl_multi_init();
  if (made->multi_ == nullptr) return Fail(ErrorCode::kBusy, "libcurl cannot make a multi handle");
  made->sockets_ = epoll_create1(EPOLL_CLOEXEC);
  if (made->sockets_ < 0) return std::unexpected(Error::FromErrno(errno, "epoll_create1"));
  ASSIGN_OR_RETURN(made->sockets_watch_,
                   loop.WatchFd(made->sockets_, /*read=*/true, /*write=*/false,
                                [self = made.get()](EventLoop::Readiness) { self->OnSocketsReady(); }));
  CURLM* multi = made->multi_;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, made.get());
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, made.get());
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(max_connections));
  // One request at a time per connection: politeness allows no more, and cutting a stream then affects no other.
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  return made;
}

CurlMulti::~CurlMulti() {
  settling_ = true;  // no call back from here on
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  loop_.Cancel(sockets_watch_);
  if (sockets_ >= 0) close(sockets_);
  if (armed_ns_ != kNever) loop_.Cancel(timer_);
}

bool CurlMulti::Add(CURL* easy) { return curl_multi_add_handle(multi_, easy) == CURLM_OK; }
void CurlMulti::Remove(CURL* easy) { CHECK(curl_multi_remove_handle(multi_, easy) == CURLM_OK); }

int CurlMulti::OnSocket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* /*known*/) {
  auto* multi = static_cast<CurlMulti*>(self);
  if (what == CURL_POLL_REMOVE) {
    multi->Unwatch(fd);
  } else {
    multi->Watch(fd, what);
  }
  return 0;
}

int CurlMulti::OnTimer(CURLM* /*multi*/, long timeout_ms, void* self) {  // NOLINT(google-runtime-int)
  auto* multi = static_cast<CurlMulti*>(self);
  multi->due_ns_ = timeout_ms < 0 ? kNever : timeout_ms == 0 ? 0 : multi->clock_.NowNs() + timeout_ms * kMillisecond;
  return 0;
}

void CurlMulti::Watch(curl_socket_t fd, int what) {
  const auto index = static_cast<size_t>(fd);
  if (index >= watches_.size()) watches_.resize(index + 64);
  SocketWatch& watch = watches_[index];
  const bool known = watch.what != CURL_POLL_NONE;
  if (!known) ++watch.round;
  watch.what = what;
  epoll_event event{};
  event.events = EventsOf(what);
  event.data.u64 = uint64_t{watch.round} << 32 | static_cast<uint32_t>(fd);
  // A socket that cannot be watched is noticed by the fetch's own time limits.
  if (epoll_ctl(sockets_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0) return;
  if (errno == ENOENT || errno == EEXIST) {
    epoll_ctl(sockets_, errno == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  }
}

void CurlMulti::Unwatch(curl_socket_t fd) {
  const auto index = static_cast<size_t>(fd);
  if (index >= watches_.size() || watches_[index].what == CURL_POLL_NONE) return;
  watches_[index].what = CURL_POLL_NONE;
  epoll_ctl(sockets_, EPOLL_CTL_DEL, fd, nullptr);
}

void CurlMulti::OnSocketsReady() {
  std::array<epoll_event, kMaxReadySockets> events;
  const int count = epoll_wait(sockets_, events.data(), kMaxReadySockets, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const auto fd = static_cast<curl_socket_t>(event.data.u64 & 0xffffffff);
    const SocketWatch& watch = watches_[static_cast<size_t>(fd)];
    // Handling the earlier sockets may have closed this one and given its number to another.
    if (watch.what == CURL_POLL_NONE || watch.round != event.data.u64 >> 32) continue;
    // A broken socket is reported as ready: libcurl then reads what is left, finds the error itself, and retries on
    // another connection where that is right. CURL_CSELECT_ERR would end the transfer without all that.
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    const int mask = ((event.events & EPOLLIN) != 0 || broken ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 || broken ? CURL_CSELECT_OUT : 0);
    int running = 0;
    curl_multi_socket_action(multi_, fd, mask, &running);
    Settle();
  }
}

void CurlMulti::OnAlarm() {
  armed_ns_ = kNever;
  Settle();
}

void CurlMulti::Settle() {
  if (settling_) return;  // called from OnDone; the loop below continues
  settling_ = true;
  for (int turn = 0;; ++turn) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) on_done_(message->easy_handle, message->data.result);
    }
    if (turn == kMaxTurns || due_ns_ == kNever || (due_ns_ != 0 && due_ns_ > clock_.NowNs())) break;
    due_ns_ = kNever;  // libcurl sets it again
    int running = 0;
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  settling_ = false;
  Arm();
}

void CurlMulti::Arm() {
  if (due_ns_ >= armed_ns_) return;
  if (armed_ns_ != kNever) loop_.Cancel(timer_);
  armed_ns_ = due_ns_;
  timer_ = loop_.AddTimer(due_ns_ == 0 ? 0 : due_ns_ - clock_.NowNs(), [this] { OnAlarm(); });
}

}  // namespace portolan
