// CrawlCounts: what the shard has done so far, in numbers that survive a restart. Each is counted at one place.

#pragma once

#include <array>
#include <cstdint>

#include "flow/outcome.h"

namespace portolan {

struct CrawlCounts {
  // A URL that was admitted ends as exactly one of done (by CountAs) or denied.
  std::array<uint64_t, kCountAs> done{};
  std::array<uint64_t, kFetchOutcomes> outcomes{};  // of URLs that are done
  std::array<uint64_t, 1000> statuses{};            // of answers; index 0: no status or one out of range
  uint64_t denied = 0;                              // robots.txt forbids it
  uint64_t unreachable = 0;                         // robots.txt could not be had
  uint64_t excluded = 0;                            // it was found in scope, and the scope changed since
  uint64_t fetches = 0;                             // answers and failures, robots.txt and repeats included
  uint64_t robots = 0;                              // of them robots.txt
  uint64_t retries = 0;                             // fetches that will be repeated
  uint64_t wire_bytes = 0;
  uint64_t body_bytes = 0;
  uint64_t archived = 0;      // captures written
  uint64_t links = 0;         // links found on pages, each once a page
  uint64_t out_of_scope = 0;  // of them: not ours
  uint64_t too_deep = 0;
  uint64_t nofollow = 0;
  uint64_t sitemaps_off = 0;    // sitemaps that are not wanted
  uint64_t embeds_off = 0;      // images and scripts, likewise
  uint64_t offered = 0;         // and those that went to URLseen
  uint64_t too_many_hops = 0;   // redirects not followed
  uint64_t url_too_long = 0;    // links that are not in `links`: over a limit of their own length …
  uint64_t too_many_links = 0;  // … or of their page
  uint64_t seeds = 0;
  uint64_t outages = 0;    // of the network, or of the name servers
  uint64_t shortages = 0;  // times at which there were no descriptors for another connection

  // Bodies that were cut at a limit, of size or of time.
  uint64_t bodies_cut() const {
    return outcomes[static_cast<size_t>(FetchOutcome::kBodyCut)] +
           outcomes[static_cast<size_t>(FetchOutcome::kTimeCut)] +
           outcomes[static_cast<size_t>(FetchOutcome::kSlowCut)];
  }
  // Pages: answers of class 2xx that are no robots.txt.
  uint64_t pages() const { return done[static_cast<size_t>(CountAs::kFetched)]; }
  uint64_t finished() const {
    uint64_t sum = denied + unreachable + excluded;
    for (const uint64_t count : done) sum += count;
    return sum;
  }
};

}  // namespace portolan
