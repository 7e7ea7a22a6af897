// A crawl that knows many URLs, by the whole engine on a real disk: filled, crawled with checkpoints, broken off,
// opened again. Each part is a process of its own, so that what it had in memory is gone.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/benchmark.h"
#include "bench/checkpoint/small_web.h"
#include "crawl/engine.h"

namespace portolan::bench {

struct LargeCrawl {
  const SmallWeb* web = nullptr;
  EngineOptions options;
  uint64_t urls = 0;
  uint64_t hosts = 0;
};

struct FillFigures {
  uint64_t known_urls = 0;
  uint64_t hosts = 0;
  double seconds = 0;
};
// Takes a URL of each host as seeds and fetches every robots.txt; then takes the other URLs, which pass the gate at
// once, and stops when (nearly) all hosts are in the frontier.
Result<FillFigures> Fill(const LargeCrawl& crawl, Report& report);

struct StopFigures {
  double longest_ms = 0;
  uint64_t checkpoints = 0;
  uint64_t fetches = 0;
  uint64_t rss_bytes = 0;
  double seconds = 0;
};
// Crawls for so long with a checkpoint each `every_s`, then the process dies in the middle of it.
Result<StopFigures> CrawlAndDie(const LargeCrawl& crawl, double seconds, double every_s);

struct ResumeFigures {
  double open_s = 0;
  double first_fetch_s = 0;  // from the beginning of the opening to the first answer
  uint64_t known_urls = 0;   // each in one place, as the shard counts them
};
Result<ResumeFigures> Resume(const LargeCrawl& crawl);

struct WorldStopFigures {
  double ms = 0;  // for which nothing else could be done
};
// The rival: all structures written and synced one after the other by the thread that owns them, as a crawler without
// a checkpointer would. Ruins the crawl: the archive's part is left out of the manifest.
Result<WorldStopFigures> StopTheWorld(const LargeCrawl& crawl);

}  // namespace portolan::bench
