// What a crawl believes about the freshness of its copies, from its last checkpoint and for a moment: for 'portolan
// fresh' and 'portolan why'.
//
// Thread: one caller. Memory bound: the schedule's tables (one shard's at a time), and about 150 bytes for each of
// kMostDomains names; domains beyond are added up as one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/refresh_options.h"
#include "disk/manifest.h"
#include "fresh/schedule_reader.h"
#include "io/env.h"

namespace portolan {

// Sums over pages that were fetched at least once.
struct FreshSums {
  uint64_t pages = 0;
  uint64_t never_had = 0;  // failed so far; not in `pages`
  uint64_t due = 0;        // of both: now, those under way included
  uint64_t under_way = 0;  // of due
  uint64_t gone = 0;       // their last answer said so, and they are asked again
  double fresh = 0;        // sum of the probabilities that a copy is as its page is
  double age_days = 0;     // sum of the expected times for which it has not been
  double importance = 0;
  double fresh_importance = 0;
  double changes_per_day = 0;  // sum
  double links_per_day = 0;
  int64_t next_due_unix_ns = 0;  // of those that are not due; 0: none

  FreshSums& operator+=(const FreshSums& other);
};

struct FreshDomain {
  std::string name;
  FreshSums sums;
};

struct FreshLook {
  int64_t checkpoint_unix_ns = 0;
  FreshSums all;
  std::vector<FreshDomain> domains;  // those with the most pages first
  uint64_t more_domains = 0;         // that are not listed
  double visits_per_day = 0;         // that may be made
  double price_hours = 0;            // of a visit: hours for which a page of importance 1 must be up to date longer
  uint64_t changed = 0;              // visits so far
  uint64_t same = 0;
  uint64_t failed = 0;
  uint64_t ended = 0;
};

// kNotFound: there is no schedule. `whole` is the crawl's, all shards together.
Result<FreshLook> LookAtFreshness(Env& env, const Manifest& manifest, const ShardRefresh& whole, int64_t unix_ns,
                                  size_t domains);
inline constexpr size_t kMostDomains = 100'000;

// Adds what was seen of another shard, whose directory is its own, to what was seen of `shards`: sums, the mean price,
// the oldest checkpoint, the `domains` with the most pages.
void AddLook(FreshLook& look, size_t shards, FreshLook other, size_t domains);

// One page of the schedule.
struct PageSchedule {
  ScheduledAt at = ScheduledAt::kCalendar;
  RefreshSchedule::Outlook outlook;
  uint32_t visits = 0;  // that said whether it had changed
  uint32_t changes = 0;
  uint32_t strikes = 0;  // visits in a row that found nothing
  bool gone = false;
  bool hub = false;
  double importance = 0;
  bool validators = false;  // its next visit is a conditional request
};
// nullopt: it is not in the schedule of that shard.
Result<std::optional<PageSchedule>> FindScheduled(Env& env, const Manifest& manifest, const ShardRefresh& whole,
                                                  uint32_t shards, uint32_t shard, std::string_view url,
                                                  int64_t unix_ns);

}  // namespace portolan
