// Takes a compressed graph of WebGraph's format (docs/formats/graph.md), made by whatever program, as the graph of a
// folder: GraphFiles opens it, `portolan graph` looks into it.
//
//   BASE.graph       copied as it is, after every list in it was decoded once
//   BASE.properties  likewise
//   BASE.offsets     made from the graph; if the file is there, it must say the same
//
// The transpose is made from it: links turned round and sorted as numbers (follow/pair_sort.h). There are no names, no
// texts, no hosts and no domains: the file CURRENT says "imported 1", and no build continues such a graph.
//
// Everything is read and checked before anything is written, so a damaged graph changes nothing. What a scan cannot
// see is a chain of references that is longer than the properties say; reading such a list at random fails with a name.
//
// Thread: one caller; the lock of the folder keeps it apart from builds and other imports.
// Memory bound: options.memory for the sort; besides it a scan of the graph, its offsets as they are checked (about 8
// bits per node), and twenty times the longest list that is turned round (graph/graph_writer.h). BASE's files are
// mapped, so they must not be cut meanwhile. Disk: the copy and the transpose, and 2 to 4 bytes per link of runs.
// Durability: as a build's: CURRENT is replaced when everything that it names is durable.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

// A properties file that is longer is none.
inline constexpr uint64_t kMaxGraphProperties = uint64_t{1} << 20;

struct GraphImportOptions {
  size_t memory = size_t{256} << 20;
  bool replace = false;  // an imported graph that is there already
  // What is being done, and how many nodes or links are done. Called every now and then. An error ends the import.
  std::function<Status(std::string_view step, uint64_t done)> progress = {};
};

struct GraphImportResult {
  uint64_t generation = 0;
  uint64_t nodes = 0;
  uint64_t arcs = 0;
  bool had_offsets = false;  // BASE.offsets was there, and was right
};

// `graph_dir` is DIR/graph. kNotFound: a file of BASE is missing. kCorrupt, kUnsupported: a file of BASE is damaged or
// of another kind; it is named. kExists: there is a graph that may not be replaced. kBusy: another build is at work.
// After any error the graph that was there is as it was.
Result<GraphImportResult> ImportGraph(Env& env, const std::string& base, const std::string& graph_dir,
                                      const GraphImportOptions& options = {});

}  // namespace portolan
