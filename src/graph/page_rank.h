// PageRank: the stationary distribution of a surfer who follows a random link of the page with probability `damping`,
// and goes to a random page otherwise.
//
// Source: L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the Web", 1999.
// The power method: with n nodes, d(v) links of v, D the dangling nodes (those without links) and a the damping,
//
//   x'(w) = a * (sum over links v -> w of x(v) / d(v)  +  sum over v in D of x(v) / n)  +  (1 - a) / n
//
// The mass of dangling nodes is spread evenly ("strongly preferential" PageRank with the uniform preference), so the
// ranks always add up to 1. A link of a node to itself is a link like any other.
//
// It stops when the L1 norm of x' - x is at most `tolerance`. The error is then at most a / (1 - a) times that in L1
// norm: 5.7 times for a = 0.85.
//
// Each iteration is one sequential scan of the graph itself, not of its transpose: x(v) / d(v) is added to each
// successor as lists are decoded, so that no array of outdegrees is needed.
//
// Thread: a pure function; the callback is called on the caller's thread.
// Memory bound: 16 bytes per node (two vectors of double: a node with a million links must not lose the small ones),
// 8 of which are returned; and a GraphScan.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "graph/bv_graph.h"

namespace portolan::graph {

inline constexpr uint64_t kPageRankBytesPerNode = 16;

struct PageRankOptions {
  double damping = 0.85;          // at least 0, below 1
  double tolerance = 1e-6;        // L1 norm of the last change at which it stops, above 0
  uint32_t max_iterations = 200;  // at least 1; at 0.85 each iteration divides the change by 1.18 or more
  // After each iteration, with its number from 1 and the L1 norm of its change. May be empty.
  std::function<void(uint32_t iteration, double residual)> on_iteration;
};

struct PageRankResult {
  std::vector<double> ranks;  // per node; they add up to 1
  uint32_t iterations = 0;
  double residual = 0;     // L1 norm of the last change
  bool converged = false;  // false: max_iterations came first
};

// Fails if an option is out of range or the graph is damaged. A graph without nodes has no ranks and converges at once.
Result<PageRankResult> PageRank(const BvGraph& graph, const PageRankOptions& options);

}  // namespace portolan::graph
