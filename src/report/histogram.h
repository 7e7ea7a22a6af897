// Distributions for a report, in bounded memory: PowerSteps by powers of two, TimeLine by steps of time.
//
// Thread: one owner. Memory bound: 65 counts; kMostBins bins.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>

namespace portolan {

// Step 0 has the zeros, step n the values from 2^(n-1) to 2^n - 1.
class PowerSteps {
 public:
  void Add(uint64_t value) {
    ++counts_[static_cast<size_t>(std::bit_width(value))];
    ++count_;
    sum_ += static_cast<double>(value);
  }

  uint64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  uint64_t operator[](size_t step) const { return counts_[step]; }
  // The first and the last step that have a count; last < first where there is none.
  size_t first() const {
    return static_cast<size_t>(std::find_if(counts_.begin(), counts_.end(), [](uint64_t n) { return n > 0; }) -
                               counts_.begin());
  }
  size_t last() const {
    size_t step = counts_.size();
    while (step > 0 && counts_[step - 1] == 0) --step;
    return step == 0 ? 0 : step - 1;
  }
  static uint64_t Least(size_t step) { return step == 0 ? 0 : uint64_t{1} << (step - 1); }
  static uint64_t Most(size_t step) { return step == 0 ? 0 : step == 64 ? ~uint64_t{0} : (uint64_t{1} << step) - 1; }

 private:
  std::array<uint64_t, 65> counts_{};
  uint64_t count_ = 0;
  double sum_ = 0;
};

// What happened per step of time. Steps are a second first, and are doubled when there are more than kMostBins with
// anything in them: so neither a long crawl nor a clock that jumps takes more memory.
class TimeLine {
 public:
  static constexpr size_t kMostBins = 240;
  struct Bin {
    uint64_t pages = 0;
    uint64_t bytes = 0;
  };

  void Add(int64_t unix_s, uint64_t pages, uint64_t bytes) {
    Bin& bin = bins_[Floor(unix_s)];
    bin.pages += pages;
    bin.bytes += bytes;
    while (bins_.size() > kMostBins) Double();
  }

  uint64_t step_s() const { return step_; }
  const std::map<int64_t, Bin>& bins() const { return bins_; }  // by the beginning of the step

 private:
  int64_t Floor(int64_t time) const {
    const auto step = static_cast<int64_t>(step_);
    return (time / step - (time % step < 0 ? 1 : 0)) * step;
  }
  void Double() {
    step_ *= 2;
    std::map<int64_t, Bin> wider;
    for (const auto& [time, bin] : bins_) {
      Bin& into = wider[Floor(time)];
      into.pages += bin.pages;
      into.bytes += bin.bytes;
    }
    bins_ = std::move(wider);
  }

  uint64_t step_ = 1;
  std::map<int64_t, Bin> bins_;
};

}  // namespace portolan
