// PhasePlan: what the settings of a crawl that is divided by phases mean in time (frontier/phase_partition.h).
//
//   the longest fetch begins just before a swap     fetch.total_timeout, then politeness.max_delay until the next hit
//   clocks of two nodes differ                       by four times the error that each may have (cluster/phase_clock.h)
//
// Together they are the least gap. What a longer one has in addition is left to the clocks.

#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "crawl/config.h"
#include "frontier/phase_partition.h"

namespace portolan {

inline constexpr uint64_t kMostPhases = 4096;

inline std::string TooFewPhases(uint64_t phases, uint64_t shards) {
  return fmt::format(
      "crawl.phases: {} are too few for {} shards, of which two would fetch from one host: at least as "
      "many, or 0",
      phases, shards);
}

struct PhasePlan {
  static constexpr int64_t kClockErrors = 4;                  // of one node's clock, in the gap
  static constexpr int64_t kLeastClockErrorNs = 100'000'000;  // a node on a slow line has no better clock
  static constexpr int64_t kUsualClockErrorNs = 1'000'000'000;
  static constexpr int64_t kLongestTrustNs = 30'000'000'000;

  PhasePartition::Options partition;
  int64_t settle_ns = 0;       // the longest fetch, and the longest delay after it
  int64_t least_gap_ns = 0;    // that the other settings allow
  int64_t clock_error_ns = 0;  // with which a node's clock may be wrong
  int64_t trust_ns = 0;        // how long an answer about the time is used

  static PhasePlan Of(const Config& config) {
    PhasePlan plan;
    plan.settle_ns = config.fetch.total_timeout.count() + config.politeness.max_delay.count();
    plan.least_gap_ns = plan.settle_ns + kClockErrors * kLeastClockErrorNs;
    plan.partition.phases = static_cast<uint32_t>(config.crawl.phases);
    plan.partition.period_ns = config.crawl.phase_period.count();
    const int64_t asked_ns = config.crawl.phase_gap.count();
    plan.partition.gap_ns = asked_ns > 0 ? asked_ns : plan.settle_ns + kClockErrors * kUsualClockErrorNs;
    plan.clock_error_ns = (plan.partition.gap_ns - plan.settle_ns) / kClockErrors;
    plan.trust_ns = std::min(kLongestTrustNs, plan.partition.period_ns);
    return plan;
  }
};

}  // namespace portolan
