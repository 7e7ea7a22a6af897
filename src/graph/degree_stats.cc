#include "graph/degree_stats.h"

#include <algorithm>
#include <map>

namespace portolan::graph {
namespace {

constexpr uint64_t kSmallDegree = 1024;  // counted in an array, without a search

}  // namespace

Result<DegreeStats> MeasureDegrees(const BvGraph& graph) {
  DegreeStats stats;
  std::vector<uint64_t> small(kSmallDegree);
  std::map<uint64_t, uint64_t> large;
  GraphScan scan = graph.Scan();
  while (scan.Next()) {
    const auto successors = scan.successors();
    const uint64_t degree = successors.size();
    const auto node = static_cast<NodeId>(scan.node());
    ++stats.nodes;
    stats.arcs += degree;
    ++(degree < kSmallDegree ? small[degree] : large[degree]);
    stats.loops += std::binary_search(successors.begin(), successors.end(), node);
    if (degree <= stats.max) continue;
    stats.max = degree;
    stats.max_node = node;
  }
  RETURN_IF_ERROR(scan.status());
  for (uint64_t degree = 0; degree < kSmallDegree; ++degree) {
    if (small[degree] > 0) stats.counts.emplace_back(degree, small[degree]);
  }
  stats.counts.insert(stats.counts.end(), large.begin(), large.end());
  stats.zero = small[0];
  if (stats.nodes > 0) stats.mean = static_cast<double>(stats.arcs) / static_cast<double>(stats.nodes);
  stats.fit = FitPowerLaw(stats.counts);
  return stats;
}

}  // namespace portolan::graph
