// The power law that fits a distribution of whole numbers best: P(x) = x^-alpha / zeta(alpha, x_min) for x >= x_min.
//
// Source: A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-Law Distributions in Empirical Data", 2009. For each
// x_min, alpha is the maximum of the discrete likelihood (found by golden section: it is concave), and the x_min is
// taken whose tail is nearest to its fit by the Kolmogorov–Smirnov distance.
//
// Departures: x_min is tried at each value up to 64 and at values that grow by 5% from there on, not at all, so that
// the work is bounded by 500 or so passes over the values; a tail has at least 50 samples, because a short one fits by
// accident; whether the data is a power law at all (their p-value, which takes thousands of synthetic fits) is not
// tested. Compare the distance: a tail of n samples that really is one has about 0.9 / sqrt(n) or less.
//
// Thread: pure functions. Memory bound: 24 bytes per different value.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace portolan::graph {

struct PowerLawFit {
  double alpha = 0;     // the exponent
  double sigma = 0;     // its standard error, (alpha - 1) / sqrt(tail)
  uint64_t x_min = 0;   // where the law begins
  uint64_t tail = 0;    // samples that are at least x_min
  double distance = 0;  // Kolmogorov–Smirnov, of the tail and its fit
};

inline constexpr uint64_t kMinPowerLawTail = 50;

// The Hurwitz zeta function: the sum of (q + k)^-s over k >= 0. REQUIRES: s > 1, q >= 1.
double HurwitzZeta(double s, double q);

// `counts`: values in increasing order, and how often each occurs; zeros are passed over. Nothing if no tail has
// kMinPowerLawTail samples of at least two different values.
std::optional<PowerLawFit> FitPowerLaw(const std::vector<std::pair<uint64_t, uint64_t>>& counts);

}  // namespace portolan::graph
