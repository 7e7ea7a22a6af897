#include "graph/testing/round_trip.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "graph/testing/naive_decoder.h"
#include "graph/testing/random_graphs.h"

namespace portolan::graph {
namespace {

void ExpectRoundTrip(const Adjacency& truth, const GraphParameters& parameters) {
  const auto written = Compress(truth, parameters);
  ASSERT_TRUE(written) << written.error().ToString();
  const GraphProperties& properties = written->properties;
  ASSERT_EQ(properties.nodes, truth.nodes());
  ASSERT_EQ(properties.arcs, truth.arcs());

  const auto scanned = ScanAll(properties, written->graph);
  ASSERT_TRUE(scanned) << scanned.error().ToString();
  ASSERT_TRUE(*scanned == truth);
  const auto graph = BvGraph::Open(properties, written->graph, written->offsets);
  ASSERT_TRUE(graph) << graph.error().ToString();
  const Status same = CompareAtRandom(*graph, truth);
  ASSERT_TRUE(same) << same.error().ToString();
  BvGraph::Cursor cursor(*graph);
  for (uint64_t node = 0; node < truth.nodes(); ++node) {
    ASSERT_EQ(graph->Outdegree(node, cursor).value(), truth[node].size());
  }
  NaiveDecoder naive(properties, written->graph);
  Adjacency by_naive;
  for (const auto& list : naive.DecodeAll()) by_naive.Add(list);
  ASSERT_TRUE(by_naive == truth);

  const GraphStatistics& s = properties.statistics;
  EXPECT_EQ(naive.position(), s.bits);
  EXPECT_EQ(written->graph.size(), (s.bits + 7) / 8);
  EXPECT_EQ(
      s.bits_for_outdegrees + s.bits_for_references + s.bits_for_blocks + s.bits_for_intervals + s.bits_for_residuals,
      s.bits);
  EXPECT_EQ(s.copied_arcs + s.interval_arcs + s.residual_arcs, properties.arcs);
}

TEST(GraphRoundTripTest, EveryShapeWithTheDefaults) {
  for (const Shape shape : kShapes) {
    for (const NodeId nodes : {1U, 2U, 7U, 64U, 65U, 200U}) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", nodes " << nodes);
      ExpectRoundTrip(MakeGraph(shape, nodes, nodes), {});
    }
  }
}

TEST(GraphRoundTripTest, EveryShapeWithManyParameters) {
  for (const Shape shape : kShapes) {
    const Adjacency truth = MakeGraph(shape, 120, 3);
    for (const uint32_t window : {0U, 1U, 7U, 70U, 300U}) {
      for (const uint32_t max_refs : {0U, 1U, 3U, kUnlimitedRefs}) {
        for (const uint32_t min_interval : {0U, 1U, 2U, 4U}) {
          SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", window " << window
                                          << ", references " << max_refs << ", interval " << min_interval);
          ExpectRoundTrip(truth, {.window = window, .max_refs = max_refs, .min_interval = min_interval});
        }
      }
    }
  }
}

TEST(GraphRoundTripTest, EveryCodingOfEveryField) {
  const Adjacency truth = MakeGraph(Shape::kCopies, 150, 5);
  const Code codes[] = {Code::kUnary, Code::kGamma, Code::kDelta, Code::kZeta, Code::kNibble};
  Code GraphParameters::* const fields[] = {&GraphParameters::outdegrees,   &GraphParameters::references,
                                            &GraphParameters::block_counts, &GraphParameters::blocks,
                                            &GraphParameters::residuals,    &GraphParameters::offsets};
  for (const auto field : fields) {
    for (const Code code : codes) {
      for (const uint32_t k : {1U, 3U, 4U}) {
        GraphParameters parameters{.zeta_k = k};
        parameters.*field = code;
        SCOPED_TRACE(testing::Message() << CodeName(code) << " " << k);
        ExpectRoundTrip(truth, parameters);
      }
    }
  }
}

TEST(GraphRoundTripTest, NoNodesIsAGraph) { ExpectRoundTrip({}, {}); }

