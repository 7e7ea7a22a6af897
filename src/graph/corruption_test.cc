// Bits that are flipped, cut off or made up: an error with a name or another list, never more.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "graph/testing/random_graphs.h"
#include "graph/testing/round_trip.h"

namespace portolan::graph {
namespace {

// Reads all there is, both ways. Lists that come are strictly increasing and of nodes.
void ReadAnything(const GraphProperties& properties, const std::string& graph, const std::string& offsets) {
  const auto expect_list = [&](std::span<const NodeId> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      ASSERT_LT(list[i], properties.nodes);
      if (i > 0) {
        ASSERT_LT(list[i - 1], list[i]);
      }
    }
  };
  GraphScan scan(properties, graph);
  uint64_t nodes = 0;
  uint64_t arcs = 0;
  while (scan.Next()) {
    expect_list(scan.successors());
    ++nodes;
    arcs += scan.successors().size();
  }
  ASSERT_LE(nodes, properties.nodes);
  ASSERT_LE(arcs, properties.arcs);
  if (scan.status()) {
    ASSERT_EQ(arcs, properties.arcs);
  } else {
    ASSERT_EQ(scan.status().error().code(), ErrorCode::kCorrupt);
  }
  const auto opened = BvGraph::Open(properties, graph, offsets);
  if (!opened) return;
  BvGraph::Cursor cursor(*opened);
  for (uint64_t node = 0; node < properties.nodes; ++node) {
    const auto list = opened->Successors(node, cursor);
    if (list) expect_list(*list);
  }
}

GraphParameters AnyParameters(uint64_t seed) {
  GraphParameters parameters;
  if (seed % 2 == 1) parameters.residuals = Code::kDelta;
  if (seed % 3 == 1) parameters.min_interval = 1;
  if (seed % 3 == 2) parameters.max_refs = kUnlimitedRefs;
  return parameters;
}

TEST(GraphCorruptionTest, EveryFlippedBitGivesAnErrorOrAnotherList) {
  for (const Shape shape : {Shape::kCopies, Shape::kIntervals, Shape::kSkewed}) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const auto written = Compress(MakeGraph(shape, 40, seed), AnyParameters(seed));
      for (size_t bit = 0; bit < written->graph.size() * 8; ++bit) {
        std::string graph = written->graph;
        graph[bit / 8] = static_cast<char>(graph[bit / 8] ^ (1 << (bit % 8)));
        ReadAnything(written->properties, graph, written->offsets);
      }
      for (size_t bit = 0; bit < written->offsets.size() * 8; ++bit) {
        std::string offsets = written->offsets;
        offsets[bit / 8] = static_cast<char>(offsets[bit / 8] ^ (1 << (bit % 8)));
        ReadAnything(written->properties, written->graph, offsets);
      }
    }
  }
}

TEST(GraphCorruptionTest, EveryTruncationIsAnError) {
  const auto written = Compress(MakeGraph(Shape::kCopies, 60, 2), {});
  for (size_t size = 0; size < written->graph.size(); ++size) {
    const std::string graph = written->graph.substr(0, size);
    const auto scanned = ScanAll(written->properties, graph);
    ASSERT_FALSE(scanned) << size;
    EXPECT_EQ(scanned.error().code(), ErrorCode::kCorrupt);
    EXPECT_FALSE(BvGraph::Open(written->properties, graph, written->offsets)) << "the offsets lead beyond the end";
  }
  for (size_t size = 0; size < written->offsets.size(); ++size) {
    EXPECT_FALSE(BvGraph::Open(written->properties, written->graph, written->offsets.substr(0, size))) << size;
  }
}

TEST(GraphCorruptionTest, RandomBytesEnd) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    GraphProperties properties;
    properties.nodes = 1 + random() % 200;
    properties.arcs = random() % 4000;
    properties.parameters = AnyParameters(random());
    std::string graph(random() % 300, '\0');
    std::string offsets(random() % 300, '\0');
    const uint64_t mask = random();  // few ones, or many
    for (char& byte : graph) byte = static_cast<char>(random() & mask);
    for (char& byte : offsets) byte = static_cast<char>(random() | mask);
    ReadAnything(properties, graph, offsets);
  }
}

// A graph of `nodes` nodes whose first lists are written by hand.
struct ByHand {
  GraphProperties properties;
  BitWriter graph;

