// A small graph for tests: its adjacency, and the same compressed in memory and opened, with its transpose.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "graph/testing/random_graphs.h"
#include "graph/testing/round_trip.h"

namespace portolan::graph {

// A compressed graph with its bytes.
struct PackedGraph {
  explicit PackedGraph(Adjacency adjacency) : truth(std::move(adjacency)) {
    auto written = Compress(truth, {});
    CHECK(written.has_value());
    end = *std::move(written);
    auto opened = BvGraph::Open(end.properties, end.graph, end.offsets);
    CHECK(opened.has_value());
    graph = *std::move(opened);
  }
  PackedGraph(const PackedGraph&) = delete;

  Adjacency truth;
  GraphWriter::End end;
  BvGraph graph;
};

inline Adjacency FromLists(const std::vector<std::vector<NodeId>>& lists) {
  Adjacency made;
  for (const auto& list : lists) made.Add(list);
  return made;
}

inline Adjacency Chain(NodeId nodes) {
  Adjacency made;
  for (NodeId node = 0; node < nodes; ++node) {
    node + 1 < nodes ? made.Add(std::vector<NodeId>{node + 1}) : made.Add({});
  }
  return made;
}

inline Adjacency Cycle(NodeId nodes) {
  Adjacency made;
  for (NodeId node = 0; node < nodes; ++node) made.Add(std::vector<NodeId>{(node + 1) % nodes});
  return made;
}

// Graphs of all shapes, among them no node, one node, chains, cycles, and random ones of up to `most` nodes.
inline std::vector<Adjacency> ManyGraphs(NodeId most, int rounds) {
  std::vector<Adjacency> made;
  made.push_back(FromLists({}));
  made.push_back(FromLists({{}}));
  made.push_back(FromLists({{0}}));
  made.push_back(Chain(most));
  made.push_back(Cycle(most));
  made.push_back(FromLists({{1}, {0}, {}, {4}, {5}, {3}, {6}}));
  for (int round = 0; round < rounds; ++round) {
    for (const Shape shape : kShapes) {
      const auto seed = static_cast<uint64_t>(round);
      made.push_back(MakeGraph(shape, static_cast<NodeId>(1 + Mix64(seed + 1) % most), seed));
    }
  }
  return made;
}

}  // namespace portolan::graph
