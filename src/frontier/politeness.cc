#include "frontier/politeness.h"

#include <algorithm>

namespace portolan {

int64_t ScaledDelay(const PolitenessOptions& options, int64_t delay_ns, int64_t floor_ns, uint32_t budget) {
  if (floor_ns <= 0 || floor_ns >= delay_ns || budget <= options.base_budget) return delay_ns;
  const double scaled = static_cast<double>(delay_ns) * options.base_budget / budget;
  return std::max(floor_ns, static_cast<int64_t>(scaled));
}

int64_t IpGap(const PolitenessOptions& options, uint32_t mean_budget) {
  return ScaledDelay(options, options.ip_delay_ns, options.ip_delay_floor_ns, mean_budget);
}

int64_t HostGap(const PolitenessOptions& options, int64_t crawl_delay_ns, int64_t duration_ns, uint32_t budget) {
  // As a double, so that an absurd duration cannot overflow; the clamp comes before the conversion back.
  const double scaled = options.delay_factor * static_cast<double>(std::max<int64_t>(duration_ns, 0));
  const int64_t by_duration =
      scaled >= static_cast<double>(options.max_delay_ns) ? options.max_delay_ns : static_cast<int64_t>(scaled);
  const int64_t tau_h = ScaledDelay(options, options.host_delay_ns, options.host_delay_floor_ns, budget);
  const int64_t gap = std::max({tau_h, crawl_delay_ns, by_duration});
  return std::max(options.min_delay_ns, std::min(gap, options.max_delay_ns));
}

int64_t LongestHold(const PolitenessOptions& options) { return std::max(options.ip_hold_max_ns, options.ip_delay_ns); }

int64_t BackOff(int64_t first_ns, uint32_t times_before, int64_t max_ns) {
  int64_t wait = std::max<int64_t>(first_ns, 0);
  for (uint32_t i = 0; i < times_before && wait < max_ns; ++i) {
    if (wait > max_ns / 2) return max_ns;
    wait *= 2;
  }
  return std::min(wait, max_ns);
}

}  // namespace portolan
