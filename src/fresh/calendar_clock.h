// CalendarClock: the time by which pages are scheduled. It never goes back and never leaps.
//
// It follows the system's clock. Where that is set back, it stands still and then goes on from there: what was due
// stays due, and nothing waits until the old time has come again. Where the clock leaps ahead (set wrong, or the crawl
// was stopped for long), it follows by at most kMostStep: all that is due then is due now as well, and histories of
// visits do not get decades in which nothing was seen to change.
//
// Its unit is the owner's (refresh_schedule.h): 32 bits of seconds last 135 years. A new one begins at kFirst, so that
// there are times before the crawl.
//
// Thread: one owner. Durability: two numbers, which belong into the owner's section.

#pragma once

#include <algorithm>
#include <cstdint>

namespace portolan {

class CalendarClock {
 public:
  static constexpr int64_t kMostStep = int64_t{30} * 86'400;  // units
  static constexpr uint32_t kFirst = 400 * 86'400;

  CalendarClock() = default;
  CalendarClock(uint32_t now, int64_t ahead) : now_(now), ahead_(ahead) {}

  // `clock` is what the system's clock shows, in units since 1970.
  uint32_t Advance(int64_t clock) {
    clock = std::clamp<int64_t>(clock, 0, kMostClock);
    if (now_ == 0) {
      now_ = kFirst;
      ahead_ = now_ - clock;
    }
    const int64_t next = std::clamp<int64_t>(clock + ahead_, now_, std::min<int64_t>(kLast, now_ + kMostStep));
    ahead_ = next - clock;
    now_ = static_cast<uint32_t>(next);
    return now_;
  }
  // The clock now counts other units: from what it shows here on.
  void Rebase(int64_t clock) { ahead_ = now_ - std::clamp<int64_t>(clock, 0, kMostClock); }
  // The time of the calendar for one of the system's clock; 1 for all that is too early.
  uint32_t Of(int64_t clock) const {
    return static_cast<uint32_t>(std::clamp<int64_t>(std::clamp<int64_t>(clock, 0, kMostClock) + ahead_, 1, now_));
  }
  uint32_t now() const { return now_; }
  // What must be added to the system's clock to get the time of this.
  int64_t ahead() const { return ahead_; }

 private:
  static constexpr int64_t kLast = UINT32_MAX;
  static constexpr int64_t kMostClock = int64_t{1} << 50;

  uint32_t now_ = 0;
  int64_t ahead_ = 0;
};

}  // namespace portolan
