// A graph in memory, uncompressed: for tests and benchmarks.
//
// Thread: one owner. Memory: 4 bytes per arc and 8 per node.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/properties.h"

namespace portolan::graph {

class Adjacency {
 public:
  // The successors of the next node.
  void Add(std::span<const NodeId> successors);

  uint64_t nodes() const { return begins_.size() - 1; }
  uint64_t arcs() const { return arcs_.size(); }
  std::span<const NodeId> operator[](uint64_t node) const {
    return std::span(arcs_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

  // The graph with each arc turned round. REQUIRES: each successor is a node.
  Adjacency Transpose() const;

  bool operator==(const Adjacency&) const = default;

 private:
  std::vector<uint64_t> begins_ = {0};
  std::vector<NodeId> arcs_;
};

}  // namespace portolan::graph
