// Finds how a list of successors takes the fewest bits, given the lists before it that it may refer to, and writes it.
//
// Each candidate is tried: the list is compared with it, which gives copy blocks and what is missing; of that, runs
// become intervals, and the rest residuals. The one with the fewest bits wins, the nearest of equal ones: so are the
// bits the same as WebGraph's. A candidate that is over the best so far is left as soon as that is seen.
//
// Thread: one. Memory bound: two plans, each at most six times the longest list.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/bit_writer.h"
#include "graph/codes.h"
#include "graph/properties.h"

namespace portolan::graph {

class ListEncoder {
 public:
  explicit ListEncoder(const GraphParameters& parameters);

  // REQUIRES: `list` is strictly increasing. Forgets the candidates of the list before and tries it without a
  // reference.
  void Begin(uint64_t node, std::span<const NodeId> list);
  // The list `back` nodes before; from the nearest to the farthest. Only for lists that are not empty.
  void Try(uint64_t back, std::span<const NodeId> candidate);
  // Writes the best and adds to the statistics what it took. Returns the reference: how many nodes back, 0 for none.
  uint64_t Write(BitWriter& writer, GraphStatistics& statistics);

 private:
  struct Interval {
    NodeId left;
    NodeId length;
  };
  // A way of writing the list.
  struct Plan {
    uint64_t reference = 0;
    std::vector<NodeId> blocks;
    uint64_t copied = 0;
    std::vector<NodeId> extras;     // entries that are not copied: the first of them count, room for the longest list
    std::vector<NodeId> residuals;  // likewise
    size_t extra_count = 0;
    size_t residual_count = 0;
    std::vector<Interval> intervals;
    uint64_t bits = 0;  // without the outdegree
  };

  static constexpr uint64_t kNoBound = ~uint64_t{0};

  void Compare(std::span<const NodeId> candidate, Plan& plan) const;
  uint64_t BlockBits(const Plan& plan) const;
  // The extras as intervals and residuals: their bits. More than `bound`: it stopped early.
  uint64_t Intervalize(std::span<const NodeId> extras, Plan& plan, uint64_t bound) const;

  GraphParameters parameters_;
  CodeLengths reference_bits_;
  CodeLengths block_count_bits_;
  CodeLengths block_bits_;
  CodeLengths residual_bits_;
  CodeLengths gamma_bits_;
  uint64_t node_ = 0;
  std::span<const NodeId> list_;
  Plan best_;
  Plan trial_;
};

}  // namespace portolan::graph
