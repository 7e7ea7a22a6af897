// BASE.properties: what a reader must know before it can read BASE.graph, and statistics.
//
// The file is a Java properties file: a line per key, "key=value", '#' or '!' for comments. Required are nodes and
// arcs; the rest has WebGraph's defaults. Keys that we do not know are passed over; a value that changes the meaning of
// the bits and that we do not know (a graph class, a version, a byte order, a coding) is refused by its name.
//
// Thread: a value. Memory: bounded by the text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/codes.h"

namespace portolan::graph {

// Nodes are numbered from 0. WebGraph's "big" graphs may have more nodes than this; they are refused.
using NodeId = uint32_t;
inline constexpr uint64_t kMaxNodes = 0xffff'fffe;

inline constexpr uint32_t kMaxWindow = 1 << 16;         // lists; graphs that are published have at most some 70
inline constexpr uint32_t kUnlimitedRefs = 0x7fffffff;  // maxrefcount of a graph whose chains have no bound

// How lists are coded. The defaults are ours and WebGraph's.
struct GraphParameters {
  uint32_t window = 7;        // windowsize: how many lists before this one may be referred to; 0: none
  uint32_t max_refs = 3;      // maxrefcount: how many references in a row a random access may follow
  uint32_t min_interval = 4;  // minintervallength: shortest run that is an interval; 0: no intervals
  uint32_t zeta_k = 3;        // zetak, 1 to 16

  // compressionflags
  Code outdegrees = Code::kGamma;
  Code references = Code::kUnary;
  Code block_counts = Code::kGamma;
  Code blocks = Code::kGamma;
  Code residuals = Code::kZeta;
  Code offsets = Code::kGamma;

  bool operator==(const GraphParameters&) const = default;
  Status Validate() const;
};

// What a writer counted on its way. Zeros in graphs that say nothing of them; no reader needs them.
struct GraphStatistics {
  uint64_t bits = 0;  // of the graph file before its last byte is filled
  uint64_t bits_for_outdegrees = 0;
  uint64_t bits_for_references = 0;
  uint64_t bits_for_blocks = 0;  // and their counts
  uint64_t bits_for_intervals = 0;
  uint64_t bits_for_residuals = 0;
  uint64_t copied_arcs = 0;
  uint64_t interval_arcs = 0;
  uint64_t residual_arcs = 0;
  uint64_t sum_of_references = 0;  // how many lists back, over all nodes
  uint64_t sum_of_chains = 0;      // references in a row, over all nodes

  bool operator==(const GraphStatistics&) const = default;
};

struct GraphProperties {
  uint64_t nodes = 0;
  uint64_t arcs = 0;
  GraphParameters parameters;
  GraphStatistics statistics;

  static Result<GraphProperties> Parse(std::string_view text);
  std::string ToText() const;
};

}  // namespace portolan::graph
