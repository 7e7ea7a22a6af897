// RankedCrawl: a crawl of the simulated web in virtual time, the link graph of its log, and how the domains of this
// graph are ranked: by PageRank, harmonic centrality and in-degree of the graph of domains, and by the in-degree that
// STAR counted while the crawl went on. The world knows how popular each domain really is: links to other domains are
// drawn by that, so a good ranking finds it again from the part of the web that was crawled.
//
// Compared are all ordinary domains of the graph, also those that were only linked to. Domains of farms have no true
// popularity; of them it is counted how many stand among the first hundred of each ranking.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/world/world.h"

namespace portolan::bench {

inline constexpr std::array<std::string_view, 4> kRankings = {"pagerank", "harmonic", "indegree", "star"};

struct RankedCrawlOptions {
  uint64_t pages = 20'000;
  uint32_t connections = 64;
  std::string dir;  // for the crawl and the graph; must be empty
  std::string budget_function = "ranked top=10000 least=10 most=10000";
  unsigned log2m = 12;
};

struct RankOutcome {
  std::string_view ranking;
  double spearman = 0;  // with the true popularity
  double kendall = 0;
  uint64_t farms_in_first = 0;  // domains of farms among the first 100
};

struct RankedCrawlOutcome {
  uint64_t fetched = 0;  // pages of the log
  uint64_t pages = 0;    // of the graph
  uint64_t links = 0;
  uint64_t domains = 0;         // of the graph
  uint64_t domain_links = 0;    // between them
  uint64_t compared = 0;        // ordinary ones
  std::vector<RankOutcome> of;  // in the order of kRankings
  double star_agrees = 0;       // Spearman of STAR's in-degree and the graph's
};

Result<RankedCrawlOutcome> RunRankedCrawl(const sim::World& world, const RankedCrawlOptions& options);

}  // namespace portolan::bench
