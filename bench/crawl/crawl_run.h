// One crawl of the simulated web by the whole crawler, in a process of its own on one core, and what it cost by stage.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/crawl/child.h"
#include "crawl/config.h"

namespace portolan::bench {

struct CrawlRun {
  Config config;
  std::string dir;  // made, and full afterwards
  std::vector<std::string> seeds;
  int core = 1;
};

struct CrawlFigures {
  uint64_t pages = 0;    // answers of class 2xx
  uint64_t fetches = 0;  // with robots.txt, redirects, failures
  uint64_t robots = 0;
  uint64_t archived = 0;  // captures
  uint64_t links = 0;
  uint64_t offered = 0;  // links that went to URLseen
  uint64_t urls_seen = 0;
  uint64_t body_bytes = 0;
  double seconds = 0;
  double steady_per_s = 0;  // pages per second between a tenth and nine tenths of them
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
  std::map<std::string, double> stage_seconds;  // CPU, by thread; "parse" is taken out of "fetch"
};

Result<CrawlFigures> RunCrawl(const CrawlRun& run);

// Captures in the CDXJ indexes under `dir`: all, and pages of class 2xx that are no robots.txt.
struct IndexLines {
  uint64_t all = 0;
  uint64_t pages = 0;
};
Result<IndexLines> CountIndexLines(const std::string& dir);

}  // namespace portolan::bench
