#include "fresh/change_estimate.h"

#include <algorithm>
#include <cmath>

namespace portolan {

void ChangeEstimate::Observe(const Gamma& prior, double days, bool changed) {
  if (!(days > 0)) return;
  if (!changed) {
    rate += static_cast<float>(days);
    Fade();
    return;
  }
  const Gamma before = Posterior(prior);
  // E[(1 - exp(-x t)) x^n] over a gamma, by n; u = ln of rate / (rate + t).
  const double u = -std::log1p(days / before.rate);
  const double zero = -std::expm1(before.shape * u);
  const double one = -std::expm1((before.shape + 1) * u);
  const double two = -std::expm1((before.shape + 2) * u);
  if (!(zero > 1e-12)) {  // so short an interval that one change is all that can be
    shape += 1;
    Fade();
    return;
  }
  const double mean = before.mean() * one / zero;
  const double square = before.shape * (before.shape + 1) / (before.rate * before.rate) * two / zero;
  const double variance = std::max(square - mean * mean, 1e-12 * mean * mean);
  // Where the interval says next to nothing the difference may be a rounding error below zero.
  shape += static_cast<float>(std::clamp(mean * mean / variance - before.shape, 0.0, 1.0));
  rate += static_cast<float>(std::clamp(mean / variance - before.rate, 0.0, days));
  Fade();
}

void ChangeEstimate::ObserveAge(double days) {
  shape += 1;
  rate += static_cast<float>(std::max(days, 0.0));
  Fade();
}

void ChangeEstimate::Fade() {
  if (shape <= kWindow) return;
  shape *= 0.75F;
  rate *= 0.75F;
}

}  // namespace portolan
