#include "io/clock.h"

#include <ctime>

namespace portolan {
namespace {

int64_t Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

class RealClock : public Clock {
 public:
  int64_t NowNs() const override { return Read(CLOCK_MONOTONIC); }
  int64_t UnixNs() const override { return Read(CLOCK_REALTIME); }
};

}  // namespace

const Clock& Clock::Real() {
  static const RealClock* const clock = new RealClock;
  return *clock;
}

}  // namespace portolan
