// VirtualTime: a clock that stands still while code runs, and jumps from event to event. 41 days take only as long as
// computing their events.
//
// Events run in the order of (time, order of asking), so the same program gives the same run, on any machine.
// An event that asks for a moment in the past runs at once, after those that are already due.
//
// Thread: one owner. Memory: 24 bytes per waiting event, and its callback.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "io/clock.h"

namespace portolan::sim {

class VirtualTime : public Clock {
 public:
  explicit VirtualTime(int64_t unix_ns) : unix_base_ns_(unix_ns) {}

  int64_t NowNs() const override { return now_ns_; }  // begins at 0
  // What the crawler's clock says, and what time it is.
  int64_t UnixNs() const override { return TrueUnixNs() + error_ns_; }
  int64_t TrueUnixNs() const { return unix_base_ns_ + now_ns_; }
  // Sets the crawler's calendar; the steady clock does not change.
  void SetClockError(int64_t error_ns) { error_ns_ = error_ns; }

  void At(int64_t time_ns, std::function<void()> callback);
  // Runs one event, the clock set to its time. False when none waits.
  bool Step();
  // Runs all events up to `time_ns`, those too that they add, and leaves the clock there.
  void RunUntil(int64_t time_ns);

  uint64_t waiting() const { return heap_.size(); }
  uint64_t steps() const { return steps_; }

 private:
  struct Event {
    int64_t time_ns;
    uint64_t sequence;
    uint32_t slot;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.sequence > b.sequence;
    }
  };

  int64_t unix_base_ns_;
  int64_t error_ns_ = 0;
  int64_t now_ns_ = 0;
  uint64_t sequence_ = 0;
  uint64_t steps_ = 0;
  std::vector<Event> heap_;
  std::vector<std::function<void()>> callbacks_;  // by Event::slot
  std::vector<uint32_t> free_;
};

}  // namespace portolan::sim
