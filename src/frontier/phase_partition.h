// PhasePartition: KSpider's way to share a crawl among nodes ("A High-Performance Web Spider", thesis §3 and §4).
//
// Each URL belongs to a node by the hash of the whole URL; hosts are in groups, the phases, by the hash of their names.
// At any moment a node fetches only from the hosts of one group, and after each period all nodes go on to their next
// group, by the clock: in period t node k has group (k + t) mod phases. With at least as many phases as nodes, no two
// nodes have the same group at one moment, so a host is fetched from by one node at a time although all of them have
// URLs of it. Fewer phases than nodes are refused.
//
// A node begins no fetch in the first `gap_ns` of a period. The node before it may have hit a host a moment earlier,
// and what it learnt then (Crawl-delay, how long the answer took) is not known here. So the gap must be at least the
// longest delay that a host may ask for, and the longest fetch, and by what clocks of nodes may differ.
//
// Departure: keyed hashes instead of sums of characters, which outsiders can choose and which are close together for
// similar names (`bench phases` compares the balance). Pure: the time comes with the calls. Thread: immutable.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/hash.h"

namespace portolan {

// The clock of the phases, as one node knows it: it comes from outside, and all nodes share it. Phase time is steady
// time + offset_ns, wrong by at most error_ns. It may be used from from_ns on and before until_ns (steady time).
struct PhaseTime {
  int64_t offset_ns = 0;
  int64_t error_ns = 0;
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t until_ns = std::numeric_limits<int64_t>::max();

  bool IsGood(int64_t now_ns) const { return now_ns >= from_ns && now_ns < until_ns; }
  // There is none.
  static PhaseTime Unknown() { return {.until_ns = std::numeric_limits<int64_t>::min()}; }
  bool operator==(const PhaseTime&) const = default;
};

class PhasePartition {
 public:
  struct Options {
    uint32_t nodes = 1;
    uint32_t phases = 1;  // at least as many as nodes
    int64_t period_ns = 600'000'000'000;
    int64_t gap_ns = 0;  // less than period_ns
  };

  explicit PhasePartition(const Options& options) : options_(options) {
    CHECK(options.nodes >= 1 && options.phases >= options.nodes && options.gap_ns >= 0 &&
          options.gap_ns < options.period_ns);
  }

  // `url` and `host` are keyed hashes; they are mixed once more, as others use their bits, too.
  uint32_t NodeOf(uint64_t url) const { return static_cast<uint32_t>(Mix64(url) % options_.nodes); }
  uint32_t GroupOf(uint64_t host) const { return static_cast<uint32_t>(Mix64(host ^ kHosts) % options_.phases); }

  // When the node may fetch from hosts of that group: at that time (of the phases' clock), or the first one after it.
  int64_t NextTurn(uint32_t node, uint32_t group, int64_t phase_ns) const {
    const uint64_t period = PeriodOf(phase_ns);
    const uint64_t ahead = (group + options_.phases - GroupInPeriod(node, period)) % options_.phases;
    const int64_t begin_ns = static_cast<int64_t>(period + ahead) * options_.period_ns + options_.gap_ns;
    return ahead == 0 ? std::max(phase_ns, begin_ns) : begin_ns;
  }
  // The group of a node at that time. Between two periods there is none.
  std::optional<uint32_t> ActiveGroup(uint32_t node, int64_t phase_ns) const {
    if (PlaceInPeriod(phase_ns) < options_.gap_ns) return std::nullopt;
    return GroupInPeriod(node, PeriodOf(phase_ns));
  }
  uint32_t GroupInPeriod(uint32_t node, uint64_t period) const {
    return static_cast<uint32_t>((node + period) % options_.phases);
  }
  uint64_t PeriodOf(int64_t phase_ns) const { return static_cast<uint64_t>(phase_ns / options_.period_ns); }
  // When the period of that time ends.
  int64_t NextSwap(int64_t phase_ns) const { return phase_ns - PlaceInPeriod(phase_ns) + options_.period_ns; }

  const Options& options() const { return options_; }

 private:
  static constexpr uint64_t kHosts = 0x9e3779b97f4a7c15;  // so that a host's group says nothing of a node

  int64_t PlaceInPeriod(int64_t phase_ns) const { return phase_ns % options_.period_ns; }

  Options options_;
};

}  // namespace portolan
