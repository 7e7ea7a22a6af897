// EventLoop: readiness of file descriptors, timers, and calls from other threads, on one thread (libuv).
//
// Thread: everything belongs to the thread that calls Run, except Post and Stop, which any thread may call. A loop is
// made, run and destroyed once; watches and timers still active at the end are closed by the destructor. Memory bound:
// one handle per watch or timer; posted calls wait in a queue that only the posters bound.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"

namespace portolan {

class EventLoop {
 public:
  // The id of a watch or timer; never reused, so a late Cancel is harmless.
  enum class Id : uint64_t {};
  struct Readiness {
    bool readable = false;
    bool writable = false;
    bool failed = false;  // the descriptor is in error; the watch is already ended
  };

  static Result<std::unique_ptr<EventLoop>> Create();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until Stop. Returns at once if Stop was called before.
  void Run();
  // Run returns after the call that is running now; posted calls that wait are not run.
  void Stop();

  // Runs `call` on the loop's thread, in the order of posting for each poster.
  void Post(std::move_only_function<void()> call);

  // `call` runs whenever everything that was ready has been handled, before the loop waits again: the place to pass on
  // results in one batch. One call per loop. REQUIRES: before Run.
  void BeforeWait(std::move_only_function<void()> call);

  // Once after `delay_ns`, or with `repeat_ns` > 0 again and again.
  Id AddTimer(int64_t delay_ns, std::move_only_function<void()> call, int64_t repeat_ns = 0);

  // Calls back whenever the descriptor is ready as asked, until cancelled.
  Result<Id> WatchFd(int fd, bool read, bool write, std::move_only_function<void(Readiness)> call);

  // Changes what an active watch waits for: cheaper than a new watch. kNotFound if it has ended.
  Status ChangeWatch(Id id, bool read, bool write);

  // Ends a timer or a watch; it is not called again. Unknown ids are ignored.
  void Cancel(Id id);

 private:
  struct Impl;
  explicit EventLoop(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace portolan
