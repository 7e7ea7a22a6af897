// How far two orders of the same things agree: Spearman's rho and Kendall's tau-b, from -1 to 1.
//
// rho is the correlation of ranks (of equal values their mean). tau-b is (concordant - discordant pairs) over the
// geometric mean of the pairs that are not tied in each: counted by a merge sort in n log n (W. R. Knight, "A Computer
// Method for Calculating Kendall's Tau with Ungrouped Data", 1966).
//
// Thread: pure functions. Memory: some words per value. REQUIRES: as many values in both. 0 where one is all ties.

#pragma once

#include <vector>

namespace portolan::bench {

double SpearmanRho(const std::vector<double>& a, const std::vector<double>& b);
double KendallTau(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace portolan::bench
