// CrawlProgress: a picture of a running crawl, taken by the shard's thread a few times a second, for displays, status
// files and reports. Plain values: it may go to any thread.

#pragma once

#include <cstdint>
#include <string>

#include "crawl/counts.h"

namespace portolan {

struct CrawlProgress {
  std::string state = "running";  // "running", "stopping", "done", "stopped", "paused: …": disk full, no network
  double seconds = 0;             // of crawling, earlier runs included
  double session_seconds = 0;     // of this run
  CrawlCounts counts;
  CrawlCounts session_start;  // counts when this run began
  uint64_t unanswered = 0;    // links of which URLseen has not said yet whether they are new
  uint64_t urls_seen = 0;     // distinct URLs known
  uint64_t at_gate = 0;       // URLs that wait for robots.txt
  uint64_t waiting = 0;       // URLs in the frontier
  uint64_t in_flight = 0;
  uint64_t hosts = 0;  // in the frontier's memory
  uint64_t rss_bytes = 0;
  uint64_t checkpoints = 0;          // of this run
  double checkpoint_longest_ms = 0;  // for which one of them held up the crawl; those at its begin and end left out
  uint64_t max_pages = 0;            // limits, 0: none
  uint64_t max_bytes = 0;
  double max_seconds = 0;
};

// What the display computes from two pictures.
struct CrawlRates {
  double pages_per_s = 0;
  double bytes_per_s = 0;
  double fetches_per_s = 0;
  double eta_s = -1;  // until the nearest limit; -1: nobody knows
};
CrawlRates RatesBetween(const CrawlProgress& before, const CrawlProgress& after);

// One JSON object, the same keys in `status DIR --json`, the status file and the summary at the end.
std::string ProgressToJson(const CrawlProgress& progress);

}  // namespace portolan
