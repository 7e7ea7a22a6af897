// TurnTimes: a histogram of how long the shard's turns took, for users. Most turns take microseconds; the few that
// waited for a disk are what matters. For the longest turn it also stores which part took most of it.
//
// Quantiles come from buckets that are eighths of a factor of two, so one is right within an eighth; the histogram that
// is shown has powers of two of microseconds. Thread: one owner. Memory: 4 KiB.
//
// The shard reads no clock, so it only says which part begins (TurnWatch); its caller has the clock (TurnClock).

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/clock.h"

namespace portolan {

enum class TurnPart : uint8_t {
  kPages,     // taking what came: results of fetches with their links, names, messages of other shards
  kAnswers,   // moving on answers of merges, URLs in queues of the gate and of BEAST, and seeds
  kDispatch,  // dispatching URLs whose turn has come; the frontier pulls and spills
  kRounds,    // starting merges
};
inline constexpr size_t kTurnParts = 4;
inline constexpr std::string_view kTurnPartNames[kTurnParts] = {"pages", "answers", "dispatch", "rounds"};

// Called by the shard when a part of a turn begins.
class TurnWatch {
 public:
  virtual ~TurnWatch() = default;
  virtual void Enter(TurnPart part) = 0;
};

class TurnTimes {
 public:
  // `part` is the one that took most of it.
  void Add(int64_t ns, TurnPart part = TurnPart::kPages) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
    ++buckets_[BucketOf(value)];
    ++steps_[StepOf(value)];
    ++count_;
    NoteLongest(value, part);
  }

  void Add(const TurnTimes& other) {
    for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    for (size_t i = 0; i < steps_.size(); ++i) steps_[i] += other.steps_[i];
    count_ += other.count_;
    NoteLongest(other.longest_ns_, other.longest_part_);
  }

  // How many took `le_us` or less, and more than half of it.
  struct Step {
    uint64_t le_us = 0;  // a power of two
    uint64_t count = 0;
  };
  // From the shortest to the longest; empty steps are left out.
  std::vector<Step> Histogram() const {
    std::vector<Step> steps;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i] > 0) steps.push_back({uint64_t{1} << i, steps_[i]});
    }
    return steps;
  }

  uint64_t count() const { return count_; }
  uint64_t longest() const { return longest_ns_; }  // ns
  TurnPart longest_part() const { return longest_part_; }
  // The time in ns that this part of all turns did not exceed, 0 < part <= 1; 0 if there is none.
  uint64_t Quantile(double part) const {
    const auto wanted = static_cast<uint64_t>(part * static_cast<double>(count_));
    uint64_t sum = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      sum += buckets_[i];
      if (sum > 0 && sum >= wanted) return std::min(EndOf(i), longest_ns_);
    }
    return longest_ns_;
  }

 private:
  void NoteLongest(uint64_t ns, TurnPart part) {
    if (ns <= longest_ns_) return;
    longest_ns_ = ns;
    longest_part_ = part;
  }
  // 1 us or less, 2 us or less, …
  static size_t StepOf(uint64_t ns) {
    const uint64_t us = ns / 1000 + (ns % 1000 > 0 ? 1 : 0);
    return us <= 1 ? 0 : static_cast<size_t>(std::bit_width(us - 1));
  }

  static constexpr size_t kParts = 8;
  // The first kParts values have one bucket each; then there are kParts buckets per power of two.
  static size_t BucketOf(uint64_t value) {
    if (value < kParts) return value;
    const auto bits = static_cast<size_t>(std::bit_width(value));  // at least 4
    return (bits - 3) * kParts + ((value >> (bits - 4)) & (kParts - 1));
  }
  static uint64_t EndOf(size_t bucket) {  // its largest value
    if (bucket < kParts) return bucket;
    const size_t shift = bucket / kParts - 1;
    return ((kParts + bucket % kParts + 1) << shift) - 1;
  }

  std::array<uint64_t, 62 * kParts> buckets_{};
  std::array<uint64_t, 56> steps_{};
  uint64_t count_ = 0;
  uint64_t longest_ns_ = 0;
  TurnPart longest_part_ = TurnPart::kPages;
};

// Measures turns and their parts with a clock: Begin, the shard's calls of Enter, End. Thread: one owner.
class TurnClock : public TurnWatch {
 public:
  explicit TurnClock(const Clock& clock) : clock_(clock) {}

  void Begin() {
    spent_ns_ = {};
    part_ = TurnPart::kPages;
    begin_ns_ = since_ns_ = clock_.NowNs();
  }
  void Enter(TurnPart part) override {
    Count();
    part_ = part;
  }
  void End() {
    Count();
    const auto most = std::max_element(spent_ns_.begin(), spent_ns_.end()) - spent_ns_.begin();
    times_.Add(since_ns_ - begin_ns_, static_cast<TurnPart>(most));
  }

  const TurnTimes& times() const { return times_; }

 private:
  void Count() {
    const int64_t now = clock_.NowNs();
    spent_ns_[static_cast<size_t>(part_)] += now - since_ns_;
    since_ns_ = now;
  }

  const Clock& clock_;
  TurnTimes times_;
  TurnPart part_ = TurnPart::kPages;
  int64_t begin_ns_ = 0;
  int64_t since_ns_ = 0;
  std::array<int64_t, kTurnParts> spent_ns_{};
};

}  // namespace portolan
