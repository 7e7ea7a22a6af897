// VouchLimits: how many other domains may a pay-level domain vouch for?
//
// STAR counts links from domains because domains cost money. But n bought domains that all link to each other give each
// of them an in-degree of n - 1: the effect is the square of the price. So a link raises its target's in-degree only
// while its source domain has vouched for fewer others than its allowance,
//
//   allowance = base + in_degree × percent / 100
//
// of its own in-degree at that moment. A domain for which many vouch may vouch for many. In a group without links from
// outside, in-degrees come from within: their sum S is at most n × base + S × percent / 100, so their mean is at most
// base / (1 - percent / 100), however many domains and pages the group has. That needs percent < 100. Links beyond the
// allowance are then known and never count; links that are found later, with a larger allowance, do.
//
// This is our addition; the thesis has no such limit.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "reputation/domain_record.h"

namespace portolan {

struct VouchLimits {
  static constexpr uint32_t kMaxPercent = 90;

  uint32_t base = 0;     // 0: every domain may vouch for any number
  uint32_t percent = 0;  // at most kMaxPercent

  bool unlimited() const { return base == 0; }
  // Stops at the largest number of 32 bits.
  uint32_t Allowance(uint32_t in_degree) const {
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    if (unlimited()) return kMost;
    return static_cast<uint32_t>(std::min(kMost, base + uint64_t{in_degree} * percent / 100));
  }
  // True if one more edge counts, from a source with this record before the edge.
  bool Counts(const DomainRecord& source) const { return unlimited() || source.vouched < Allowance(source.in_degree); }
};

}  // namespace portolan
