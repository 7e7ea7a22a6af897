#include "graph/list_decoder.h"

#include <fmt/core.h>

#include <cstring>

#include "base/bytes.h"

namespace portolan::graph {
namespace {

// Copies in pieces, past the end into the slack of both lists: most runs are one or two pieces.
inline void CopyRun(NodeId* to, const NodeId* from, uint64_t count) {
  uint64_t i = 0;
  do {
    std::memcpy(to + i, from + i, NodeList::kSlack * sizeof(NodeId));
    i += NodeList::kSlack;
  } while (i < count);
}

// `to` has `copied` entries; those of `extras` come between them. From the back, so that no second list is needed.
// False: an entry is in both.
bool MergeExtras(NodeId* to, uint64_t copied, const NodeId* extras, uint64_t count) {
  bool twice = false;
  uint64_t i = copied;
  uint64_t j = count;
  while (i > 0 && j > 0) {
    const NodeId a = to[i - 1];
    const NodeId b = extras[j - 1];
    twice |= a == b;
    const uint64_t first = a > b ? 1 : 0;
    to[i + j - 1] = first != 0 ? a : b;
    i -= first;
    j -= 1 - first;
  }
  if (j > 0) std::memcpy(to, extras, j * sizeof(NodeId));
  return !twice;
}

}  // namespace

std::string_view FaultText(GraphFault fault) {
  switch (fault) {
    case GraphFault::kNone:
      return "no fault";
    case GraphFault::kTruncated:
      return "the graph ends within its list";
    case GraphFault::kOutdegree:
      return "its outdegree is beyond the number of nodes or arcs";
    case GraphFault::kReference:
      return "it refers to a list beyond the window";
    case GraphFault::kChain:
      return "it is at the end of more references than the properties allow";
    case GraphFault::kBlocks:
      return "its copy blocks do not fit the list they copy";
    case GraphFault::kIntervals:
      return "its intervals are beyond the last node or its outdegree";
    case GraphFault::kResidual:
      return "a residual is not a node";
    case GraphFault::kOrder:
      return "it has a successor twice";
    case GraphFault::kArcs:
      return "the arcs are not as many as the properties say";
  }
  return "unknown fault";
}

Error FaultError(GraphFault fault, uint64_t node) {
  return {ErrorCode::kCorrupt, fmt::format("graph: node {}: {}", node, FaultText(fault))};
}

ListDecoder::ListDecoder(const GraphParameters& parameters, uint64_t nodes)
    : parameters_(parameters),
      nodes_(nodes),
      default_heads_(parameters.outdegrees == Code::kGamma && parameters.references == Code::kUnary),
      default_codes_(parameters.block_counts == Code::kGamma && parameters.blocks == Code::kGamma &&
                     parameters.residuals == Code::kZeta && parameters.zeta_k == 3) {}

GraphFault ListDecoder::ReadHead(BitReader& reader, uint64_t node, Head& head) const {
  head = {};
  head.outdegree = default_heads_ ? reader.ReadGamma() : reader.Read(parameters_.outdegrees, parameters_.zeta_k);
  if (head.outdegree == 0) return reader.overrun() ? GraphFault::kTruncated : GraphFault::kNone;
  if (head.outdegree > nodes_) return GraphFault::kOutdegree;
  if (parameters_.window == 0) return GraphFault::kNone;
  head.reference = default_heads_ ? reader.ReadUnary() : reader.Read(parameters_.references, parameters_.zeta_k);
  if (head.reference > parameters_.window || head.reference > node) return GraphFault::kReference;
  return reader.overrun() ? GraphFault::kTruncated : GraphFault::kNone;
}

GraphFault ListDecoder::ReadBody(BitReader& reader, uint64_t node, const Head& head, const NodeList& reference,
                                 NodeList& out) {
  return default_codes_ ? Body<true>(reader, node, head, reference, out)
                        : Body<false>(reader, node, head, reference, out);
}

template <bool kDefaultCodes>
GraphFault ListDecoder::Body(BitReader& from, uint64_t node, const Head& head, const NodeList& reference,
                             NodeList& out) {
  BitReader reader = from;  // in registers
  out.set_size(0);
  uint64_t copied = 0;
  if (head.reference > 0) {
    NodeId* const to = out.Room(std::min<uint64_t>(head.outdegree, reference.size()));
    const GraphFault fault = CopyBlocks<kDefaultCodes>(reader, head.outdegree, reference, to, copied);
    if (fault != GraphFault::kNone) return fault;
  }
  const uint64_t missing = head.outdegree - copied;
  uint64_t covered = 0;
  if (missing > 0 && parameters_.min_interval > 0) {
    const GraphFault fault = ReadIntervals(reader, node, missing, covered);
    if (fault != GraphFault::kNone) return fault;
  }
  const uint64_t residuals = missing - covered;
  if (residuals > reader.remaining()) return GraphFault::kTruncated;  // each takes at least a bit
  // Lists go through as few buffers as there are kinds of entries in them.
  NodeId* const to = out.Room(head.outdegree);
  NodeId* const extras = copied == 0 ? to : extras_.Room(missing);
  if (covered == 0) {
    const GraphFault fault = ReadResiduals<kDefaultCodes>(reader, node, residuals, extras);
    if (fault != GraphFault::kNone) return fault;
  } else {
    NodeId* const rest = residuals_.Room(residuals);
    GraphFault fault = ReadResiduals<kDefaultCodes>(reader, node, residuals, rest);
    if (fault == GraphFault::kNone) fault = MergeIntervals(rest, residuals, extras);
    if (fault != GraphFault::kNone) return fault;
  }
  if (copied > 0 && !MergeExtras(to, copied, extras, missing)) return GraphFault::kOrder;
  if (reader.overrun()) return GraphFault::kTruncated;
  out.set_size(head.outdegree);
  from = reader;
  return GraphFault::kNone;
}

template <bool kDefaultCodes>
GraphFault ListDecoder::CopyBlocks(BitReader& reader, uint64_t outdegree, const NodeList& reference, NodeId* to,
                                   uint64_t& copied) {
  const uint64_t size = reference.size();
  const NodeId* const from = reference.data();
  const uint64_t blocks =
      kDefaultCodes ? reader.ReadGamma() : reader.Read(parameters_.block_counts, parameters_.zeta_k);
  if (blocks > size + 1) return GraphFault::kBlocks;
  uint64_t at = 0;
  copied = 0;
  const uint64_t room = std::min(outdegree, size);
  for (uint64_t i = 0; i < blocks; ++i) {
    uint64_t length = kDefaultCodes ? reader.ReadGamma() : reader.Read(parameters_.blocks, parameters_.zeta_k);
    if (length > size) return GraphFault::kBlocks;
    length += i == 0 ? 0 : 1;
    if (length > size - at) return GraphFault::kBlocks;
    if (i % 2 == 0 && length > 0) {
      if (length > room - copied) return GraphFault::kBlocks;
      CopyRun(to + copied, from + at, length);
      copied += length;
    }
    at += length;
  }
  if (blocks % 2 == 0 && at < size) {
    if (size - at > room - copied) return GraphFault::kBlocks;
    CopyRun(to + copied, from + at, size - at);
    copied += size - at;
  }
  return GraphFault::kNone;
}

GraphFault ListDecoder::ReadIntervals(BitReader& reader, uint64_t node, uint64_t missing, uint64_t& covered) {
  const uint64_t count = reader.ReadGamma();
  intervals_.clear();
  if (count == 0) return GraphFault::kNone;
  if (count > missing / parameters_.min_interval || count > reader.remaining()) return GraphFault::kIntervals;
  uint64_t end = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t code = reader.ReadGamma();
    // As the number of a node: a negative one wraps around and is refused.
    const uint64_t left = i == 0 ? node + static_cast<uint64_t>(UnZigZag(code)) : end + 1 + code;
    const uint64_t length = reader.ReadGamma();
    if (left >= nodes_ || code > 2 * nodes_ || length > nodes_) return GraphFault::kIntervals;
    end = left + length + parameters_.min_interval;
    covered += end - left;
    if (end > nodes_ || covered > missing) return GraphFault::kIntervals;
    intervals_.push_back({static_cast<NodeId>(left), static_cast<NodeId>(end - left)});
  }
  return GraphFault::kNone;
}

