// Pace: when a host or an address was last asked, and what is in progress there. One small record each.
//
// REQUIRES: requests come in the order of their beginnings. Their ends are known when they come, since the oracle looks
// back at a log (or at a simulation, which knows the future).
//
// Memory: 48 bytes, and 8 for each request in progress at once.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace portolan::sim {

class Pace {
 public:
  static constexpr int64_t kNever = -1;

  // What a request means for the ones before it.
  struct Step {
    int64_t from_start_ns = kNever;  // since the last request's beginning
    int64_t from_end_ns = kNever;    // since the last end; 0 while one is in progress
    int64_t last_took_ns = 0;        // how long the request took that ended last
    uint32_t in_progress = 1;        // with this one
  };

  // A request that begins when another ends does not overlap with it.
  Step Add(int64_t start_ns, int64_t end_ns) {
    Step step;
    if (last_start_ns_ != kNever) {
      step.from_start_ns = start_ns - last_start_ns_;
      step.from_end_ns = std::max<int64_t>(start_ns - last_end_ns_, 0);
      step.last_took_ns = last_took_ns_;
    }
    std::erase_if(ends_, [&](int64_t end) { return end <= start_ns; });
    step.in_progress = static_cast<uint32_t>(ends_.size()) + 1;
    ends_.push_back(end_ns);
    if (end_ns >= last_end_ns_) {
      last_end_ns_ = end_ns;
      last_took_ns_ = end_ns - start_ns;
    }
    last_start_ns_ = start_ns;
    return step;
  }

  int64_t last_start_ns() const { return last_start_ns_; }

 private:
  int64_t last_start_ns_ = kNever;
  int64_t last_end_ns_ = kNever;
  int64_t last_took_ns_ = 0;
  std::vector<int64_t> ends_;
};

}  // namespace portolan::sim
