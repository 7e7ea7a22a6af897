#include "graph/bow_tie.h"

#include <fmt/core.h>

#include <initializer_list>

namespace portolan::graph {
namespace {

class TieSearch {
 public:
  TieSearch(const BvGraph& graph, const BvGraph& transpose) : graph_(graph), transpose_(transpose) {
    parts_.assign(graph.nodes(), BowTiePart::kDisconnected);
    queue_.reserve(graph.nodes());
  }

  Result<BowTie> Run(const StrongComponents& components) {
    if (components.sizes.empty()) return BowTie{};
    const NodeId core = components.Largest();
    for (uint64_t node = 0; node < parts_.size(); ++node) {
      if (components.component[node] == core) parts_[node] = BowTiePart::kCore;
    }
    Enqueue(BowTiePart::kCore);
    RETURN_IF_ERROR(Spread({&graph_}, BowTiePart::kOut));
    queue_.clear();
    Enqueue(BowTiePart::kCore);
    RETURN_IF_ERROR(Spread({&transpose_}, BowTiePart::kIn));
    queue_.clear();
    Enqueue(BowTiePart::kIn);
    Enqueue(BowTiePart::kOut);
    RETURN_IF_ERROR(Spread({&graph_, &transpose_}, BowTiePart::kTendrils));
    return Count();
  }

 private:
  void Enqueue(BowTiePart part) {
    for (uint64_t node = 0; node < parts_.size(); ++node) {
      if (parts_[node] == part) queue_.push_back(static_cast<NodeId>(node));
    }
  }

  // Marks what is reached from the queue and has no mark.
  Status Spread(std::initializer_list<const BvGraph*> graphs, BowTiePart part) {
    std::vector<BvGraph::Cursor> cursors;
    for (const BvGraph* graph : graphs) cursors.emplace_back(*graph);
    for (size_t from = 0; from < queue_.size(); ++from) {
      size_t which = 0;
      for (const BvGraph* graph : graphs) {
        ASSIGN_OR_RETURN(const auto successors, graph->Successors(queue_[from], cursors[which++]));
        for (const NodeId to : successors) {
          if (parts_[to] != BowTiePart::kDisconnected) continue;
          parts_[to] = part;
          queue_.push_back(to);
        }
      }
    }
    return {};
  }

  BowTie Count() {
    BowTie tie;
    for (const BowTiePart part : parts_) {
      tie.core += part == BowTiePart::kCore;
      tie.in += part == BowTiePart::kIn;
      tie.out += part == BowTiePart::kOut;
      tie.tendrils += part == BowTiePart::kTendrils;
      tie.disconnected += part == BowTiePart::kDisconnected;
    }
    tie.parts = std::move(parts_);
    return tie;
  }

  const BvGraph& graph_;
  const BvGraph& transpose_;
  std::vector<BowTiePart> parts_;
  std::vector<NodeId> queue_;  // each node at most once
};

}  // namespace

Result<BowTie> FindBowTie(const BvGraph& graph, const BvGraph& transpose, const StrongComponents& components) {
  if (graph.nodes() != transpose.nodes() || graph.nodes() != components.component.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("bow tie: the graph has {} nodes, its transpose {}, and components are known of {}",
                            graph.nodes(), transpose.nodes(), components.component.size()));
  }
  return TieSearch(graph, transpose).Run(components);
}

}  // namespace portolan::graph
