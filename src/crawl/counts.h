// CrawlCounts: what the shard has done so far. The numbers survive a restart, and each is counted in one place.

#pragma once

#include <array>
#include <cstdint>

#include "flow/outcome.h"

namespace portolan {

struct CrawlCounts {
  // A URL that was admitted ends in exactly one of: done (by CountAs), denied, unreachable, excluded, mirrored,
  // renamed. A URL that is visited again has ended at its first visit: these six, outcomes and statuses do not count it
  // once more.
  std::array<uint64_t, kCountAs> done{};
  std::array<uint64_t, kFetchOutcomes> outcomes{};  // of URLs that are done
  std::array<uint64_t, 1000> statuses{};            // of answers; index 0: no status or one out of range
  uint64_t denied = 0;                              // robots.txt forbids it
  uint64_t unreachable = 0;                         // robots.txt could not be fetched
  uint64_t excluded = 0;  // scope, rules, block lists or limits have changed since it was found
  uint64_t mirrored = 0;  // its host repeats another one, whose page is fetched instead
  uint64_t renamed = 0;   // has a parameter that never changes the page: the URL without it was offered instead
  uint64_t fetches = 0;   // answers and failures, robots.txt and repeats included
  uint64_t robots = 0;    // of them: robots.txt
  uint64_t retries = 0;   // fetches that will be repeated
  uint64_t wire_bytes = 0;
  uint64_t body_bytes = 0;
  uint64_t archived = 0;      // captures written
  uint64_t links = 0;         // links found on pages, each counted once per page
  uint64_t out_of_scope = 0;  // of them: not in scope; likewise in the next four lines, for other reasons
  uint64_t too_deep = 0;
  uint64_t nofollow = 0;
  uint64_t sitemaps_off = 0;     // sitemaps, and the settings do not want them
  uint64_t embeds_off = 0;       // images and scripts, likewise
  uint64_t offered = 0;          // of them: offered to URLseen
  uint64_t too_many_hops = 0;    // redirects not followed
  uint64_t url_too_long = 0;     // not in `links`: the URL was over the limit of length
  uint64_t too_many_links = 0;   // not in `links`: the page had too many
  uint64_t by_rule = 0;          // links not followed, and URLs that ended, because a rule excludes them
  uint64_t blocked = 0;          // the same for block lists
  uint64_t over_limit = 0;       // and for the page limits of rules
  uint64_t dropped = 0;          // answers that a rule excludes by size or type: not kept, links not followed
  uint64_t copied_links = 0;     // of `links`: not followed, because they are on a copy of a page
  uint64_t duplicates = 0;       // answers whose payload was captured before
  uint64_t near_duplicates = 0;  // pages whose text is nearly that of another one, as far as it was looked for
  uint64_t late_duplicates = 0;  // that were found to be so only after they were archived
  uint64_t revisits = 0;         // fetches of a URL that was fetched before; retries are none
  uint64_t conditional = 0;      // of them: answers to conditional requests; a 304 among them is in `done`
  uint64_t not_modified = 0;     // of revisits: the server said that the page is as it was (304)
  uint64_t unchanged = 0;        // of revisits: the same payload came again
  uint64_t gone = 0;             // of revisits: 404 or 410
  uint64_t seeds = 0;
  uint64_t outages = 0;    // of the network, or of the name servers
  uint64_t held = 0;       // URLs parked because their form gives nothing new; one that is parked again counts again
  uint64_t shortened = 0;  // links from which a parameter that never changes the page was left out
  uint64_t shortages = 0;  // how often there was no descriptor for another connection

  // Adds the counts of another shard.
  CrawlCounts& operator+=(const CrawlCounts& other) {
    const auto add = [](auto& mine, const auto& theirs) {
      for (size_t i = 0; i < mine.size(); ++i) mine[i] += theirs[i];
    };
    add(done, other.done);
    add(outcomes, other.outcomes);
    add(statuses, other.statuses);
    for (uint64_t CrawlCounts::* const count : kSingle) this->*count += other.*count;
    return *this;
  }

  // Bodies that were cut at a limit of size or time.
  uint64_t bodies_cut() const {
    return outcomes[static_cast<size_t>(FetchOutcome::kBodyCut)] +
           outcomes[static_cast<size_t>(FetchOutcome::kTimeCut)] +
           outcomes[static_cast<size_t>(FetchOutcome::kSlowCut)];
  }
  // Pages: answers of class 2xx, without robots.txt.
  uint64_t pages() const { return done[static_cast<size_t>(CountAs::kFetched)]; }
  uint64_t finished() const {
    uint64_t sum = denied + unreachable + excluded + mirrored + renamed;
    for (const uint64_t count : done) sum += count;
    return sum;
  }

  static const std::array<uint64_t CrawlCounts::*, 39> kSingle;  // all counts that are single numbers
};

inline constexpr std::array<uint64_t CrawlCounts::*, 39> CrawlCounts::kSingle = {
    &CrawlCounts::denied,          &CrawlCounts::unreachable,   &CrawlCounts::excluded,
    &CrawlCounts::fetches,         &CrawlCounts::robots,        &CrawlCounts::retries,
    &CrawlCounts::wire_bytes,      &CrawlCounts::body_bytes,    &CrawlCounts::archived,
    &CrawlCounts::links,           &CrawlCounts::out_of_scope,  &CrawlCounts::too_deep,
    &CrawlCounts::nofollow,        &CrawlCounts::sitemaps_off,  &CrawlCounts::embeds_off,
    &CrawlCounts::offered,         &CrawlCounts::too_many_hops, &CrawlCounts::url_too_long,
    &CrawlCounts::too_many_links,  &CrawlCounts::seeds,         &CrawlCounts::outages,
    &CrawlCounts::shortages,       &CrawlCounts::by_rule,       &CrawlCounts::blocked,
    &CrawlCounts::over_limit,      &CrawlCounts::dropped,       &CrawlCounts::mirrored,
    &CrawlCounts::copied_links,    &CrawlCounts::duplicates,    &CrawlCounts::late_duplicates,
    &CrawlCounts::renamed,         &CrawlCounts::held,          &CrawlCounts::shortened,
    &CrawlCounts::near_duplicates, &CrawlCounts::revisits,      &CrawlCounts::conditional,
    &CrawlCounts::unchanged,       &CrawlCounts::gone,          &CrawlCounts::not_modified};
// A count that is missing in the list would be lost when shards are added up.
static_assert(sizeof(CrawlCounts) == sizeof(CrawlCounts::done) + sizeof(CrawlCounts::outcomes) +
                                         sizeof(CrawlCounts::statuses) +
                                         CrawlCounts::kSingle.size() * sizeof(uint64_t));

}  // namespace portolan
