#include "graph/adjacency.h"

#include "base/check.h"

namespace portolan::graph {

void Adjacency::Add(std::span<const NodeId> successors) {
  arcs_.insert(arcs_.end(), successors.begin(), successors.end());
  begins_.push_back(arcs_.size());
}

Adjacency Adjacency::Transpose() const {
  Adjacency turned;
  turned.begins_.assign(nodes() + 1, 0);
  turned.arcs_.resize(arcs());
  for (const NodeId to : arcs_) {
    CHECK(to < nodes(), "successor {} of {} nodes", to, nodes());
    ++turned.begins_[to + 1];
  }
  for (uint64_t node = 0; node < nodes(); ++node) turned.begins_[node + 1] += turned.begins_[node];
  std::vector<uint64_t> next(turned.begins_.begin(), turned.begins_.end() - 1);
  for (uint64_t node = 0; node < nodes(); ++node) {
    for (const NodeId to : (*this)[node]) turned.arcs_[next[to]++] = static_cast<NodeId>(node);
  }
  return turned;
}

}  // namespace portolan::graph
