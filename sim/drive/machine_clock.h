// MachineClock: the clocks of one machine in virtual time. Its calendar is set wrong, and its seconds are longer or
// shorter than those of others. Without options it is virtual time itself.
//
// Thread: one owner. Memory: none.

#pragma once

#include <cstdint>

#include "io/clock.h"
#include "sim/virtual/virtual_time.h"

namespace portolan::sim {

class MachineClock : public Clock {
 public:
  struct Options {
    int64_t drift_ppm = 0;  // how much faster than virtual time, in millionths
    int64_t calendar_error_ns = 0;
  };

  explicit MachineClock(const VirtualTime& time) : MachineClock(time, Options()) {}
  MachineClock(const VirtualTime& time, const Options& options) : time_(time), options_(options) {}

  int64_t NowNs() const override { return At(time_.NowNs()); }
  int64_t UnixNs() const override { return time_.UnixNs() + (NowNs() - time_.NowNs()) + options_.calendar_error_ns; }
  // Somebody sets the calendar: from now on it is wrong by so much.
  void SetCalendarError(int64_t error_ns) { options_.calendar_error_ns = error_ns; }
  // What the steady clock says at that virtual time.
  int64_t At(int64_t virtual_ns) const { return virtual_ns + virtual_ns / 1000 * options_.drift_ppm / 1000; }
  // The virtual time at which the steady clock has reached that time.
  int64_t ToVirtual(int64_t machine_ns) const {
    int64_t virtual_ns = machine_ns;
    for (int i = 0; i < kSteps && At(virtual_ns) != machine_ns; ++i) virtual_ns += machine_ns - At(virtual_ns);
    return At(virtual_ns) < machine_ns ? virtual_ns + 1 : virtual_ns;
  }

 private:
  static constexpr int kSteps = 16;  // each leaves a hundredth of the difference or less

  const VirtualTime& time_;
  Options options_;
};

}  // namespace portolan::sim
