// CrawlProgress: a picture of a running crawl, taken a few times per second, for displays, status files and reports.
// Plain values: it may be passed to any thread.

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/counts.h"
#include "crawl/host_tally.h"
#include "crawl/trap_park.h"
#include "crawl/trouble.h"
#include "crawl/turn_times.h"
#include "fresh/refresh_schedule.h"

namespace portolan {

// Links or bodies that are missing in the archive because of a limit. URLs that are out of scope are not counted here.
struct LeftOut {
  uint64_t count = 0;
  std::string what;     // follows the count: "links deeper than 100"
  std::string setting;  // "crawl.max_depth"
};

// Of a crawl that is divided by phases (docs/shards.md).
struct PhaseState {
  uint32_t number = 0;          // 0: divided by domains
  bool clock_good = true;       // false: nothing is fetched
  std::vector<int64_t> groups;  // that are fetched from now, by shard here; -1: none, between two turns
  double next_s = 0;            // until that changes
  double error_ms = 0;          // of the phases' clock
};

struct CrawlProgress {
  std::string state = "running";  // "running", "stopping", "done", "stopped", "paused: …": disk full, no network
  double seconds = 0;             // of crawling, including earlier runs
  double session_seconds = 0;     // of this run
  CrawlCounts counts;
  CrawlCounts session_start;  // counts when this run began
  uint64_t unanswered = 0;    // links for which URLseen has not yet said whether they are new
  uint64_t urls_seen = 0;     // distinct URLs known
  uint64_t at_gate = 0;       // URLs that wait for robots.txt
  uint64_t waiting = 0;       // URLs in the frontier
  uint64_t in_flight = 0;
  uint64_t parked = 0;                   // URLs whose form gives nothing new (docs/traps.md)
  std::vector<ParkedForm> parked_forms;  // of this run, the few with the most URLs
  bool continuous = false;               // pages are visited again; the next five are 0 otherwise
  uint64_t scheduled = 0;                // pages that wait for their next visit
  uint64_t visiting = 0;                 // of waiting, at_gate and in_flight: pages that are visited again
  uint64_t due = 0;                      // of scheduled
  double visits_per_day = 0;             // that may be made
  RefreshCounts refresh;                 // what visits found, since the crawl began
  uint64_t hosts = 0;                    // in the frontier's memory
  uint32_t shards = 1;
  PhaseState phases;
  uint64_t rss_bytes = 0;
  uint64_t checkpoints = 0;          // of this run
  double checkpoint_longest_ms = 0;  // the longest time for which one held up the crawl, except at its begin and end
  uint64_t turns = 0;           // of the shards' threads in this run; one turn handles everything that came at once
  double turn_p50_us = 0;       // half of the turns took no longer
  double turn_p99_us = 0;       // 99 of 100 turns took no longer
  double turn_max_ms = 0;       // the longest turn
  std::string longest_turn_in;  // "pages" …: the part that took most of the longest (TurnPart); empty: no turn
  std::vector<TurnTimes::Step> turn_histogram;
  uint64_t rules_reads = 0;           // in this run: reads of rules from disk by a shard's thread
  uint64_t rules_reads_at_fetch = 0;  // of them: when a URL's turn had come
  uint64_t hosts_crawled = 0;         // hosts that answered in this run
  bool hosts_counted = true;          // false: there are more
  std::vector<HostShare> top_hosts;   // of this run, the few with the most answers
  std::string slowest_host;           // whose waiting URLs will take longest; empty: none waits
  uint64_t slowest_waiting = 0;
  double slowest_gap_s = 0;                    // the delay between two of its URLs
  std::vector<FlyingUrl> flying;               // a few of those in flight
  std::vector<AwaitedUrl> awaited;             // URLs that failed and are tried again later: the next few
  std::vector<HostTrouble> unreachable_hosts;  // given up in this run, the first few
  std::vector<LeftOut> left_out;
  uint64_t block_names = 0;        // on the block lists that are in force
  std::string block_list_trouble;  // why the lists as they are now are not in force; empty: they are
  uint64_t limits_forgotten = 0;   // counts of pages for limits that were dropped for lack of memory, in this run
  uint64_t max_pages = 0;          // limits, 0: none
  uint64_t goal_pages = 0;         // max_pages if the user set it; 0: max_pages is only a safety limit
  uint64_t max_bytes = 0;
  double max_seconds = 0;
};

// What limits have left out so far. `limits` are the values of the settings, 0 for none.
struct LeftOutLimits {
  uint64_t max_depth = 0;
  uint64_t max_redirects = 0;
  uint64_t max_url_length = 0;
  uint64_t max_links = 0;
  uint64_t max_body = 0;
};
// "example.org /calendar/#/#/: 120 URLs, 1 of its last 40 fetches brought something new"
std::string ParkedWords(const ParkedForm& form);
std::vector<LeftOut> LeftOutOf(const CrawlCounts& counts, const LeftOutLimits& limits);
// "365 links deeper than 100 (crawl.max_depth)"
std::string LeftOutWords(const LeftOut& left_out);
// "http://h/x (500, attempt 2 of 3) until 12:01:30", in UTC.
std::string AwaitedWords(const AwaitedUrl& awaited);
// "1 page", "2 pages", "3 URLs": the count, and the noun in singular or plural.
std::string Counted(uint64_t count, std::string_view noun);

// What the display computes from two pictures.
struct CrawlRates {
  double pages_per_s = 0;
  double bytes_per_s = 0;
  double fetches_per_s = 0;
  double eta_s = -1;  // until the nearest limit; -1: unknown
};
CrawlRates RatesBetween(const CrawlProgress& before, const CrawlProgress& after);

nlohmann::ordered_json PhasesToJson(const PhaseState& phases);  // null: divided by domains

// One JSON object with the same keys for `status DIR --json`, the status file and the summary at the end.
std::string ProgressToJson(const CrawlProgress& progress);

}  // namespace portolan
