// Compresses an adjacency in memory, and reads graphs back in each way there is: for tests and benchmarks.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/adjacency.h"
#include "graph/bv_graph.h"
#include "graph/graph_scan.h"
#include "graph/graph_writer.h"

namespace portolan::graph {

inline Result<GraphWriter::End> Compress(const Adjacency& adjacency, const GraphParameters& parameters) {
  GraphWriter writer(parameters);
  for (uint64_t node = 0; node < adjacency.nodes(); ++node) RETURN_IF_ERROR(writer.Append(adjacency[node]));
  return writer.Finish();
}

inline Result<Adjacency> ScanAll(const GraphProperties& properties, std::string_view graph) {
  Adjacency read;
  GraphScan scan(properties, graph);
  while (scan.Next()) read.Add(scan.successors());
  RETURN_IF_ERROR(scan.status());
  return read;
}

// Every node once, in an order that jumps about.
inline Status CompareAtRandom(const BvGraph& graph, const Adjacency& truth) {
  BvGraph::Cursor cursor(graph);
  uint64_t node = 0;
  for (uint64_t i = 0; i < truth.nodes(); ++i) {
    node = (node + 1'000'003) % truth.nodes();  // a prime: all nodes, unless their number is a multiple of it
    ASSIGN_OR_RETURN(const auto successors, graph.Successors(node, cursor));
    const auto expected = truth[node];
    if (!std::equal(successors.begin(), successors.end(), expected.begin(), expected.end())) {
      return Fail(ErrorCode::kCorrupt, "the successors of node " + std::to_string(node) + " differ");
    }
  }
  return {};
}

}  // namespace portolan::graph