TEST(GraphRoundTripTest, TheTransposeOfTheTransposeIsTheGraph) {
  const Adjacency truth = MakeGraph(Shape::kSkewed, 300, 9);
  const Adjacency turned = truth.Transpose();
  EXPECT_EQ(turned.arcs(), truth.arcs());
  EXPECT_TRUE(turned.Transpose() == truth);
  ExpectRoundTrip(turned, {});
}

TEST(GraphWriterTest, TheWorkedExampleOfTheFormatPage) {
  Adjacency truth;
  for (const std::vector<NodeId>& list :
       {std::vector<NodeId>{3, 5, 7}, {3, 5, 7}, {3, 7}, {}, {0, 1, 2, 3, 6}, {}, {}, {}}) {
    truth.Add(list);
  }
  const auto written = Compress(truth, {});
  ASSERT_TRUE(written);
  std::string bits;
  for (uint64_t i = 0; i < written->properties.statistics.bits; ++i) {
    bits += (static_cast<uint8_t>(written->graph[i / 8]) >> (7 - i % 8) & 1) != 0 ? '1' : '0';
  }
  const std::string node0 = std::string("00100") + "1" + "1" + "1111" + "1010" + "1010";
  const std::string node1 = std::string("00100") + "01" + "1";
  const std::string node2 = std::string("011") + "01" + "011" + "010" + "1";
  const std::string node4 = std::string("00110") + "1" + "010" + "0001000" + "1" + "1101";
  EXPECT_EQ(bits, node0 + node1 + node2 + "1" + node4 + "1" + "1" + "1");
}

TEST(GraphWriterTest, SuccessorsThatAreNotInOrderAreRefused) {
  GraphWriter writer({});
  for (const std::vector<NodeId>& list : {std::vector<NodeId>{2, 1}, std::vector<NodeId>{3, 3}}) {
    const Status status = writer.Append(list);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(writer.nodes(), 0U);
}

TEST(GraphWriterTest, ASuccessorThatIsNoNodeIsRefusedAtTheEnd) {
  GraphWriter writer({});
  ASSERT_TRUE(writer.Append(std::vector<NodeId>{5}));
  const auto end = writer.Finish();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kInvalidArgument);
}

TEST(GraphWriterTest, BytesTakenOnTheWayAndAtTheEndAreTheWhole) {
  const Adjacency truth = MakeGraph(Shape::kCopies, 500, 1);
  GraphWriter writer({});
  std::string graph;
  std::string offsets;
  for (uint64_t node = 0; node < truth.nodes(); ++node) {
    ASSERT_TRUE(writer.Append(truth[node]));
    graph += writer.TakeGraph();
    offsets += writer.TakeOffsets();
  }
  const auto end = writer.Finish();
  const auto whole = Compress(truth, {});
  EXPECT_EQ(graph + end->graph, whole->graph);
  EXPECT_EQ(offsets + end->offsets, whole->offsets);
}

TEST(BvGraphTest, ANodeThatIsNotThereIsAnInvalidArgument) {
  const auto written = Compress(MakeGraph(Shape::kSparse, 10, 1), {});
  const auto graph = BvGraph::Open(written->properties, written->graph, written->offsets);
  BvGraph::Cursor cursor(*graph);
  EXPECT_EQ(graph->Successors(10, cursor).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(graph->Outdegree(10, cursor).error().code(), ErrorCode::kInvalidArgument);
}

TEST(GraphOffsetsTest, EveryOffsetIsFoundWhateverTheGaps) {
  std::mt19937_64 random(4);
  for (const unsigned most_bits : {1U, 6U, 14U, 30U}) {
    BitWriter writer;
    std::vector<uint64_t> expected;
    uint64_t at = 0;
    for (int i = 0; i < 3000; ++i) {
      const uint64_t gap = random() >> (64 - 1 - random() % most_bits);
      writer.WriteGamma(gap);
      expected.push_back(at += gap);
    }
    const auto offsets = GraphOffsets::Decode(writer.Finish(), expected.size() - 1, at, Code::kGamma, 3);
    ASSERT_TRUE(offsets) << offsets.error().ToString();
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ((*offsets)[i], expected[i]) << i;
  }
}

}  // namespace
}  // namespace portolan::graph
