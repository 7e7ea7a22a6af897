// Against a graph that WebGraph wrote, and its adjacency.

#include "graph/testing/cnr2000.h"

#include <gtest/gtest.h>

#include "graph/testing/naive_decoder.h"
#include "graph/testing/round_trip.h"

namespace portolan::graph {
namespace {

class Cnr2000Test : public testing::Test {
 protected:
  void SetUp() override {
    if (!Cnr2000::Available()) GTEST_SKIP() << "no " << Cnr2000::Base();
    auto read = Cnr2000::Read();
    ASSERT_TRUE(read) << read.error().ToString();
    cnr_ = *std::move(read);
    auto properties = GraphProperties::Parse(cnr_.properties);
    ASSERT_TRUE(properties) << properties.error().ToString();
    properties_ = *properties;
    ASSERT_EQ(properties_.nodes, 325'557U);
    ASSERT_EQ(properties_.arcs, 3'216'152U);
    ASSERT_EQ(cnr_.truth.nodes(), properties_.nodes);
    ASSERT_EQ(cnr_.truth.arcs(), properties_.arcs);
  }

  static void ExpectReadsBack(const GraphWriter::End& written, const Adjacency& truth) {
    const auto scanned = ScanAll(written.properties, written.graph);
    ASSERT_TRUE(scanned) << scanned.error().ToString();
    EXPECT_TRUE(*scanned == truth);
    const auto graph = BvGraph::Open(written.properties, written.graph, written.offsets);
    ASSERT_TRUE(graph) << graph.error().ToString();
    const Status same = CompareAtRandom(*graph, truth);
    EXPECT_TRUE(same) << same.error().ToString();
    NaiveDecoder naive(written.properties, written.graph);
    Adjacency by_naive;
    for (const auto& list : naive.DecodeAll()) by_naive.Add(list);
    EXPECT_TRUE(by_naive == truth);
    EXPECT_EQ(naive.position(), written.properties.statistics.bits);
  }

  Cnr2000 cnr_;
  GraphProperties properties_;
};

TEST_F(Cnr2000Test, ScanGivesTheAdjacency) {
  const auto scanned = ScanAll(properties_, cnr_.graph);
  ASSERT_TRUE(scanned) << scanned.error().ToString();
  EXPECT_TRUE(*scanned == cnr_.truth);
}

TEST_F(Cnr2000Test, RandomAccessGivesTheAdjacency) {
  const auto graph = BvGraph::Open(properties_, cnr_.graph, cnr_.offsets);
  ASSERT_TRUE(graph) << graph.error().ToString();
  const Status same = CompareAtRandom(*graph, cnr_.truth);
  EXPECT_TRUE(same) << same.error().ToString();
  EXPECT_LE(graph->offsets().bits(), 9 * properties_.nodes);
}

TEST_F(Cnr2000Test, OurWritingTakesNoMoreBitsAndReadsBack) {
  const auto written = Compress(cnr_.truth, properties_.parameters);
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_LE(written->graph.size(), cnr_.graph.size());
  EXPECT_TRUE(written->graph == cnr_.graph);  // even the same bytes: ties are broken as WebGraph does
  EXPECT_TRUE(written->offsets == cnr_.offsets);
  ExpectReadsBack(*written, cnr_.truth);
}

TEST_F(Cnr2000Test, TheTransposeReadsBack) {
  const Adjacency turned = cnr_.truth.Transpose();
  EXPECT_TRUE(turned.Transpose() == cnr_.truth);
  // The file's own parameters, and those of the graphs that we build.
  for (const GraphParameters& parameters : {properties_.parameters, GraphParameters()}) {
    const auto written = Compress(turned, parameters);
    ASSERT_TRUE(written) << written.error().ToString();
    EXPECT_LT(written->properties.statistics.bits, 4 * turned.arcs());
    ExpectReadsBack(*written, turned);
  }
}

}  // namespace
}  // namespace portolan::graph
