// A compressed graph for random access: the successors of any node, from the bits where they stand.
//
// The bytes of BASE.graph are used in place (a mapped file will do); the offsets are held as Elias–Fano sequence
// (graph/offsets.h). A list that refers to another is decoded after it: the chain of references is followed to its end,
// and decoded back from there.
//
// Thread: a BvGraph is immutable; each thread has a Cursor of its own.
// Memory bound: the offsets (about 8 bits per node), and per cursor four lists and a chain of references, as long as
// the longest so far; no allocation once they have grown.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph_scan.h"
#include "graph/list_decoder.h"
#include "graph/offsets.h"
#include "graph/properties.h"

namespace portolan::graph {

class BvGraph {
 public:
  // Where lists are decoded to.
  class Cursor {
   public:
    explicit Cursor(const BvGraph& graph) : decoder_(graph.properties_.parameters, graph.nodes()) {}

   private:
    friend class BvGraph;
    struct Link {
      uint64_t node;
      ListDecoder::Head head;
      BitReader body;
    };
    ListDecoder decoder_;
    std::vector<Link> chain_;
    NodeList lists_[2];
  };

  // `graph` must outlive it; `offsets` is decoded and not kept.
  static Result<BvGraph> Open(const GraphProperties& properties, std::string_view graph, std::string_view offsets);

  uint64_t nodes() const { return properties_.nodes; }
  uint64_t arcs() const { return properties_.arcs; }
  const GraphProperties& properties() const { return properties_; }
  const GraphOffsets& offsets() const { return offsets_; }
  // All lists in node order, from the first; the graph must outlive it.
  GraphScan Scan() const { return {properties_, bytes_}; }

  // Strictly increasing, valid until the cursor is used again. A node that is not there is an invalid argument.
  Result<std::span<const NodeId>> Successors(uint64_t node, Cursor& cursor) const;
  Result<uint64_t> Outdegree(uint64_t node, Cursor& cursor) const;

 private:
  GraphFault FollowReferences(uint64_t node, Cursor& cursor) const;

  GraphProperties properties_;
  std::string_view bytes_;
  GraphOffsets offsets_;
};

}  // namespace portolan::graph
