// The best that is possible when every rate is known (Cho and Garcia-Molina 2003): how often to visit each page so that
// the importance-weighted mean freshness is largest, given visits per day for all of them.
//
// Two ways that share nothing: by a price per visit (bisection on the price, then on each page's interval), and by
// giving out small pieces of the capacity, each to the page that gains most. The benchmark compares them before it
// measures anything.

#pragma once

#include <cstdint>
#include <vector>

namespace portolan::bench {

struct KnownPage {
  double importance = 1;
  double rate = 1;  // changes per day
};

// Freshness of a page that is visited every `days`; 0 for infinity.
double FreshnessAt(double rate, double days);

struct Optimum {
  double freshness = 0;      // importance-weighted mean
  std::vector<double> days;  // between visits; infinity: never
};
Optimum OptimumByPrice(const std::vector<KnownPage>& pages, double visits_per_day);
Optimum OptimumByPieces(const std::vector<KnownPage>& pages, double visits_per_day, uint64_t pieces);
double FreshnessOf(const std::vector<KnownPage>& pages, const std::vector<double>& days);

}  // namespace portolan::bench
