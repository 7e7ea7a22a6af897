#include "crawl/refresh_pace.h"

#include <limits>

namespace portolan {
namespace {

constexpr double kFall = 4;  // per period, so that hours in which nothing can be fetched are not taken for the capacity

}  // namespace

double RefreshPace::PerNs() const {
  const double share = 1 - (1 - options_.share) * waiting_;
  const double most = options_.most_per_day > 0 ? options_.most_per_day / (86'400 * 1e9) : per_ns_;
  return std::min(per_ns_ * share, most);
}

void RefreshPace::Advance(int64_t now_ns, bool first_visits, bool full) {
  const int64_t passed = std::max<int64_t>(now_ns - at_ns_, 0);
  at_ns_ += passed;
  if (first_visits) waited_ns_ += passed;
  if (full) full_ns_ += passed;
  const double rate = PerNs();
  allowed_ = std::min(allowed_ + rate * static_cast<double>(passed),
                      std::max(2 * rate * static_cast<double>(options_.tick_ns), 1.0));
  if (now_ns >= period_end_ns_) EndPeriod(now_ns);
}

void RefreshPace::EndPeriod(int64_t now_ns) {
  const auto took_ns = static_cast<double>(now_ns - period_end_ns_ + options_.period_ns);
  if (held_ > taken_ || static_cast<double>(full_ns_) > took_ns / 2) {
    per_ns_ = std::max({static_cast<double>(fetched_) / took_ns, per_ns_ / kFall, Hope() * 1e-9});
  } else {
    per_ns_ = std::min(per_ns_ * kGrowth, Hope());
  }
  waiting_ += (static_cast<double>(waited_ns_) / took_ns - waiting_) / 4;
  waiting_ = std::clamp(waiting_, 0.0, 1.0);
  waited_ns_ = full_ns_ = 0;
  fetched_ = taken_ = held_ = 0;
  period_end_ns_ = now_ns + options_.period_ns;
}

int64_t RefreshPace::NextNs() const {
  const double rate = PerNs();
  const double wait = (1 - allowed_) / rate;
  if (!(wait < 9e17)) return std::numeric_limits<int64_t>::max();
  return at_ns_ + std::max<int64_t>(static_cast<int64_t>(wait), 0);
}

}  // namespace portolan
