// CrawlProgress: a picture of a running crawl, taken by the shard's thread a few times a second, for displays, status
// files and reports. Plain values: it may go to any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/counts.h"
#include "crawl/host_tally.h"
#include "crawl/trouble.h"

namespace portolan {

// Links or bodies that a limit kept from the archive. What is out of scope is not one of these: that is what a scope is
// for.
struct LeftOut {
  uint64_t count = 0;
  std::string what;     // after the count: "links deeper than 100"
  std::string setting;  // "crawl.max_depth"
};

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
  uint64_t turns = 0;                // of the shard's thread in this run: all that is done for what came at once
  double turn_p50_us = 0;            // half of them took no longer, …
  double turn_p99_us = 0;            // … 99 of 100 …
  double turn_max_ms = 0;            // … and all
  uint64_t hosts_crawled = 0;        // that answered in this run
  bool hosts_counted = true;         // false: they are more
  std::vector<HostShare> top_hosts;  // of this run, the few with most answers
  std::string slowest_host;          // whose waiting URLs will take longest; empty: none waits
  uint64_t slowest_waiting = 0;
  double slowest_gap_s = 0;                    // it is left alone for so long between two of them
  std::vector<FlyingUrl> flying;               // a few of those in flight
  std::vector<AwaitedUrl> awaited;             // what is tried again later because it failed: the next few
  std::vector<HostTrouble> unreachable_hosts;  // given up in this run, the first of them
  std::vector<LeftOut> left_out;
  uint64_t max_pages = 0;   // limits, 0: none
  uint64_t goal_pages = 0;  // max_pages, where somebody asked for it; 0: that is a safety belt, not a goal
  uint64_t max_bytes = 0;
  double max_seconds = 0;
};

// What limits left out so far. `limits` are the settings' values, 0 for none.
struct LeftOutLimits {
  uint64_t max_depth = 0;
  uint64_t max_redirects = 0;
  uint64_t max_url_length = 0;
  uint64_t max_links = 0;
  uint64_t max_body = 0;
};
std::vector<LeftOut> LeftOutOf(const CrawlCounts& counts, const LeftOutLimits& limits);
// "365 links deeper than 100 (crawl.max_depth)"
std::string LeftOutWords(const LeftOut& left_out);
// "http://h/x (500, attempt 2 of 3) until 12:01:30", by the clock of UTC.
std::string AwaitedWords(const AwaitedUrl& awaited);
// "1 page", "2 pages", "3 URLs". `count` as it is, with the noun in its number.
std::string Counted(uint64_t count, std::string_view noun);

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
