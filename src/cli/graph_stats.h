// What `portolan graph stats` says of one level of a graph: measured by graph_stats.cc, printed by graph_stats_text.cc.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "follow/graph_files.h"
#include "graph/degree_stats.h"
#include "graph/hyper_ball.h"

namespace portolan {

struct GraphStatsTop {
  uint64_t node = 0;
  uint64_t degree = 0;
  std::string name;  // without names: the number
};

// Links in one direction.
struct GraphStatsSide {
  graph::DegreeStats degrees;
  uint64_t bytes = 0;  // of the compressed lists, without the offsets
  uint64_t median = 0;
  uint64_t p90 = 0;
  uint64_t p99 = 0;
  std::vector<GraphStatsTop> top;  // the highest degrees first
};

struct GraphStatsParts {
  uint64_t core = 0;
  uint64_t in = 0;
  uint64_t out = 0;
  uint64_t tendrils = 0;
  uint64_t disconnected = 0;
  uint64_t components = 0;  // strongly connected ones
  uint64_t second = 0;      // nodes of the second largest; 0: there is only one
};

struct GraphStatsDistances {
  graph::DistanceStats stats;
  unsigned log2m = 0;
  double error = 0;  // relative standard deviation of the counters
  bool complete = false;
};

struct GraphStats {
  std::string dir;
  uint64_t generation = 0;
  GraphLevel level = GraphLevel::kPages;
  bool named = true;
  std::optional<uint64_t> fetched;  // pages of a crawl
  GraphStatsSide out;
  GraphStatsSide in;
  uint64_t offset_bytes = 0;  // both directions', on disk
  std::optional<GraphStatsParts> parts;
  std::optional<GraphStatsDistances> distances;
  uint64_t memory = 0;  // the most that was allocated at one time
  double seconds = 0;
};

// Multi-line, at most 100 columns but for names.
std::string GraphStatsText(const GraphStats& stats);
// One line.
std::string GraphStatsJson(const GraphStats& stats);

}  // namespace portolan
