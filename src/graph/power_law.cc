#include "graph/power_law.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace portolan::graph {
namespace {

using ValueCount = std::pair<uint64_t, uint64_t>;

constexpr uint64_t kEachValueUpTo = 64;
constexpr double kValueStep = 1.05;
constexpr double kMinAlpha = 1.001;
constexpr double kMaxAlpha = 30;
constexpr double kAlphaPrecision = 1e-7;

// The likelihood's maximum: -alpha * mean of ln x - ln zeta(alpha, x_min).
double FitAlpha(double x_min, double mean_log) {
  const auto likelihood = [&](double alpha) { return -alpha * mean_log - std::log(HurwitzZeta(alpha, x_min)); };
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = kMinAlpha;
  double high = kMaxAlpha;
  double left = high - golden * (high - low);
  double right = low + golden * (high - low);
  double at_left = likelihood(left);
  double at_right = likelihood(right);
  while (high - low > kAlphaPrecision) {
    if (at_left < at_right) {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = likelihood(right);
    } else {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = likelihood(left);
    }
  }
  return (low + high) / 2;
}

// The greatest difference of both distribution functions. Between two values that occur only the fit's one grows, so it
// is greatest at a value or just before one. `enough`: it may stop beyond this.
double KsDistance(std::span<const ValueCount> tail, double samples, double alpha, double enough) {
  const double whole = HurwitzZeta(alpha, static_cast<double>(tail.front().first));
  double distance = 0;
  double before = 0;  // of the samples, those below the value
  for (const auto& [value, count] : tail) {
    const double fit_before = 1 - HurwitzZeta(alpha, static_cast<double>(value)) / whole;
    const double fit = 1 - HurwitzZeta(alpha, static_cast<double>(value) + 1) / whole;
    const double at = before + static_cast<double>(count) / samples;
    distance = std::max({distance, std::abs(fit_before - before), std::abs(fit - at)});
    if (distance > enough) return distance;
    before = at;
  }
  return distance;
}

}  // namespace

double HurwitzZeta(double s, double q) {
  // Euler–Maclaurin: the first terms as they are, the rest by B_2k / (2k)!.
  constexpr double kFrom = 12;
  constexpr double kCoefficients[] = {1.0 / 12,         -1.0 / 720,       1.0 / 30'240,
                                      -1.0 / 1'209'600, 1.0 / 47'900'160, -691.0 / 1'307'674'368'000.0};
  double sum = 0;
  for (; q < kFrom + s; ++q) sum += std::pow(q, -s);
  const double power = std::pow(q, -s);
  sum += power * q / (s - 1) + power / 2;
  double factor = power * s / q;  // s (s + 1) … (s + 2k - 2) q^(-s - 2k + 1)
  double rising = s;
  for (const double coefficient : kCoefficients) {
    sum += coefficient * factor;
    factor *= (rising + 1) * (rising + 2) / (q * q);
    rising += 2;
  }
  return sum;
}

std::optional<PowerLawFit> FitPowerLaw(const std::vector<ValueCount>& counts) {
  std::span<const ValueCount> values(counts);
  while (!values.empty() && values.front().first == 0) values = values.subspan(1);
  uint64_t samples = 0;
  double log_sum = 0;
  for (const auto& [value, count] : values) {
    samples += count;
    log_sum += static_cast<double>(count) * std::log(static_cast<double>(value));
  }
  std::optional<PowerLawFit> best;
  double next_try = 0;
  for (; values.size() >= 2 && samples >= kMinPowerLawTail; values = values.subspan(1)) {
    const auto [value, count] = values.front();
    const auto x_min = static_cast<double>(value);
    const auto tail = static_cast<double>(samples);
    if (x_min >= next_try) {
      if (value >= kEachValueUpTo) next_try = x_min * kValueStep;
      PowerLawFit fit{.alpha = FitAlpha(x_min, log_sum / tail), .x_min = value, .tail = samples};
      fit.sigma = (fit.alpha - 1) / std::sqrt(tail);
      fit.distance = KsDistance(values, tail, fit.alpha, best ? best->distance : 1);
      if (!best || fit.distance < best->distance) best = fit;
    }
    samples -= count;
    log_sum -= static_cast<double>(count) * std::log(x_min);
  }
  return best;
}

}  // namespace portolan::graph
