// All lists of a compressed graph in node order: one pass over BASE.graph, for which no offsets are needed.
//
//   GraphScan scan(properties, bytes);
//   while (scan.Next()) Use(scan.node(), scan.successors());
//   RETURN_IF_ERROR(scan.status());
//
// How many references are in a row is not looked at: a scan has the lists at hand and follows none.
//
// Thread: one. Invariants: successors() is strictly increasing and below `nodes`, and valid until the next call of
// Next. Memory bound: window + 3 lists, each as long as the longest so far; no allocation per node once they have
// grown.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/list_decoder.h"

namespace portolan::graph {

class GraphScan {
 public:
  // `bytes` must outlive the scan.
  GraphScan(const GraphProperties& properties, std::string_view bytes);

  // To the next list. False: there is none, or status() says what is wrong.
  bool Next();

  uint64_t node() const { return next_ - 1; }
  std::span<const NodeId> successors() const { return lists_[slot_].nodes(); }
  // The bit behind the list.
  uint64_t position() const { return reader_.position(); }
  Status status() const;

 private:
  bool Stop(GraphFault fault);

  uint64_t nodes_;
  uint64_t arcs_left_;
  BitReader reader_;
  ListDecoder decoder_;
  std::vector<NodeList> lists_;  // the last window + 1, as a ring
  size_t slot_ = 0;              // of node()
  uint64_t next_ = 0;
  GraphFault fault_ = GraphFault::kNone;
};

}  // namespace portolan::graph
