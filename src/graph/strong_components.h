// Strongly connected components: sets of nodes each of which reaches all others of its set.
//
// Source: H. N. Gabow, "Path-based depth-first search for strong and biconnected components", 2000 (one depth-first
// search, two stacks, no low links), without recursion.
//
// The problem with compressed graphs: a search that stops in the middle of a list and comes back to it must keep the
// list (4 bytes per arc, in the worst case) or decode it again (the square of the outdegree). Here a list is decoded
// once, when its node is visited: arcs to visited nodes are dealt with at once, and each unvisited successor is moved
// to the top of the search's stack, wherever it was in it. So each node is in the stack at most once, which is
// therefore a doubly linked list over the nodes, and the order is that of a depth-first search: a node is visited from
// the last visited node that links to it. Arcs to successors that another node visits first lead to descendants, and
// say nothing about components.
//
// Thread: a pure function; the callback is called on the caller's thread.
// Memory bound: 20.13 bytes per node (two links, component or position, two stacks, a bit), 4 of which are returned; 4
// bytes per component; and a cursor.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "graph/bv_graph.h"

namespace portolan::graph {

inline constexpr uint64_t kStrongComponentsBytesPerNode = 21;

struct StrongComponents {
  // Per node, the number of its component. Arcs between components lead from higher to lower numbers.
  std::vector<NodeId> component;
  std::vector<NodeId> sizes;  // per component

  // The component with the most nodes, the lowest number of equal ones. REQUIRES: there is a component.
  NodeId Largest() const;
};

// Fails if the graph is damaged. `on_progress`, which may be empty, is called now and then with the nodes visited.
Result<StrongComponents> FindStrongComponents(const BvGraph& graph,
                                              const std::function<void(uint64_t visited)>& on_progress = {});

}  // namespace portolan::graph
