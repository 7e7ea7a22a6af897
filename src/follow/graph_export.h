// Writes a graph of GraphFiles in the formats of other programs (docs/graph.md):
//
//   ascii        WebGraph's ASCIIGraph: the number of nodes, then a line per node with its successors
//   csv          an edge per line, "source,target", by names where there are any
//   names        a name per line: line n (from 0) is node n of ascii and webgraph
//   commoncrawl  OUT-vertices.txt.gz and OUT-edges.txt.gz, as Common Crawl publishes its graphs of hosts and domains:
//                "number \t reversed.name", of domains also "\t hosts", in byte order of the names; "from \t to"
//   webgraph     OUT.graph, OUT.offsets, OUT.properties, as they are
//
// Departures from Common Crawl's graphs: "www." in front of a host is not dropped, and addresses are hosts, too.
//
// Thread: one caller. Memory bound: a scan of the graph and some buffers; csv by names besides those a block of the
// dictionary. commoncrawl: 4 bytes per node (8 of domains), and options.memory for the sort of names and then of edges.
// Disk: the files; commoncrawl besides them 2 to 4 bytes per edge and the names, where they are more than memory.
// Durability: ExportFile's. All files of an export get their names when all of them are complete; after an error none
// is left (but a crash between two renames leaves the first).

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "follow/export_file.h"
#include "follow/graph_files.h"
#include "io/env.h"

namespace portolan {

enum class GraphExportFormat : uint8_t { kAscii, kCsv, kNames, kCommonCrawl, kWebGraph };

struct GraphExportOptions {
  GraphExportFormat format = GraphExportFormat::kAscii;
  GraphLevel level = GraphLevel::kPages;
  GraphDirection direction = GraphDirection::kForward;
  bool numbers = false;  // csv by node numbers, also where there are names
  bool replace = false;  // files that are there
  size_t memory = size_t{256} << 20;
  ExportFile::Sink sink = {};  // takes what is one file (ascii, csv, names) in its place
  // What is being done, and how many nodes or edges are done. Called every now and then. An error ends the export.
  std::function<Status(std::string_view step, uint64_t done)> progress = {};
};

struct GraphExportResult {
  std::vector<std::pair<std::string, uint64_t>> files;  // paths and bytes
  uint64_t nodes = 0;
  uint64_t arcs = 0;
};

// `out` is the file, or what the files' names begin with. kExists: one of them is there. kNotFound: the graph has no
// such level, or no names where the format needs them. kInvalidArgument: commoncrawl of pages.
Result<GraphExportResult> ExportGraph(Env& env, const GraphFiles& files, const std::string& out,
                                      const GraphExportOptions& options);

}  // namespace portolan
