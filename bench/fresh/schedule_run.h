// A crawl of ChangingPages by the crawler's own RefreshSchedule, on disk, in virtual time.
//
// Thread: one owner.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/fresh/changing_pages.h"
#include "fresh/refresh_schedule.h"

namespace portolan::bench {

enum class Lastmod : uint8_t {
  kNone,    // no sitemap is read for it
  kHonest,  // when the page changed last
  kLying,   // by host: always now; at random now; what it was at first
};

struct ScheduleRunOptions {
  std::string dir;
  double days = 60;
  double learn_days = 30;     // what is found before counts for nothing
  double visits_per_day = 0;  // sitemaps and the first visits of new pages included
  Lastmod lastmod = Lastmod::kNone;
  bool sitemaps = false;     // read for new pages
  bool checkpoints = false;  // one per simulated day, and at the 20th day the store is closed and opened again
};

struct ScheduleRunResult {
  double freshness = 0;
  double expected = 0;        // what the schedule itself expects, at the end
  double visits_per_day = 0;  // made, after the learning phase
  double sitemap_share = 0;   // of them
  double discovery_days = 0;  // median, births after the learning phase
  uint64_t born = 0;
  double threshold = 0;
  double cpu_us_per_visit = 0;  // the schedule's own, without the simulated web's
  RefreshCounts counts;
};

Result<ScheduleRunResult> RunSchedule(Env& env, ChangingPages& web, const ScheduleRunOptions& options);

// How the schedule's costs grow with the number of pages: pages that change without memory, some days.
struct ScheduleCost {
  uint64_t pages = 0;
  double add_us = 0;    // processor time per page filed
  double visit_us = 0;  // … per visit: pouring, judging, taking, reporting
  double poured_per_visit = 0;
  uint64_t memory_bytes = 0;  // resident, more than before the schedule was opened
  uint64_t disk_bytes = 0;    // of its files
  uint64_t visits = 0;
};
Result<ScheduleCost> MeasureSchedule(Env& env, const std::string& dir, uint64_t pages, double days);

}  // namespace portolan::bench
