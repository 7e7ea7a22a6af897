// Clock: where time comes from. The shard is handed one; nothing above io/ reads the system's clock.
//
// Nanoseconds as signed 64-bit numbers, enough for 292 years. NowNs is steady: it never goes back and is meaningless
// outside this process. UnixNs is the calendar: it may jump, and is for stamps only.

#pragma once

#include <atomic>
#include <cstdint>

namespace portolan {

inline constexpr int64_t kMicrosecond = 1'000;
inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowNs() const = 0;
  virtual int64_t UnixNs() const = 0;

  // The clocks of this machine. Never destroyed.
  static const Clock& Real();
};

// Moves only when told to. Thread: any.
class ManualClock : public Clock {
 public:
  explicit ManualClock(int64_t unix_ns = 0) : unix_base_(unix_ns) {}

  int64_t NowNs() const override { return now_; }
  int64_t UnixNs() const override { return unix_base_ + now_; }
  void Advance(int64_t ns) { now_ += ns; }
  // The calendar jumps, as when someone sets it; steady time does not notice.
  void JumpCalendar(int64_t ns) { unix_base_ += ns; }

 private:
  std::atomic<int64_t> now_{0};
  std::atomic<int64_t> unix_base_;
};

}  // namespace portolan
