// One crawl of the served world from its start to its end, judged by the oracle and counted in its own index.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/crawl/crawl_run.h"
#include "bench/crawl/served_world.h"

namespace portolan::bench {

struct CrawlChoice {
  WorldChoice world;
  uint64_t pages = 60'000;
  double max_seconds = 300;  // a crawl that has not its pages by then is an error that says why
  uint64_t seeds = 500;
  uint64_t connections = 256;
  uint64_t host_delay_ms = 20;
  uint64_t ip_delay_ms = 2;
  double delay_factor = 1;
  bool reuse_connections = false;
  std::string memory = "1G";
  std::vector<std::string> set;  // of the crawler, key=value
  int server_core = 0;
  int client_core = 1;
};

struct JudgedCrawl {
  CrawlFigures crawl;
  IndexLines index;
  uint64_t violations = 0;
  double server_cpu_seconds = 0;
  // By the server's log, shares of the pages that were answered 2xx, …
  double https_share = 0;
  double http2_share = 0;
  double world_https_share = 0;  // … and of all that a crawl of this world could have fetched
  std::string account;           // where there are violations: the table

  double PagesPerSecond() const { return static_cast<double>(crawl.pages) / crawl.seconds; }
  double PagesPerCpuSecond() const { return static_cast<double>(crawl.pages) / crawl.cpu_seconds; }
};

// `dir` is made, and removed at the end.
Result<JudgedCrawl> CrawlAndJudge(const CrawlChoice& choice, const std::string& dir);

// Violations, and captures that are not in the index, are errors.
Status CheckJudged(const JudgedCrawl& judged);

}  // namespace portolan::bench
