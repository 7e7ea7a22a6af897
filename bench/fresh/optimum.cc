#include "bench/fresh/optimum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace portolan::bench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What one more visit per day is worth at this interval: d(freshness) / d(visits per day), times importance.
double Marginal(const KnownPage& page, double days) {
  const double x = page.rate * days;
  return page.importance / page.rate * (-std::expm1(-x) - x * std::exp(-x));
}

double DaysAt(const KnownPage& page, double price) {
  if (page.importance / page.rate <= price) return kNever;
  double low = 0;
  double high = 1 / page.rate;
  while (Marginal(page, high) < price) {
    low = high;
    high *= 2;
    if (high * page.rate > 700) return kNever;
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (Marginal(page, middle) < price ? low : high) = middle;
  }
  return high;
}

}  // namespace

double FreshnessAt(double rate, double days) {
  if (std::isinf(days)) return 0;
  const double x = rate * days;
  return x < 1e-12 ? 1 : -std::expm1(-x) / x;
}

double FreshnessOf(const std::vector<KnownPage>& pages, const std::vector<double>& days) {
  double fresh = 0;
  double all = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    fresh += pages[i].importance * FreshnessAt(pages[i].rate, days[i]);
    all += pages[i].importance;
  }
  return fresh / all;
}

Optimum OptimumByPrice(const std::vector<KnownPage>& pages, double visits_per_day) {
  const auto visits = [&](double price) {
    double sum = 0;
    for (const KnownPage& page : pages) sum += 1 / DaysAt(page, price);
    return sum;
  };
  double low = 1e-12;
  double high = 1;
  while (visits(high) > visits_per_day) high *= 2;
  while (high > low * (1 + 1e-6)) {
    const double middle = std::sqrt(low * high);
    (visits(middle) > visits_per_day ? low : high) = middle;
  }
  Optimum optimum;
  for (const KnownPage& page : pages) optimum.days.push_back(DaysAt(page, high));
  optimum.freshness = FreshnessOf(pages, optimum.days);
  return optimum;
}

Optimum OptimumByPieces(const std::vector<KnownPage>& pages, double visits_per_day, uint64_t pieces) {
  const double piece = visits_per_day / static_cast<double>(pieces);
  std::vector<uint64_t> given(pages.size());
  const auto fresh = [&](size_t page, uint64_t parts) {
    return parts == 0
               ? 0
               : pages[page].importance * FreshnessAt(pages[page].rate, 1 / (piece * static_cast<double>(parts)));
  };
  // Freshness is concave in the visits, so the greedy choice is the best one.
  std::priority_queue<std::pair<double, size_t>> gains;
  for (size_t i = 0; i < pages.size(); ++i) gains.emplace(fresh(i, 1), i);
  for (uint64_t i = 0; i < pieces; ++i) {
    const size_t page = gains.top().second;
    gains.pop();
    ++given[page];
    gains.emplace(fresh(page, given[page] + 1) - fresh(page, given[page]), page);
  }
  Optimum optimum;
  for (const uint64_t parts : given) {
    optimum.days.push_back(parts == 0 ? kNever : 1 / (piece * static_cast<double>(parts)));
  }
  optimum.freshness = FreshnessOf(pages, optimum.days);
  return optimum;
}

}  // namespace portolan::bench
