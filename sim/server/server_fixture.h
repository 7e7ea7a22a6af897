// For tests of the server: a site made of a table, and clients that see every byte.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "sim/server/loopback_socket.h"
#include "sim/server/sim_server.h"
#include "sim/server/site.h"

namespace portolan::sim {

// Answers by path, DNS and certificates by name. REQUIRES: filled before the server starts.
class TableSite : public Site {
 public:
  Answer Respond(const Request& request) const override {
    if (on_request) on_request(request);
    const auto found = pages.find(std::string(request.path_and_query));
    if (found != pages.end()) return found->second;
    Answer answer;
    answer.status = 404;
    answer.body = "none\n";
    return answer;
  }
  DnsAnswer Resolve(std::string_view name) const override {
    const auto found = names.find(std::string(name));
    return found != names.end() ? found->second : DnsAnswer{.fault = DnsFault::kNotFound};
  }
  Certificate CertificateOf(std::string_view name) const override {
    const auto found = certificates.find(std::string(name));
    return found != certificates.end() ? found->second : Certificate::kGood;
  }

  std::map<std::string, Answer> pages;
  std::map<std::string, DnsAnswer> names;
  std::map<std::string, Certificate> certificates;
  std::function<void(const Request&)> on_request;
};

// One line per event, as in the hit log.
class ListSink : public HitSink {
 public:
  struct Kept {
    Hit hit;  // its views are not to be used
    std::string host, method, path, user_agent, address;
  };
  void OnHit(const Hit& hit) override {
    const std::lock_guard lock(mutex_);
    hits_.push_back({hit, std::string(hit.host), std::string(hit.method), std::string(hit.path_and_query),
                     std::string(hit.user_agent), std::string(hit.address)});
  }
  void OnOpen(int64_t, uint64_t, std::string_view address, uint16_t) override {
    const std::lock_guard lock(mutex_);
    opens_.emplace_back(address);
  }
  void OnClose(int64_t, uint64_t) override {
    const std::lock_guard lock(mutex_);
    ++closes_;
  }
  void OnDns(int64_t, std::string_view name, std::string_view type, int rcode) override {
    const std::lock_guard lock(mutex_);
    dns_.push_back(std::string(name) + " " + std::string(type) + " " + std::to_string(rcode));
  }

  std::vector<Kept> hits() const {
    const std::lock_guard lock(mutex_);
    return hits_;
  }
  std::vector<std::string> opens() const {
    const std::lock_guard lock(mutex_);
    return opens_;
  }
  size_t closes() const {
    const std::lock_guard lock(mutex_);
    return closes_;
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    hits_.clear();
  }
  std::vector<std::string> dns() const {
    const std::lock_guard lock(mutex_);
    return dns_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Kept> hits_;          // mutex_
  std::vector<std::string> opens_;  // mutex_
  size_t closes_ = 0;               // mutex_
  std::vector<std::string> dns_;    // mutex_
};

// What a client saw of a connection's end.
enum class Ending { kOpen, kFin, kRst };

// A blocking socket with a limit of time.
class RawClient {
 public:
  static constexpr int kMostMs = 20'000;

  RawClient(std::string_view address, uint16_t port, int type = SOCK_STREAM) {
    const SocketAddress to = Loopback(address, port);
    fd_ = OwnedFd(::socket(to.storage.ss_family, type | SOCK_CLOEXEC, 0));
    connected_ = ::connect(fd_.get(), to.get(), to.size) == 0;
  }

  int fd() const { return fd_.get(); }
  bool connected() const { return connected_; }
  bool Send(std::string_view bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  // Reads until `enough` bytes are there, the end, or `most_ms` of silence.
  std::string Read(size_t enough = ~size_t{0}, int most_ms = kMostMs) {
    std::string all;
    char buffer[65536];
    while (all.size() < enough) {
      pollfd waits = {fd_.get(), POLLIN, 0};
      if (::poll(&waits, 1, most_ms) <= 0) return all;
      const ssize_t count = ::recv(fd_.get(), buffer, std::min(sizeof buffer, enough - all.size()), 0);
      if (count > 0) {
        all.append(buffer, static_cast<size_t>(count));
        continue;
      }
      ending_ = count == 0 ? Ending::kFin : Ending::kRst;
      return all;
    }
    return all;
  }
  Ending ending() const { return ending_; }
  void Close() { fd_.Reset(); }

  static SocketAddress Loopback(std::string_view address, uint16_t port);

 private:
  OwnedFd fd_;
  bool connected_ = false;
  Ending ending_ = Ending::kOpen;
};

inline SocketAddress RawClient::Loopback(std::string_view address, uint16_t port) {
  SocketAddress out;
  const std::string text(address);
  if (text.find(':') != std::string::npos) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    ::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr);
    out.size = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    ::inet_pton(AF_INET, text.c_str(), &v4->sin_addr);
    out.size = sizeof *v4;
  }
  return out;
}

// Until the condition holds; false after 20 s.
inline bool Eventually(const std::function<bool()>& holds) {
  const int64_t start = Clock::Real().NowNs();
  while (!holds()) {
    if (Clock::Real().NowNs() - start > 20 * kSecond) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

inline std::string Get(std::string_view path, std::string_view more = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a.test\r\n" + std::string(more) + "\r\n";
}

}  // namespace portolan::sim
