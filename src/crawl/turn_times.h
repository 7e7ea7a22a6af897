// TurnTimes: a histogram of how long something took, for people: most of the shard's turns are microseconds, and the
// few that met a disk are what matters.
//
// Buckets are eighths of a factor of two, so a quantile is right within 9 %. Thread: one owner. Memory: 4 KiB.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace portolan {

class TurnTimes {
 public:
  void Add(int64_t ns) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
    ++buckets_[BucketOf(value)];
    ++count_;
    longest_ns_ = std::max(longest_ns_, value);
  }

  uint64_t count() const { return count_; }
  uint64_t longest() const { return longest_ns_; }  // ns
  // So many ns or less took this part of them, 0 < part <= 1; 0 when there is none.
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
  static constexpr size_t kParts = 8;
  // The first kParts values have a bucket each; from there kParts buckets for each power of two.
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
  uint64_t count_ = 0;
  uint64_t longest_ns_ = 0;
};

}  // namespace portolan
