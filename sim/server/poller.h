// Poller: an epoll loop with one timer per source. Each server thread runs one.
//
// The crawler's own EventLoop (libuv) is not used on purpose: the server shares no code with the client that it tests,
// and a connection that lasts for one request must not cost a registration.
//
// Thread: all members but Wake on the thread that runs it. Lifetime: a source may forget itself within any callback; it
// is deleted by Retire after the events of that round, so events that are already read find a living object.

#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/server/loopback_socket.h"

namespace portolan::sim {

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual void OnReady(uint32_t events) = 0;  // EPOLLIN …
  virtual void OnTimer() {}
  virtual void OnAllRead() {}   // asked for by AfterReading
  virtual void OnCaughtUp() {}  // of late ones, see below

 protected:
  // Its events come after all others of a round, then those others again that have come meanwhile, then OnCaughtUp. For
  // listeners: a client that closed one connection and opened another is seen to do so in this order, if what was
  // accepted counts as opened in OnCaughtUp. Such a source lives as long as the poller.
  void HandleLate() { late_ = true; }

 private:
  friend class Poller;
  int64_t deadline_ns_ = 0;  // 0: none
  bool retired_ = false;
  bool late_ = false;
  bool after_reading_ = false;
};

class Poller {
 public:
  static Result<std::unique_ptr<Poller>> Create();
  ~Poller();

  // `events` as for epoll_ctl; level-triggered. False when the system has no room.
  bool Add(int fd, uint32_t events, EventSource* source);
  void Modify(int fd, uint32_t events, EventSource* source);
  void Remove(int fd);

  // Replaces the source's timer. Steady time in ns.
  void SetTimer(EventSource* source, int64_t deadline_ns);
  void ClearTimer(EventSource* source);

  // OnAllRead will be called when all events of this round are handed out (in the next round when it is asked for after
  // that): so all that had come is read before the first of it is answered.
  void AfterReading(EventSource* source);

  // The source gets no more events and is deleted after this round. REQUIRES: its fd is closed or removed.
  void Retire(std::unique_ptr<EventSource> source);

  // One round: waits for events, timers, Wake or `most_wait_ms`, and hands them out.
  void RunOnce(int most_wait_ms);

  // Steady time of the begin of the round's work.
  int64_t now_ns() const { return now_ns_; }

  // Thread: any.
  void Wake();

 private:
  Poller(OwnedFd epoll, OwnedFd wake);
  void RunTimers();
  // Waits for events and calls OnReady, except for late sources, which are noted.
  void HandOut(int wait_ms, int64_t* woken_ns = nullptr);
  bool HandOut(const epoll_event& event);  // false: nothing new

  const OwnedFd epoll_;
  const OwnedFd wake_;
  int64_t now_ns_ = 0;
  std::set<std::pair<int64_t, EventSource*>> timers_;
  std::vector<std::unique_ptr<EventSource>> retired_;
  std::vector<std::pair<EventSource*, uint32_t>> late_;  // within a round
  std::vector<EventSource*> after_reading_;
  std::vector<EventSource*> all_read_;  // within a round
};

}  // namespace portolan::sim
