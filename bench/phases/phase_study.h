// What it costs to divide a crawl among nodes by phases (frontier/phase_partition.h, KSpider's way) or by domains
// (crawl/partition.h), on a web whose pages are all known from the start.
//
// Each node fetches at most so many pages per second, each host is left alone for a delay after each page, and of the
// hosts that it may fetch from a node prefers those with the most pages left: the best that a scheduler could do. Time
// is computed period by period; within one it is not simulated.

#pragma once

#include <cstdint>

#include "base/result.h"
#include "bench/phases/study_web.h"
#include "frontier/phase_partition.h"

namespace portolan::bench {

struct StudySpeed {
  double pages_per_s = 10;  // of each node
  double host_delay_s = 1;  // 0: hosts take any number of pages
};

// The largest share over the mean one: 1 is even.
struct Balances {
  double hashed = 0;  // by our hashes
  double sums = 0;    // by KSpider's sums of characters
};
Balances PagesOverNodes(const StudyWeb& web, uint32_t nodes);
Balances PagesOverPhases(const StudyWeb& web, uint32_t phases);

struct DivisionCost {
  double node_balance = 0;      // pages: largest node over mean
  double crossing = 0;          // share of all links that lead to another node
  double hosts_known = 0;       // mean share of all hosts of which a node has URLs, so whose robots.txt it needs
  double hosts_active = 0;      // likewise, from which it may fetch at one moment
  double addresses_active = 0;  // likewise of all addresses
  double addresses_shared = 0;  // of the addresses in use at one moment, those that several nodes use
  double time_s = 0;            // until the last page is fetched
  double efficiency = 0;        // the least time with these speeds, over time_s
};

DivisionCost CostOfDomains(const StudyWeb& web, uint32_t nodes, const StudySpeed& speed);
// An error if ever a group has two nodes, or a page is not fetched exactly once.
Result<DivisionCost> CostOfPhases(const StudyWeb& web, const PhasePartition& partition, const StudySpeed& speed);

}  // namespace portolan::bench
