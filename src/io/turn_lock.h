// TurnLock: a fair mutex: threads get it in the order in which they asked. A thread that releases it and asks again at
// once, as a busy loop does, cannot keep the others out.
//
// Thread: any. Lockable, for std::lock_guard.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace portolan {

class TurnLock {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const uint64_t mine = next_++;
    changed_.wait(lock, [&] { return serving_ == mine; });
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      ++serving_;
      if (serving_ == next_) return;  // no thread waits
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  uint64_t next_ = 0;
  uint64_t serving_ = 0;
};

}  // namespace portolan