  explicit ByHand(uint64_t nodes) {
    properties.nodes = nodes;
    properties.arcs = nodes * nodes;
  }
  std::string ScanError() {
    const auto scanned = ScanAll(properties, graph.Finish());
    return scanned ? "" : scanned.error().message();
  }
};

TEST(GraphCorruptionTest, AnAbsurdOutdegreeIsNamed) {
  ByHand hand(10);
  hand.graph.WriteGamma(11);
  hand.graph.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(hand.ScanError().find("outdegree"), std::string::npos);
}

TEST(GraphCorruptionTest, MoreArcsThanThePropertiesSayAreNamed) {
  const auto written = Compress(MakeGraph(Shape::kComplete, 20, 0), {});
  GraphProperties properties = written->properties;
  properties.arcs = 30;
  EXPECT_NE(ScanAll(properties, written->graph).error().message().find("node 1: its outdegree"), std::string::npos);
  properties.arcs = 401;
  EXPECT_NE(ScanAll(properties, written->graph).error().message().find("arcs"), std::string::npos);
}

TEST(GraphCorruptionTest, AReferenceBeyondTheWindowIsNamed) {
  ByHand before(10);
  before.graph.WriteGamma(1);
  before.graph.WriteUnary(1);  // node 0 has none before it
  before.graph.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(before.ScanError().find("refers"), std::string::npos);
  ByHand beyond(20);
  for (int i = 0; i < 10; ++i) beyond.graph.WriteGamma(0);
  beyond.graph.WriteGamma(1);
  beyond.graph.WriteUnary(8);
  beyond.graph.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(beyond.ScanError().find("refers"), std::string::npos);
}

TEST(GraphCorruptionTest, AResidualThatIsNoNodeIsNamed) {
  for (const uint64_t code : {uint64_t{1}, uint64_t{20}}) {  // -1 and 10
    ByHand hand(10);
    hand.graph.WriteGamma(1);
    hand.graph.WriteUnary(0);
    hand.graph.WriteGamma(0);
    hand.graph.WriteZeta(code, 3);
    hand.graph.WriteBits(~uint64_t{0}, 64);
    EXPECT_NE(hand.ScanError().find("residual"), std::string::npos);
  }
}

TEST(GraphCorruptionTest, AnIntervalBeyondTheLastNodeIsNamed) {
  ByHand hand(10);
  hand.graph.WriteGamma(6);
  hand.graph.WriteUnary(0);
  hand.graph.WriteGamma(1);
  hand.graph.WriteGamma(2 * 7);
  hand.graph.WriteGamma(0);  // 7, 8, 9 and 10
  hand.graph.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(hand.ScanError().find("intervals"), std::string::npos);
}

TEST(GraphCorruptionTest, BlocksBeyondTheListTheyCopyAreNamed) {
  ByHand hand(10);
  hand.graph.WriteGamma(1);
  hand.graph.WriteUnary(0);
  hand.graph.WriteGamma(0);
  hand.graph.WriteZeta(0, 3);
  hand.graph.WriteGamma(3);
  hand.graph.WriteUnary(1);
  hand.graph.WriteGamma(1);
  hand.graph.WriteGamma(2);
  hand.graph.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(hand.ScanError().find("node 1: its copy blocks"), std::string::npos);
}

TEST(GraphCorruptionTest, AChainThatIsTooDeepIsNamed) {
  const auto written = Compress(MakeGraph(Shape::kComplete, 30, 0), {.max_refs = kUnlimitedRefs});
  GraphProperties properties = written->properties;
  properties.parameters.max_refs = 3;
  const auto graph = BvGraph::Open(properties, written->graph, written->offsets);
  ASSERT_TRUE(graph);
  BvGraph::Cursor cursor(*graph);
  EXPECT_TRUE(graph->Successors(3, cursor));
  const auto deep = graph->Successors(29, cursor);
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().message().find("more references"), std::string::npos);
}

// Few bits may not claim much memory: a list is only as long as its bits, its reference and the properties allow.
TEST(GraphCorruptionTest, ALongListOfNoBitsIsRefusedBeforeItIsMade) {
  GraphProperties properties;
  properties.nodes = kMaxNodes;
  properties.arcs = uint64_t{1} << 40;
  BitWriter writer;
  writer.WriteGamma(4'000'000'000);
  writer.WriteUnary(0);
  writer.WriteGamma(0);
  writer.WriteBits(~uint64_t{0}, 64);
  EXPECT_NE(ScanAll(properties, writer.Finish()).error().message().find("ends"), std::string::npos);
}

}  // namespace
}  // namespace portolan::graph
