#include "plan/crawl_rate_models.h"

#include <algorithm>
#include <cmath>

namespace portolan {
namespace {

// The largest x in [0, upper] with holds(x), which must hold up to a point and not beyond.
double LargestThatHolds(double upper, const std::function<bool(double)>& holds) {
  double low = 0;
  double high = upper;
  if (holds(upper)) return upper;
  // Each step halves the interval: after 200 the two ends are neighbouring numbers.
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double DiskRate(double disk_bytes_per_s, double alpha, double url_bytes, double links_per_page) {
  return disk_bytes_per_s / (alpha * url_bytes * links_per_page);
}

double CacheRate(double cache_links_per_s, double links_per_page, double cpu_pages_per_s) {
  if (std::isinf(cache_links_per_s)) return cpu_pages_per_s;
  return cache_links_per_s * cpu_pages_per_s / (links_per_page * cpu_pages_per_s + cache_links_per_s);
}

double CacheRate(double cache_links_per_s, double links_per_page, const std::function<double(double)>& cpu_share,
                 double upper_pages_per_s) {
  return LargestThatHolds(upper_pages_per_s, [&](double rate) {
    return links_per_page * rate <= cache_links_per_s * (1 - cpu_share(rate));
  });
}

double CacheMissSteps::operator()(double cache_bytes, double pages_per_s) const {
  if (cache_bytes <= 0) return 1;
  const double revisit_bytes = entry_bytes * host_delay_s * links_per_page * pages_per_s;
  if (cache_bytes < revisit_bytes) return 0.84;
  if (cache_bytes < second_step * revisit_bytes) return 0.38;
  if (cache_bytes < third_step * revisit_bytes) return 0.26;
  return 0.22;
}

double HybridRate(const HybridModel& model, double cache_bytes) {
  const double limit = model.disk_bytes_per_s / (model.url_bytes * model.links_per_page);
  const double ram = model.ram - cache_bytes;
  const auto holds = [&](double rate) {
    const double miss = model.miss(cache_bytes, rate);
    return rate * model.alpha(miss * model.links, ram) * miss <= limit;
  };
  // No check moves less than a byte in a thousand: beyond this rate nothing holds.
  double upper = limit * 1e3;
  while (holds(upper) && upper < 1e30) upper *= 10;
  return LargestThatHolds(upper, holds);
}

CacheChoice OptimalCache(const HybridModel& model, const std::function<double(double)>& cache_rate, double largest,
                         double step) {
  CacheChoice best;
  for (double i = 0; i * step <= largest; ++i) {
    const double cache_bytes = i * step;
    const double rate = std::min(cache_rate(cache_bytes), HybridRate(model, cache_bytes));
    // Differences of rounding must not make a large cache look better than a small one.
    if (i == 0 || rate > best.pages_per_s * (1 + 1e-9)) best = {cache_bytes, rate};
  }
  return best;
}

}  // namespace portolan
