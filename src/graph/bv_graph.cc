#include "graph/bv_graph.h"

#include <fmt/core.h>

namespace portolan::graph {
namespace {

std::unexpected<Error> NoSuchNode(uint64_t node, uint64_t nodes) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("graph: node {} of {} was asked for", node, nodes));
}

}  // namespace

Result<BvGraph> BvGraph::Open(const GraphProperties& properties, std::string_view graph, std::string_view offsets) {
  RETURN_IF_ERROR(properties.parameters.Validate());
  BvGraph opened;
  opened.properties_ = properties;
  opened.bytes_ = graph;
  ASSIGN_OR_RETURN(opened.offsets_, GraphOffsets::Decode(offsets, properties.nodes, graph.size() * 8,
                                                         properties.parameters.offsets, properties.parameters.zeta_k));
  return opened;
}

// The chain from `node` to the list that refers to none, each with a reader behind its head.
GraphFault BvGraph::FollowReferences(uint64_t node, Cursor& cursor) const {
  cursor.chain_.clear();
  for (;;) {
    Cursor::Link& link = cursor.chain_.emplace_back();
    link.node = node;
    link.body = BitReader(bytes_);
    link.body.Seek(offsets_[node]);
    const GraphFault fault = cursor.decoder_.ReadHead(link.body, node, link.head);
    if (fault != GraphFault::kNone) return fault;
    if (link.head.outdegree > properties_.arcs) return GraphFault::kOutdegree;
    if (link.head.reference == 0) return GraphFault::kNone;
    if (cursor.chain_.size() > properties_.parameters.max_refs) return GraphFault::kChain;
    node -= link.head.reference;
  }
}

Result<std::span<const NodeId>> BvGraph::Successors(uint64_t node, Cursor& cursor) const {
  if (node >= nodes()) return NoSuchNode(node, nodes());
  GraphFault fault = FollowReferences(node, cursor);
  size_t to = 0;
  for (size_t left = cursor.chain_.size(); left > 0 && fault == GraphFault::kNone; --left) {
    Cursor::Link& link = cursor.chain_[left - 1];
    to = 1 - to;
    if (link.head.outdegree == 0) {
      cursor.lists_[to].set_size(0);
    } else {
      fault = cursor.decoder_.ReadBody(link.body, link.node, link.head, cursor.lists_[1 - to], cursor.lists_[to]);
    }
  }
  if (fault != GraphFault::kNone) return std::unexpected<Error>(FaultError(fault, node));
  return cursor.lists_[to].nodes();
}

Result<uint64_t> BvGraph::Outdegree(uint64_t node, Cursor& cursor) const {
  if (node >= nodes()) return NoSuchNode(node, nodes());
  BitReader reader(bytes_);
  reader.Seek(offsets_[node]);
  ListDecoder::Head head;
  const GraphFault fault = cursor.decoder_.ReadHead(reader, node, head);
  if (fault != GraphFault::kNone) return std::unexpected<Error>(FaultError(fault, node));
  return head.outdegree;
}

}  // namespace portolan::graph
