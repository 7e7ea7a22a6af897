// The crawl that the benchmark runs through budgeted queues: V domains with the same budget B, and pages of which each
// gives L URLs never seen before, over all domains alike.
//
// The ledger of budgets is in RAM, so that only the queues use the disk: `used` says how many URLs of a domain are
// queued; each tick takes B of it away; a URL's place is used / B.
//
// It checks what it sees: each URL comes out once, and no queue has more of a domain than its budget.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/budget/budgeted_queues.h"
#include "io/rng.h"

namespace portolan::bench {

struct SyntheticOptions {
  uint32_t domains = 40;  // V
  uint32_t budget = 10;   // E[B]
  double links = 6.5;     // L
  uint64_t seed = 1;

  uint64_t queue() const { return uint64_t{domains} * budget; }
};

// The traffic when so many pages were crawled.
struct TrafficSample {
  uint64_t pages = 0;
  uint32_t tick = 0;
  QueueTraffic traffic;
};

class SyntheticCrawl {
 public:
  SyntheticCrawl(BudgetedQueues& queues, const SyntheticOptions& options);

  // Crawls up to `pages` pages, all that there are at most.
  Status Run(uint64_t pages);
  // From here on pages have no links, so that Run ends.
  void StopLinks() { links_stopped_ = true; }
  // kCorrupt unless every URL was crawled once or waits.
  Status Check() const;

  uint64_t pages() const { return pages_; }
  uint64_t urls() const { return next_id_; }
  double mean_url_bytes() const { return static_cast<double>(url_bytes_) / static_cast<double>(next_id_); }
  // One each eighth of a queue, and one each tick.
  const std::vector<TrafficSample>& samples() const { return samples_; }

 private:
  struct Domain {
    uint64_t used = 0;
    uint32_t tick = 0;
    uint32_t crawl_tick = 0;  // the queue in which `crawled` were
    uint32_t crawled = 0;
  };

  Status Found();
  Status Judge(std::string_view record, bool fresh);
  Status Crawl(std::string_view record);
  Status Rescan();
  void Sample() { samples_.push_back({pages_, queues_.tick(), queues_.traffic()}); }

  BudgetedQueues& queues_;
  const SyntheticOptions options_;
  Rng rng_;
  std::vector<Domain> domains_;
  std::vector<bool> crawled_;  // by URL
  uint64_t next_id_ = 0;
  uint64_t url_bytes_ = 0;
  uint64_t pages_ = 0;
  double links_owed_ = 0;
  bool links_stopped_ = false;
  uint32_t sampled_tick_ = 0;
  std::vector<TrafficSample> samples_;
  std::string scratch_;
};

}  // namespace portolan::bench
