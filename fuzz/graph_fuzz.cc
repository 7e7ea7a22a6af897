// Any bytes as the three files of a compressed graph: the length of the properties, of the offsets, then all three.
//
// Held: what is read is in order and of nodes; a scan gives as many arcs as the properties say, or an error; a graph
// that a scan reads can be written with the same parameters, and reads as the same lists.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "graph/adjacency.h"
#include "graph/bv_graph.h"
#include "graph/graph_scan.h"
#include "graph/graph_writer.h"

namespace {

using namespace portolan;
using namespace portolan::graph;

constexpr uint64_t kMostNodes = 2000;  // so that an input takes microseconds
constexpr uint64_t kMostArcs = 20'000;

void CheckList(std::span<const NodeId> list, uint64_t nodes) {
  for (size_t i = 0; i < list.size(); ++i) CHECK(list[i] < nodes && (i == 0 || list[i - 1] < list[i]));
}

void ReadAtRandom(const GraphProperties& properties, std::string_view graph, std::string_view offsets) {
  const auto opened = BvGraph::Open(properties, graph, offsets);
  if (!opened) return;
  BvGraph::Cursor cursor(*opened);
  for (uint64_t node = 0; node < std::min<uint64_t>(properties.nodes, 200); ++node) {
    const auto list = opened->Successors(node, cursor);
    if (!list) continue;
    CheckList(*list, properties.nodes);
    CHECK(opened->Outdegree(node, cursor).value() == list->size());
  }
}

void WriteAgain(const Adjacency& read, const GraphParameters& parameters) {
  GraphWriter writer(parameters);
  for (uint64_t node = 0; node < read.nodes(); ++node) CHECK(writer.Append(read[node]));
  const auto end = writer.Finish();
  CHECK(end.has_value());
  GraphScan scan(end->properties, end->graph);
  while (scan.Next()) CHECK(std::ranges::equal(scan.successors(), read[scan.node()]));
  CHECK(scan.status());
  CHECK(scan.position() == end->properties.statistics.bits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  if (rest.size() < 2) return 0;
  const size_t text_size = std::min<size_t>(data[0], rest.size() - 2);
  const std::string_view text = rest.substr(2, text_size);
  const size_t offsets_size = std::min<size_t>(data[1], rest.size() - 2 - text_size);
  const std::string_view offsets = rest.substr(2 + text_size, offsets_size);
  const std::string_view graph = rest.substr(2 + text_size + offsets_size);

  const auto properties = GraphProperties::Parse(text);
  if (!properties) return 0;
  const auto again = GraphProperties::Parse(properties->ToText());
  CHECK(again && again->nodes == properties->nodes && again->parameters == properties->parameters);
  if (properties->nodes > kMostNodes || properties->arcs > kMostArcs) return 0;

  Adjacency read;
  GraphScan scan(*properties, graph);
  while (scan.Next()) {
    CheckList(scan.successors(), properties->nodes);
    read.Add(scan.successors());
  }
  ReadAtRandom(*properties, graph, offsets);
  if (!scan.status()) return 0;
  CHECK(read.nodes() == properties->nodes && read.arcs() == properties->arcs);
  if (properties->parameters.window <= 100) WriteAgain(read, properties->parameters);
  return 0;
}
