// Threshold: the price of a visit, so that as many pages are due as the crawl has capacity for.
//
// The price that uses a capacity exactly depends on all pages. It is computed from a fair sample of them (the pages
// with the least keys, which are hashes): the sample's visits per day at a price, times pages per sampled page, fall as
// the price rises, so the price is found by bisection. What the sample and the model cannot know (its own noise, pages
// that come later than due, connections that stay idle) is corrected by a slow control: each visit that came late by a
// part of its interval raises the price a little, each visit that could have been made and was not due lowers it.
//
// Thread: one owner. Deterministic. Memory bound: Options::sample pages at about 100 bytes.
// Durability: sample and numbers belong into the owner's checkpoint (Encode, Restore).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "fresh/crawl_value.h"

namespace portolan {

class Threshold {
 public:
  struct Options {
    size_t sample = 2048;
    double shortest_days = 1.0 / 24;  // between two visits
    double longest_days = 365;
    double least_value = 0;  // the least price, for pages of mean importance
  };
  static constexpr double kGain = 2;      // of the control, per visit and page
  static constexpr double kIdleGain = 4;  // more, so that idleness is what is avoided first
  // Part of its interval by which a visit may be late before it counts: signals make many pages due at once, and a
  // short queue of them keeps the capacity used.
  static constexpr double kTolerated = 0.05;
  static constexpr double kMostTrim = 4;  // it changes the capacity by at most a factor of e^4

  explicit Threshold(const Options& options) : options_(options), value_(options.least_value) {}

  // A page of the calendar, with what it is worth now. `key` is a hash.
  void Put(uint64_t key, const PageValue& page);
  void Remove(uint64_t key);

  // Computes the price. `pages` is how many pages there are.
  void Solve(double visits_per_day, uint64_t pages);
  // A visit was made, later than due by this part of its interval.
  void Late(double part, uint64_t pages);
  // So many visits could have been made, and nothing was due.
  void Idle(double visits, uint64_t pages);

  double value() const { return value_; }
  double trim() const { return trim_; }  // logarithm of what the capacity is multiplied with
  void Restore(double value, double trim) {
    value_ = value;
    trim_ = trim;
  }
  // Means over the sample: of importance; of freshness weighted by importance, in the long run at this price.
  double mean_importance() const { return mean_importance_; }
  double expected_freshness() const;
  size_t sampled() const { return sample_.size(); }

  // One record per sampled page.
  template <typename Each>
  void ForEach(Each each) const {
    for (const auto& [key, page] : sample_) each(key, page);
  }

 private:
  double VisitsPerDay(double price) const;
  double LeastValue() const { return options_.least_value * mean_importance_; }

  const Options options_;
  std::map<uint64_t, PageValue> sample_;  // ordered by key: the largest is the first to go
  double value_;
  double trim_ = 0;
  double mean_importance_ = 1;
};

}  // namespace portolan
