// The distribution of a graph's degrees, with the power law that fits it best (graph/power_law.h).
//
// Give it the graph for outdegrees, and its transpose for indegrees: both are the lengths of lists. The nodes of degree
// 0 are the dangling ones (no links out) or those that nothing links to.
//
// Thread: a pure function. Memory bound: 24 bytes per different degree, and a GraphScan. d different degrees need at
// least d^2 / 2 arcs, so a graph of 10^10 arcs has at most 141,000 of them: 3.4 MB.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/bv_graph.h"
#include "graph/power_law.h"

namespace portolan::graph {

struct DegreeStats {
  uint64_t nodes = 0;
  uint64_t arcs = 0;
  uint64_t zero = 0;                                  // nodes of degree 0
  uint64_t max = 0;                                   // degree
  NodeId max_node = 0;                                // the first node that has it; 0 if there are no nodes
  double mean = 0;                                    // arcs / nodes; 0 if there are no nodes
  uint64_t loops = 0;                                 // arcs from a node to itself
  std::vector<std::pair<uint64_t, uint64_t>> counts;  // each degree that occurs, increasing, and its nodes
  std::optional<PowerLawFit> fit;                     // of the degrees above 0, if there are enough
};

// Fails if the graph is damaged.
Result<DegreeStats> MeasureDegrees(const BvGraph& graph);

}  // namespace portolan::graph
