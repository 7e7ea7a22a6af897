// StubbornThread: a thread that writes, and that does not give up what it was given when the disk refuses.
//
// Steps run one after the other. A step that fails is kept, the owner is told, and the thread stands still. After
// kNoSpace that is until Resume, when it tries the same step again: a full disk pauses a crawl and loses nothing. A
// step must therefore leave things so that it can be run again. After any other error it stands still for good: what a
// disk refused to keep for another reason may be gone, and a second try would not know (SyncOnce).
//
// Without a thread (`threaded` false) steps run inside Send: the same order, the same stops, for tests and for the
// virtual world, where everything happens in one thread.
//
// Thread: Send, TrySend, Resume, Stop and stalled(_by) from one owner; on_error runs on the writing thread, with no
// lock held. Memory bound: Mailbox's `bound` in weight that waits, as much again in what was taken out of it.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "io/mailbox.h"

namespace portolan {

class StubbornThread {
 public:
  using Step = std::move_only_function<Status()>;

  // `name` is the thread's, for people with profilers.
  StubbornThread(bool threaded, uint64_t bound, std::function<void(const Error&)> on_error,
                 const std::string& name = "write");
  // As Stop.
  ~StubbornThread();
  StubbornThread(const StubbornThread&) = delete;
  StubbornThread& operator=(const StubbornThread&) = delete;

  // False when there is no room, or after Stop; then `step` is untouched.
  bool TrySend(Step&& step, uint64_t weight);
  // Takes it at once, over the bound if need be: for the few steps that are not data.
  void Send(Step&& step);

  bool stalled() const { return stalled_by().has_value(); }
  // Why it stands still; empty: it does not.
  std::optional<Error> stalled_by() const;
  // Tries the step that failed again, if that was for want of room.
  void Resume();
  // Runs what was sent, unless it stands still or comes to a stop: then the rest never happens. Joins.
  void Stop();

 private:
  void Work();
  // Runs the steps of todo_ until one fails or none is left.
  void RunInline();
  void Stall(const Error& error);

  const bool threaded_;
  const uint64_t bound_;
  const std::function<void(const Error&)> on_error_;
  Mailbox<Step> mail_;
  std::deque<Step> todo_;  // of the writing side: taken and not done

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> stalled_by_;  // guarded by mutex_
  bool stopping_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
