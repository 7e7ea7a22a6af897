// What a crawl says at its end: how it went, where things are, and, where not one page was fetched, why each seed
// failed.
//
// Thread: one. Time: where there is no page, some searches of the crawl's log; it is short then.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crawl/config.h"
#include "crawl/progress.h"

namespace portolan {

// Of a crawl without a page.
struct SeedFailures {
  static constexpr size_t kMost = 10;  // that are looked up

  struct One {
    std::string url;
    std::string why;
  };
  std::vector<One> first;
  uint64_t more = 0;  // seeds beyond those
};

// What the log in `dir` says of the seeds; redirects are followed as the crawl did.
// `seeds` are all of them, or of a list in the state some; `count` is how many there are.
SeedFailures WhySeedsFailed(const std::string& dir, const Config& config, const std::vector<std::string>& seeds,
                            uint64_t count);

struct CrawlSummary {
  std::string dir;
  CrawlProgress progress;
  std::string limit;  // that ended it; empty: none
  SeedFailures failures;
};

void PrintSummary(const CrawlSummary& summary, const Config& config, bool json);

}  // namespace portolan
