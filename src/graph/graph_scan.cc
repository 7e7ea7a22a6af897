#include "graph/graph_scan.h"

#include <algorithm>

namespace portolan::graph {

GraphScan::GraphScan(const GraphProperties& properties, std::string_view bytes)
    : nodes_(properties.nodes),
      arcs_left_(properties.arcs),
      reader_(bytes),
      decoder_(properties.parameters, properties.nodes),
      lists_(std::min<uint64_t>(properties.parameters.window, properties.nodes) + 1) {}

bool GraphScan::Next() {
  if (next_ == nodes_ || fault_ != GraphFault::kNone) {
    return fault_ == GraphFault::kNone && arcs_left_ > 0 ? Stop(GraphFault::kArcs) : false;
  }
  ListDecoder::Head head;
  GraphFault fault = decoder_.ReadHead(reader_, next_, head);
  if (fault != GraphFault::kNone) return Stop(fault);
  if (head.outdegree > arcs_left_) return Stop(GraphFault::kOutdegree);
  arcs_left_ -= head.outdegree;
  if (next_ > 0 && ++slot_ == lists_.size()) slot_ = 0;
  NodeList& out = lists_[slot_];
  if (head.outdegree == 0) {
    out.set_size(0);
  } else {
    // A reference of 0 finds `out` itself, which is then not looked at.
    const size_t back = slot_ >= head.reference ? slot_ - head.reference : slot_ + lists_.size() - head.reference;
    fault = decoder_.ReadBody(reader_, next_, head, lists_[back], out);
    if (fault != GraphFault::kNone) return Stop(fault);
  }
  ++next_;
  return true;
}

bool GraphScan::Stop(GraphFault fault) {
  fault_ = fault;
  return false;
}

Status GraphScan::status() const {
  if (fault_ == GraphFault::kNone) return {};
  return std::unexpected<Error>(FaultError(fault_, next_));
}

}  // namespace portolan::graph
