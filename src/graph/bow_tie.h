// The bow tie: how the nodes of a web graph lie around its largest strongly connected component.
//
// Source: A. Broder et al., "Graph structure in the Web", 2000.
//
//   core           the largest strongly connected component
//   in             reach the core and are not reached by it
//   out            are reached by the core and do not reach it
//   tendrils       the rest of what is connected with the core if arcs have no direction: tendrils (hang off IN, or
//   lead
//                  into OUT), tubes (from IN to OUT past the core), and what hangs off those
//   disconnected   all others
//
// Two breadth-first searches from the core, along the graph and its transpose, and one over both. Departure: tendrils
// and tubes are not told apart.
//
// Thread: a pure function. Memory bound: 5 bytes per node (a mark, a queue), 1 of which is returned, beside the
// components; and two cursors.

#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "graph/bv_graph.h"
#include "graph/strong_components.h"

namespace portolan::graph {

enum class BowTiePart : uint8_t { kDisconnected, kCore, kIn, kOut, kTendrils };

struct BowTie {
  std::vector<BowTiePart> parts;  // per node
  uint64_t core = 0;              // nodes of each part
  uint64_t in = 0;
  uint64_t out = 0;
  uint64_t tendrils = 0;
  uint64_t disconnected = 0;
};

// `transpose` has the arcs of `graph` turned round; `components` are those of `graph`. Fails if a graph is damaged or
// their nodes are not as many.
Result<BowTie> FindBowTie(const BvGraph& graph, const BvGraph& transpose, const StrongComponents& components);

}  // namespace portolan::graph