template <bool kDefaultCodes>
GraphFault ListDecoder::ReadResiduals(BitReader& from, uint64_t node, uint64_t count, NodeId* to) {
  if (count == 0) return GraphFault::kNone;
  BitReader reader = from;
  const auto next = [&] {
    return kDefaultCodes ? reader.ReadZeta3() : reader.Read(parameters_.residuals, parameters_.zeta_k);
  };
  const uint64_t first = next();
  uint64_t at = node + static_cast<uint64_t>(UnZigZag(first));
  if (at >= nodes_) return GraphFault::kResidual;
  to[0] = static_cast<NodeId>(at);
  for (uint64_t i = 1; i < count; ++i) {
    const uint64_t gap = next();
    if (gap >= nodes_ - 1 - at) return GraphFault::kResidual;
    at += gap + 1;
    to[i] = static_cast<NodeId>(at);
  }
  from = reader;
  return GraphFault::kNone;
}

GraphFault ListDecoder::MergeIntervals(const NodeId* residuals, uint64_t count, NodeId* to) const {
  uint64_t next = 0;  // the lowest that may come
  uint64_t r = 0;
  for (const Interval& interval : intervals_) {
    while (r < count && residuals[r] < interval.left) {
      if (residuals[r] < next) return GraphFault::kOrder;
      *to++ = residuals[r++];
    }
    for (NodeId i = 0; i < interval.length; ++i) *to++ = interval.left + i;
    next = uint64_t{interval.left} + interval.length;
  }
  if (r < count && residuals[r] < next) return GraphFault::kOrder;
  if (r < count) std::memcpy(to, residuals + r, (count - r) * sizeof(NodeId));
  return GraphFault::kNone;
}

}  // namespace portolan::graph
