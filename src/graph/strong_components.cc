#include "graph/strong_components.h"

#include <algorithm>

namespace portolan::graph {
namespace {

constexpr NodeId kNoNode = 0xffff'ffff;
constexpr uint64_t kVisitsPerReport = 1 << 20;

class ComponentSearch {
 public:
  ComponentSearch(const BvGraph& graph, const std::function<void(uint64_t)>& on_progress)
      : graph_(graph),
        on_progress_(on_progress),
        cursor_(graph),
        place_(graph.nodes(), kNoNode),
        assigned_(graph.nodes(), false),
        below_(graph.nodes(), kNoNode),
        above_(graph.nodes(), kNoNode) {
    open_.reserve(graph.nodes());  // pages of memory that are not used cost nothing
    bounds_.reserve(graph.nodes());
  }

  Result<StrongComponents> Run() {
    for (uint64_t root = 0; root < graph_.nodes(); ++root) {
      if (place_[root] != kNoNode) continue;
      Push(static_cast<NodeId>(root));
      while (top_ != kNoNode) {
        if (place_[top_] == kNoNode) {
          RETURN_IF_ERROR(Visit(top_));
        } else {
          Leave(top_);
        }
      }
    }
    return StrongComponents{std::move(place_), std::move(sizes_)};
  }

 private:
  Status Visit(NodeId node) {
    place_[node] = static_cast<NodeId>(open_.size());
    bounds_.push_back(place_[node]);
    open_.push_back(node);
    ASSIGN_OR_RETURN(const auto successors, graph_.Successors(node, cursor_));
    // From the last to the first, so that the first is visited first.
    for (size_t i = successors.size(); i > 0; --i) {
      const NodeId to = successors[i - 1];
      if (place_[to] == kNoNode) {
        MoveToTop(to);
      } else if (!assigned_[to]) {
        // A cycle: from the node at this place of the path on, all is one component.
        while (bounds_.back() > place_[to]) bounds_.pop_back();
      }
    }
    if (++visited_ % kVisitsPerReport == 0 && on_progress_) on_progress_(visited_);
    return {};
  }

  // All that was reached from the node is visited.
  void Leave(NodeId node) {
    Unlink(node);
    if (bounds_.back() != place_[node]) return;
    bounds_.pop_back();
    const auto number = static_cast<NodeId>(sizes_.size());
    NodeId size = 0;
    for (NodeId last = kNoNode; last != node; ++size) {
      last = open_.back();
      open_.pop_back();
      place_[last] = number;
      assigned_[last] = true;
    }
    sizes_.push_back(size);
  }

  void Push(NodeId node) {
    below_[node] = top_;
    if (top_ != kNoNode) above_[top_] = node;
    above_[node] = kNoNode;
    top_ = node;
  }
  void Unlink(NodeId node) {
    if (below_[node] != kNoNode) above_[below_[node]] = above_[node];
    if (above_[node] != kNoNode) below_[above_[node]] = below_[node];
    if (top_ == node) top_ = below_[node];
    below_[node] = above_[node] = kNoNode;
  }
  // A node that is in the stack has something below it: the root is visited when it is alone.
  void MoveToTop(NodeId node) {
    if (below_[node] != kNoNode) Unlink(node);
    Push(node);
  }

  const BvGraph& graph_;
  const std::function<void(uint64_t)>& on_progress_;
  BvGraph::Cursor cursor_;
  std::vector<NodeId> place_;  // kNoNode: not visited; in open_; or, if assigned_, the number of the component
  std::vector<bool> assigned_;
  std::vector<NodeId> below_;  // in the stack of the search: visited nodes that are not left, and unvisited ones
  std::vector<NodeId> above_;
  NodeId top_ = kNoNode;
  std::vector<NodeId> open_;    // visited, without a component (Gabow's S)
  std::vector<NodeId> bounds_;  // places in open_ where the components of the path begin (Gabow's B)
  std::vector<NodeId> sizes_;
  uint64_t visited_ = 0;
};

}  // namespace

NodeId StrongComponents::Largest() const {
  return static_cast<NodeId>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

Result<StrongComponents> FindStrongComponents(const BvGraph& graph,
                                              const std::function<void(uint64_t visited)>& on_progress) {
  return ComponentSearch(graph, on_progress).Run();
}

}  // namespace portolan::graph
