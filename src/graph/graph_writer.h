// Compresses a graph as its lists come, in node order: BASE.graph, BASE.offsets and the numbers of BASE.properties.
//
//   GraphWriter writer(parameters);
//   for (…) RETURN_IF_ERROR(writer.Append(successors));   // and now and then: write away TakeGraph() and TakeOffsets()
//   ASSIGN_OR_RETURN(auto end, writer.Finish());           // the rest of both, and the properties
//
// Each list is tried with each of the `window` lists before it whose own chain of references is shorter than
// `max_refs`, and without any (graph/list_encoder.h).
//
// Thread: one. Memory bound: window + 1 lists, twelve times the longest (the encoder's plans), and what was not taken.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/bit_writer.h"
#include "graph/list_encoder.h"
#include "graph/properties.h"

namespace portolan::graph {

class GraphWriter {
 public:
  struct End {
    std::string graph;
    std::string offsets;
    GraphProperties properties;
  };

  // REQUIRES: parameters.Validate().
  explicit GraphWriter(const GraphParameters& parameters);

  // The successors of the next node, strictly increasing; they may be nodes that are still to come.
  Status Append(std::span<const NodeId> successors);

  // Bytes that are complete, since the last call.
  std::string TakeGraph() { return graph_.TakeBytes(); }
  std::string TakeOffsets() { return offsets_.TakeBytes(); }

  uint64_t nodes() const { return properties_.nodes; }
  uint64_t arcs() const { return properties_.arcs; }

  // Fails if a successor is not a node. Nothing may be appended after it.
  Result<End> Finish();

 private:
  struct Recent {
    std::vector<NodeId> list;
    uint32_t chain = 0;  // references in a row from it
  };

  GraphProperties properties_;
  ListEncoder encoder_;
  BitWriter graph_;
  BitWriter offsets_;
  std::vector<Recent> recent_;  // the last window + 1, as a ring
  uint64_t last_offset_ = 0;
  uint64_t most_ = 0;  // 1 + the highest successor
};

}  // namespace portolan::graph
