#include "frontier/politeness.h"

#include <algorithm>

namespace portolan {

int64_t HostGap(const PolitenessOptions& options, int64_t crawl_delay_ns, int64_t duration_ns) {
  // As a double, so that an absurd duration cannot overflow; the clamp comes before the conversion back.
  const double scaled = options.delay_factor * static_cast<double>(std::max<int64_t>(duration_ns, 0));
  const int64_t by_duration =
      scaled >= static_cast<double>(options.max_delay_ns) ? options.max_delay_ns : static_cast<int64_t>(scaled);
  const int64_t gap = std::max({options.host_delay_ns, crawl_delay_ns, by_duration});
  return std::max(options.min_delay_ns, std::min(gap, options.max_delay_ns));
}

int64_t BackOff(int64_t first_ns, uint32_t times_before, int64_t max_ns) {
  int64_t wait = std::max<int64_t>(first_ns, 0);
  for (uint32_t i = 0; i < times_before && wait < max_ns; ++i) {
    if (wait > max_ns / 2) return max_ns;
    wait *= 2;
  }
  return std::min(wait, max_ns);
}

}  // namespace portolan
