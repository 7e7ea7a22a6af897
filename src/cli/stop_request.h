// StopRequest: that a program was asked to stop, as something to wait for: a wait ends as soon as the request comes.
// Alarm: the same for a loop that looks at things from time to time, and sooner when something has happened.
//
// Thread: any.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace portolan {

class StopRequest {
 public:
  void Make() {
    const std::lock_guard lock(mutex_);
    made_ = true;
    changed_.notify_all();
  }
  bool made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  // Waits until it is made, at most so long. True: it is made.
  bool WaitFor(int64_t max_wait_ns) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(max_wait_ns), [this] { return made_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool made_ = false;  // guarded by mutex_
};

class Alarm {
 public:
  void Ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  // Waits until it rings, at most so long; then it is silent again.
  void WaitFor(int64_t max_wait_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(max_wait_ns), [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;  // guarded by mutex_
};

}  // namespace portolan
