#include "fresh/gamma.h"

#include <algorithm>
#include <cmath>

namespace portolan {

// Both: the recurrence up to x = 8, from where the asymptotic series has 10 good digits.
double Digamma(double x) {
  double below = 0;
  for (; x < 8; x += 1) below -= 1 / x;
  const double inverse = 1 / x;
  const double square = inverse * inverse;
  return below + std::log(x) - inverse / 2 -
         square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240))));
}

double Trigamma(double x) {
  double below = 0;
  for (; x < 8; x += 1) below += 1 / (x * x);
  const double inverse = 1 / x;
  const double square = inverse * inverse;
  return below + inverse + square / 2 +
         inverse * square * (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square * (1.0 / 30))));
}

double Gamma::MeanLog() const { return Digamma(shape) - std::log(rate); }

double Gamma::VarLog() const { return Trigamma(shape); }

Gamma Gamma::FromLog(double mean_log, double var_log) {
  // Trigamma falls; it is near 1/x + 1/(2 x^2) for large x and 1/x^2 for small x. Newton on its inverse converges from
  // there in a few steps, because 1/trigamma is nearly linear.
  const double wanted = std::clamp(var_log, 1e-4, 1e4);
  double shape = 0.5 + 1 / wanted;
  if (wanted > 4) shape = 1 / std::sqrt(wanted);
  for (int i = 0; i < 20; ++i) {
    const double step = 1e-4 * shape;
    const double here = 1 / Trigamma(shape);
    const double slope = (1 / Trigamma(shape + step) - here) / step;
    const double next = std::max(shape / 4, shape + (1 / wanted - here) / slope);
    const bool close = std::abs(next - shape) < 1e-9 * shape;
    shape = next;
    if (close) break;
  }
  return {.shape = shape, .rate = std::exp(Digamma(shape) - mean_log)};
}

}  // namespace portolan
