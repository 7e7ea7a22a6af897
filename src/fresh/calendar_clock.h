// CalendarClock: the time by which pages are scheduled. It never goes back and never leaps.
//
// It follows the system's clock. Where that is set back, it stands still and then goes on from there: what was due
// stays due, and nothing waits until the old time has come again. Where the clock leaps ahead (set wrong, or the crawl
// was stopped for long), it follows by at most kMostStep: all that is due then is due now as well, and histories of
// visits do not get decades in which nothing was seen to change.
//
// Thread: one owner. Durability: two numbers, which belong into the owner's section.

#pragma once

#include <algorithm>
#include <cstdint>

namespace portolan {

class CalendarClock {
 public:
  static constexpr int64_t kMostStep = int64_t{30} * 86'400;  // seconds

  CalendarClock() = default;
  CalendarClock(uint32_t now, int64_t ahead) : now_(now), ahead_(ahead) {}

  // `unix_s` is what the system's clock shows.
  uint32_t Advance(int64_t unix_s) {
    const int64_t wanted = std::clamp<int64_t>(unix_s, 0, int64_t{1} << 40) + ahead_;
    const int64_t most = now_ == 0 ? kLast : std::min<int64_t>(kLast, now_ + kMostStep);
    const int64_t next = std::clamp<int64_t>(wanted, now_, most);
    ahead_ += next - wanted;
    now_ = static_cast<uint32_t>(next);
    return now_;
  }
  uint32_t now() const { return now_; }
  // What must be added to a time of the system's clock to get one of this.
  int64_t ahead() const { return ahead_; }

 private:
  static constexpr int64_t kLast = UINT32_MAX;

  uint32_t now_ = 0;
  int64_t ahead_ = 0;
};

}  // namespace portolan
