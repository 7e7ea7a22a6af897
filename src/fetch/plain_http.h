// PlainHttp: the sockets of PlainTransfers. Opens, sends, reads, and keeps connections for the next request.
//
// All sockets are in one epoll set, of which the loop sees one descriptor. A fetch over a new connection costs socket,
// connect, two epoll_ctl, send, as many recv as it has pieces of kReadBytes, and close.
//
// A kept connection belongs to a host name at an address and port, and waits in the set: when the other side closes it
// or sends unexpected bytes it is dropped. Above options.idle_connections the one that waited longest is closed.
//
// Thread: the loop's. Memory bound: a few hundred bytes per connection and one read buffer.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fetch/fetch_options.h"
#include "fetch/plain_transfer.h"
#include "io/event_loop.h"

namespace portolan {

class PlainHttp {
 public:
  // A transfer is over: take it with Finish() or Finish(…). May call Start for others.
  using OnDone = std::function<void(PlainTransfer& transfer)>;

  // REQUIRES: `loop` and `options` outlive this, and the loop does not run in the destructor.
  static Result<std::unique_ptr<PlainHttp>> Create(EventLoop& loop, const FetchOptions& options, OnDone on_done);
  ~PlainHttp();
  PlainHttp(const PlainHttp&) = delete;
  PlainHttp& operator=(const PlainHttp&) = delete;

  // REQUIRES: Begin was called on it. If it fails at once it is reported in the next turn of the loop, never inside
  // this call.
  void Start(PlainTransfer& transfer);
  // It was stalled (Exchange) and may continue.
  void Resume(PlainTransfer& transfer);
  // Ends its connection. on_done is not called.
  void Abandon(PlainTransfer& transfer);
  // Closes connections that have been idle for longer than options.idle_ns.
  void CloseIdle(int64_t now_ns);

 private:
  static constexpr size_t kReadBytes = size_t{64} << 10;

  struct Idle {
    int fd = -1;
    int64_t since_ns = 0;
    std::string key;
  };
  using IdleList = std::list<Idle>;  // the one that waits longest first
  // What a descriptor is used for now.
  struct Socket {
    PlainTransfer* transfer = nullptr;
    IdleList::iterator idle{};
    bool is_idle = false;
    uint32_t round = 0;  // how often this descriptor was used: identifies late events of an earlier socket
    size_t sent = 0;     // of the request
  };

  PlainHttp(EventLoop& loop, const FetchOptions& options, OnDone on_done)
      : loop_(loop), options_(options), on_done_(std::move(on_done)), buffer_(kReadBytes) {}

  static std::string KeyOf(const PlainTransfer& transfer);
  int TakeKept(const std::string& key);
  int Connect(PlainTransfer& transfer);  // -1: over
  void Watch(int fd, uint32_t events, bool known);
  void OnReady();
  void OnEvent(int fd, uint32_t events);
  bool Send(int fd, PlainTransfer& transfer);  // true: over
  bool Read(int fd, PlainTransfer& transfer);  // likewise
  void Unwatch(int fd);
  void End(int fd, PlainTransfer& transfer);
  void Keep(int fd, std::string key);
  void DropIdle(IdleList::iterator idle);
  void CloseSocket(int fd);
  void FailLater(PlainTransfer& transfer);

  EventLoop& loop_;
  const FetchOptions& options_;
  const OnDone on_done_;
  int set_ = -1;
  EventLoop::Id watch_{};
  std::vector<char> buffer_;
  std::vector<Socket> sockets_;  // by descriptor
  IdleList idle_;
  std::unordered_multimap<std::string, IdleList::iterator> kept_;  // never iterated
  std::vector<PlainTransfer*> failed_;                             // could not begin
  bool failing_posted_ = false;
};

}  // namespace portolan
