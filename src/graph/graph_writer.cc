#include "graph/graph_writer.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace portolan::graph {

GraphWriter::GraphWriter(const GraphParameters& parameters)
    : encoder_(parameters), recent_(uint64_t{parameters.window} + 1) {
  CHECK(parameters.Validate());
  properties_.parameters = parameters;
  offsets_.Write(parameters.offsets, parameters.zeta_k, 0);
}

Status GraphWriter::Append(std::span<const NodeId> successors) {
  const uint64_t node = properties_.nodes;
  if (node == kMaxNodes) return Fail(ErrorCode::kUnsupported, fmt::format("graph: more than {} nodes", kMaxNodes));
  for (size_t i = 1; i < successors.size(); ++i) {
    if (successors[i] <= successors[i - 1]) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("graph: the successors of node {} are not in order", node));
    }
  }
  if (!successors.empty()) most_ = std::max(most_, uint64_t{successors.back()} + 1);

  const GraphParameters& parameters = properties_.parameters;
  const size_t slots = recent_.size();
  const size_t slot = node % slots;
  Recent& own = recent_[slot];
  own.list.assign(successors.begin(), successors.end());
  own.chain = 0;
  encoder_.Begin(node, own.list);
  if (!own.list.empty()) {
    const uint64_t candidates = std::min<uint64_t>(parameters.window, node);
    for (uint64_t back = 1; back <= candidates; ++back) {
      const Recent& candidate = recent_[slot >= back ? slot - back : slot + slots - back];
      if (candidate.chain < parameters.max_refs) encoder_.Try(back, candidate.list);
    }
  }
  GraphStatistics& statistics = properties_.statistics;
  const uint64_t reference = encoder_.Write(graph_, statistics);
  if (reference > 0) own.chain = recent_[slot >= reference ? slot - reference : slot + slots - reference].chain + 1;
  statistics.sum_of_references += reference;
  statistics.sum_of_chains += own.chain;
  statistics.bits = graph_.written();
  offsets_.Write(parameters.offsets, parameters.zeta_k, graph_.written() - last_offset_);
  last_offset_ = graph_.written();
  ++properties_.nodes;
  properties_.arcs += successors.size();
  return {};
}

Result<GraphWriter::End> GraphWriter::Finish() {
  if (most_ > properties_.nodes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("graph: {} is a successor, but there are {} nodes", most_ - 1, properties_.nodes));
  }
  return End{graph_.Finish(), offsets_.Finish(), properties_};
}

}  // namespace portolan::graph
