// HyperBall: distances in a graph that is too large for a breadth-first search from each node.
//
// Source: P. Boldi, S. Vigna, "In-Core Computation of Geometric Centralities with HyperBall: A Hundred Billion Nodes
// and Beyond", 2013. The ball B(v, t) is the set of nodes at distance at most t from v along the arcs of the graph that
// is scanned. B(v, t + 1) is the union of B(v, t) and B(w, t) over all successors w. Each ball is a HyperLogLog counter
// (graph/hyper_log_log.h); an iteration is a sequential scan, and it ends when no counter has changed.
//
//   harmonic centrality      H(v) = sum over t > 0 of (|B(v, t)| - |B(v, t - 1)|) / t
//   neighbourhood function   N(t) = sum over v of |B(v, t)|: the pairs of nodes at distance at most t
//
// Which graph: give it the transpose. Then balls are what reaches v, and H(v) is the sum of 1 / d(u, v) over all u that
// reach v, a centrality of being linked to. N is the same for a graph and its transpose.
//
// Errors: |B| has the relative standard deviation s = 1.04 / sqrt(2^log2m). H(v) + 1 is a sum of |B(v, t)| with factors
// that are not negative, so its relative standard deviation is at most s, too. Errors of different nodes are not
// independent: they share hashes. Other seeds give other errors. In a small ball two nodes may share a register, and
// then count as one: the deviation is as stated, but a single value may be further off than a normal one would be.
//
// Departures: not systolic: each iteration scans the whole graph, but unites only counters that changed in the one
// before, and leaves alone those that cannot change. Nothing is external: both generations of counters are in memory.
//
// Thread: a pure function; the callback is called on the caller's thread.
// Memory bound: 2 * 2^log2m + 4.25 bytes per node (two generations of counters, the centrality as float, two bits that
// say what changed), and 8 per iteration: 132 bytes per node with log2m = 6 (13% error), 36 with 4 (26%).

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "graph/bv_graph.h"

namespace portolan::graph {

struct HyperBallOptions {
  unsigned log2m = 6;  // 4 to 16
  uint64_t seed = 0;   // of the counters' hash
  uint32_t max_iterations = 1'000'000;
  // Stops when an iteration adds less than this part to the neighbourhood function; 0: when nothing changes.
  double threshold = 0;
  // After each iteration, with its number from 1 and how many counters it changed. May be empty.
  std::function<void(uint32_t iteration, uint64_t changed)> on_iteration;
};

struct HyperBallResult {
  std::vector<float> harmonic;        // per node
  std::vector<double> neighbourhood;  // N(0), N(1) …; never decreasing; N(0) is the number of nodes
  uint32_t iterations = 0;            // that changed a counter: at most the longest distance, unless it was stopped
  bool complete = false;              // false: max_iterations or the threshold stopped it
};

// Bytes that HyperBall allocates, without those of the scan.
uint64_t HyperBallBytes(uint64_t nodes, unsigned log2m);

// Fails if log2m is out of range or the graph is damaged.
Result<HyperBallResult> HyperBall(const BvGraph& graph, const HyperBallOptions& options);

// What a neighbourhood function tells of distances. Pairs are of different nodes, where a path leads from the first to
// the second.
struct DistanceStats {
  std::vector<double> fractions;  // [t]: of the pairs, those at distance t; [0] is 0; empty if there are no pairs
  double pairs = 0;
  double reachable = 0;           // pairs of all n (n - 1): 0 to 1, beyond 1 only by error
  double average = 0;             // distance
  double effective_diameter = 0;  // distance within which 90% of the pairs are, interpolated between two t
  uint32_t longest = 0;           // a lower bound of the diameter, if the run was complete
};
DistanceStats DistancesOf(const std::vector<double>& neighbourhood);

}  // namespace portolan::graph
