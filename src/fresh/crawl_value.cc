#include "fresh/crawl_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace portolan {
namespace {

// Gauss-Legendre with four points on each of three parts of a cycle: what matters may all be at its beginning.
constexpr std::array<std::pair<double, double>, 4> kNodes = {{{0.0694318442029737, 0.1739274225687269},
                                                              {0.3300094782075719, 0.3260725774312731},
                                                              {0.6699905217924281, 0.3260725774312731},
                                                              {0.9305681557970263, 0.1739274225687269}}};
constexpr std::array<double, 4> kParts = {0, 1.0 / 48, 1.0 / 6, 1};

// Below this many signals per cycle none is counted: the closed form is better there.
constexpr double kFewSignals = 1e-6;

double ScaledDays(const PageValue& page, double days) { return page.silence * days / page.change.rate; }

struct Cycle {
  double length = 0;  // psi
  double fresh = 0;   // w
  double at_end = 1;  // p
  double gain = 0;    // w - p psi
};

Cycle CycleOf(const PageValue& page, double days) {
  const double shape = page.change.shape;
  const double x = ScaledDays(page, days);
  const double log = std::log1p(x);
  Cycle cycle;
  cycle.at_end = std::exp(-shape * log);
  if (page.signals * days < kFewSignals) {
    cycle.length = days;
    if (x < 1e-4 && shape * x < 1e-4) {  // both terms nearly cancel: their series
      cycle.gain = days * shape * x / 2;
      cycle.fresh = days * cycle.at_end + cycle.gain;
      return cycle;
    }
    // The integral of p: days / x * (1 - (1 + x) p) / (shape - 1), and a logarithm where shape is 1.
    const double power = (1 - shape) * log;
    const double part = std::abs(power) < 1e-9 ? log : std::expm1(power) / (1 - shape);
    cycle.fresh = days / x * part;
    cycle.gain = cycle.fresh - days * cycle.at_end;
    return cycle;
  }
  // u = (1 - exp(-signals t)) / signals makes exp(-signals t) dt a plain du.
  const double ended = -std::expm1(-page.signals * days);
  cycle.length = ended / page.signals;
  for (size_t part = 0; part + 1 < kParts.size(); ++part) {
    const double width = kParts[part + 1] - kParts[part];
    for (const auto& [node, weight] : kNodes) {
      const double at = kParts[part] + width * node;
      const double t = -std::log1p(-ended * at) / page.signals;
      const double p = std::exp(-shape * std::log1p(ScaledDays(page, t)));
      cycle.fresh += width * weight * p;
      cycle.gain += width * weight * (p - cycle.at_end);
    }
  }
  cycle.fresh *= cycle.length;
  cycle.gain *= cycle.length;
  return cycle;
}

}  // namespace

double FreshAfter(const PageValue& page, double days) {
  return std::exp(-page.change.shape * std::log1p(ScaledDays(page, days)));
}

double DaysUntilFresh(const PageValue& page, double fresh) {
  if (fresh >= 1) return 0;
  return std::expm1(-std::log(std::max(fresh, 1e-300)) / page.change.shape) * page.change.rate / page.silence;
}

double CrawlValue(const PageValue& page, double days) {
  if (!(days > 0)) return 0;
  return page.importance * CycleOf(page, days).gain + page.news * days * days / 2;
}

double DaysUntilValue(const PageValue& page, double threshold, double longest) {
  if (!(threshold > 0)) return 0;
  // At first V is (importance * changes that no signal tells + news) t^2 / 2, and never more than that: the root of
  // this is below the one wanted.
  const double first = page.importance * page.silence * page.change.mean() + page.news;
  double low = std::sqrt(2 * threshold / std::max(first, 1e-300));
  if (!(low < longest) || CrawlValue(page, longest) < threshold) return longest;
  double high = longest;
  // Newton on ln V over ln t, which rises and bends down: from below it does not overshoot. Where the sum of both
  // values is not bent that way, a step out of the bracket is replaced by its middle.
  double at = low;
  for (int i = 0; i < 60; ++i) {
    const Cycle cycle = CycleOf(page, at);
    const double news = page.news * at * at;
    const double value = page.importance * cycle.gain + news / 2;
    if (std::abs(value - threshold) <= 1e-7 * threshold) break;
    (value < threshold ? low : high) = at;
    // dV/dt = -importance p' psi + news t.
    const double falls = page.change.shape * page.silence / (page.change.rate * (1 + ScaledDays(page, at)));
    const double slope = (page.importance * cycle.at_end * falls * cycle.length * at + news) / value;
    double next = slope > 1e-12 ? at * std::exp(std::min(std::log(threshold / value) / slope, 40.0)) : high;
    if (!(next > low && next < high)) next = std::sqrt(low) * std::sqrt(high);
    if (std::abs(next - at) <= 1e-9 * at) break;
    at = next;
  }
  return at;
}

double VisitsPerDay(const PageValue& page, double days) { return 1 / CycleOf(page, days).length; }

double MeanFreshness(const PageValue& page, double days) {
  const Cycle cycle = CycleOf(page, days);
  return cycle.fresh / cycle.length;
}

}  // namespace portolan
