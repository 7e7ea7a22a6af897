// Decodes one list of successors from the bits of a graph file, given the list that it refers to.
//
// A list is: outdegree; if it is not 0, the reference (how many lists back, 0: none); with a reference, a count of
// blocks and the blocks: how many entries of that list are copied, left out, copied …, the last one implied; if entries
// are missing still, intervals (count, then beginning and length each); the rest as gaps, "residuals".
// docs/formats/graph.md has all of it.
//
// Thread: one. Invariants: a list that is decoded without a fault is strictly increasing and below `nodes`.
// Memory bound: the longest list (at most `nodes` entries) twice, and its intervals.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/bit_reader.h"
#include "graph/node_list.h"
#include "graph/properties.h"

namespace portolan::graph {

// What is wrong with the bits of a list.
enum class GraphFault : uint8_t {
  kNone,
  kTruncated,  // the file ends within the list
  kOutdegree,  // more successors than nodes, or than the properties' arcs
  kReference,  // to a list beyond the window or before the first
  kChain,      // more references in a row than the properties allow
  kBlocks,     // beyond the list they copy, or more copied than there are successors
  kIntervals,  // beyond the last node, or more than there are successors
  kResidual,   // beyond the last node or before the first
  kOrder,      // a successor twice
  kArcs,       // in all not as many arcs as the properties say
};
std::string_view FaultText(GraphFault fault);
// kCorrupt, with the node.
Error FaultError(GraphFault fault, uint64_t node);

class ListDecoder {
 public:
  struct Head {
    uint64_t outdegree = 0;
    uint64_t reference = 0;
  };

  ListDecoder(const GraphParameters& parameters, uint64_t nodes);

  // The outdegree and the reference; the reader stands behind them.
  GraphFault ReadHead(BitReader& reader, uint64_t node, Head& head) const;
  // The rest of a list whose outdegree is not 0. `reference` is the list that it refers to, empty if it refers to none;
  // it is not `out`.
  GraphFault ReadBody(BitReader& reader, uint64_t node, const Head& head, const NodeList& reference, NodeList& out);

 private:
  struct Interval {
    NodeId left;
    NodeId length;
  };

  template <bool kDefaultCodes>
  GraphFault Body(BitReader& reader, uint64_t node, const Head& head, const NodeList& reference, NodeList& out);
  template <bool kDefaultCodes>
  GraphFault CopyBlocks(BitReader& reader, uint64_t outdegree, const NodeList& reference, NodeId* to, uint64_t& copied);
  GraphFault ReadIntervals(BitReader& reader, uint64_t node, uint64_t missing, uint64_t& covered);
  template <bool kDefaultCodes>
  GraphFault ReadResiduals(BitReader& reader, uint64_t node, uint64_t count, NodeId* to);
  GraphFault MergeIntervals(const NodeId* residuals, uint64_t count, NodeId* to) const;

  GraphParameters parameters_;
  uint64_t nodes_;
  bool default_heads_;
  bool default_codes_;
  std::vector<Interval> intervals_;
  NodeList residuals_;
  NodeList extras_;
};

}  // namespace portolan::graph
