#include "fresh/threshold.h"

#include <algorithm>
#include <cmath>

namespace portolan {

void Threshold::Put(uint64_t key, const PageValue& page) {
  if (sample_.size() >= options_.sample && key > sample_.rbegin()->first) return;
  sample_[key] = page;
  if (sample_.size() > options_.sample) sample_.erase(std::prev(sample_.end()));
}

void Threshold::Remove(uint64_t key) { sample_.erase(key); }

double Threshold::VisitsPerDay(double price) const {
  double visits = 0;
  for (const auto& [key, page] : sample_) {
    const double days = std::max(DaysUntilValue(page, price, options_.longest_days), options_.shortest_days);
    // What is not worth the price by then is not worth it after a signal either; the few visits that it gets all the
    // same do not count, so that there is a price for any capacity.
    if (days < options_.longest_days) visits += portolan::VisitsPerDay(page, days);
  }
  return visits;
}

void Threshold::Solve(double visits_per_day, uint64_t pages) {
  if (sample_.empty() || !(visits_per_day > 0)) return;
  double importance = 0;
  for (const auto& [key, page] : sample_) importance += page.importance;
  mean_importance_ = importance / static_cast<double>(sample_.size());
  const double scale = std::max(static_cast<double>(pages) / static_cast<double>(sample_.size()), 1.0);
  const double wanted = visits_per_day * std::exp(trim_) / scale;
  if (VisitsPerDay(LeastValue()) <= wanted) {  // there is room for every visit that is worth something
    value_ = LeastValue();
    return;
  }
  // Bracket in the logarithm from where it was, then halve.
  constexpr double kLeast = 1e-12;
  double low = std::max(value_, kLeast);
  double high = low;
  if (VisitsPerDay(low) > wanted) {
    for (int i = 0; i < 60 && VisitsPerDay(high) > wanted; ++i) {
      low = high;
      high *= i < 4 ? 1.06 : 4;
    }
  } else {
    for (int i = 0; i < 60 && low > kLeast && VisitsPerDay(low) <= wanted; ++i) {
      high = low;
      low /= i < 4 ? 1.06 : 4;
    }
  }
  while (high > low * 1.02) {
    const double middle = std::sqrt(low * high);
    (VisitsPerDay(middle) > wanted ? low : high) = middle;
  }
  value_ = std::sqrt(low * high);
}

void Threshold::Late(double part, uint64_t pages) {
  const double step =
      kGain * std::clamp(part - kTolerated, 0.0, 1.0) / std::max<double>(static_cast<double>(pages), 100);
  trim_ = std::max(trim_ - step, -kMostTrim);
  value_ *= std::exp(step);
}

void Threshold::Idle(double visits, uint64_t pages) {
  if (value_ <= LeastValue()) return;
  const double step = std::min(kIdleGain * visits / std::max<double>(static_cast<double>(pages), 100), 0.1);
  trim_ = std::min(trim_ + step, kMostTrim);
  value_ = std::max(value_ * std::exp(-step), LeastValue());
}

double Threshold::expected_freshness() const {
  double fresh = 0;
  double all = 0;
  for (const auto& [key, page] : sample_) {
    const double days = std::max(DaysUntilValue(page, value_, options_.longest_days), options_.shortest_days);
    fresh += page.importance * MeanFreshness(page, days);
    all += page.importance;
  }
  return all > 0 ? fresh / all : 1;
}

}  // namespace portolan
