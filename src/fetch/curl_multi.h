// CurlMulti: libcurl's multi interface on an EventLoop.
//
// libcurl says which sockets it wants watched and when it wants to be called. This class keeps the watches and one
// timer, and reports the end of each transfer. The timer is only ever moved to an earlier time: libcurl sets it several
// times per fetch, nearly always to later, and a timer that fires early just checks again.
//
// The sockets are in an epoll set of their own, of which the loop sees one descriptor: a watch of the loop's would cost
// seven system calls and an allocation for each connection, this costs three.
//
// Thread: the loop's. Memory bound: one watch per socket.

#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "io/clock.h"
#include "io/event_loop.h"

namespace portolan {

class CurlMulti {
 public:
  // Called for each transfer that libcurl ended, inside Settle; it may call Add and Remove.
  using OnDone = std::function<void(CURL* easy, CURLcode code)>;

  // REQUIRES: `loop` outlives this, and does not run in the destructor.
  static Result<std::unique_ptr<CurlMulti>> Create(EventLoop& loop, size_t max_connections, OnDone on_done);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  bool Add(CURL* easy);
  void Remove(CURL* easy);

  // After one or more calls of Add or Remove from outside OnDone: lets libcurl begin.
  void Settle();

 private:
  CurlMulti(EventLoop& loop, OnDone on_done) : loop_(loop), on_done_(std::move(on_done)) {}

  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);  // NOLINT(google-runtime-int): libcurl's type
  void Watch(curl_socket_t fd, int what);
  void Unwatch(curl_socket_t fd);
  void OnSocketsReady();
  void OnAlarm();
  void Arm();

  static constexpr int64_t kNever = INT64_MAX;

  EventLoop& loop_;
  const OnDone on_done_;
  const Clock& clock_ = Clock::Real();  // libcurl uses the machine's clock, whatever clock stamps the answers
  CURLM* multi_ = nullptr;
  int sockets_ = -1;  // the epoll set
  EventLoop::Id sockets_watch_{};
  struct SocketWatch {
    int what = CURL_POLL_NONE;  // what libcurl waits for; NONE: it does not
    uint32_t round = 0;         // how often this descriptor was watched: identifies late events of an earlier socket
  };
  std::vector<SocketWatch> watches_;  // by descriptor
  int64_t due_ns_ = kNever;           // when libcurl wants to be called
  int64_t armed_ns_ = kNever;         // when the timer fires
  EventLoop::Id timer_{};
  bool settling_ = false;
};

}  // namespace portolan
