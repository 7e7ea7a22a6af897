#include "graph/properties.h"

#include <gtest/gtest.h>

#include <string>

namespace portolan::graph {
namespace {

constexpr char kWebGraph[] =
    "#BVGraph properties\n#Mon Apr 03 14:58:33 CEST 2006\nbitspernode=35.15\narcs=16\nnodes=5\n"
    "graphclass=it.unimi.dsi.big.webgraph.BVGraph\nmaxrefcount=3\nwindowsize=7\nminintervallength=3\n"
    "compressionflags=\nversion=0\nzetak=3\n";

std::string With(const std::string& line) { return std::string(kWebGraph) + line + "\n"; }

TEST(GraphPropertiesTest, WhatWebGraphWritesIsRead) {
  const auto read = GraphProperties::Parse(kWebGraph);
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->nodes, 5U);
  EXPECT_EQ(read->arcs, 16U);
  EXPECT_EQ(read->parameters.window, 7U);
  EXPECT_EQ(read->parameters.max_refs, 3U);
  EXPECT_EQ(read->parameters.min_interval, 3U);
  EXPECT_EQ(read->parameters.residuals, Code::kZeta);
}

TEST(GraphPropertiesTest, TextReadsBackAsItWasWritten) {
  GraphProperties written;
  written.nodes = 10;
  written.arcs = 20;
  written.parameters = {.window = 3,
                        .max_refs = 9,
                        .min_interval = 0,
                        .zeta_k = 5,
                        .outdegrees = Code::kDelta,
                        .references = Code::kGamma,
                        .block_counts = Code::kUnary,
                        .blocks = Code::kDelta,
                        .residuals = Code::kNibble,
                        .offsets = Code::kDelta};
  written.statistics.bits = 77;
  written.statistics.copied_arcs = 4;
  const auto read = GraphProperties::Parse(written.ToText());
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->nodes, 10U);
  EXPECT_EQ(read->arcs, 20U);
  EXPECT_EQ(read->parameters, written.parameters);
  EXPECT_EQ(read->statistics, written.statistics);
  EXPECT_NE(written.ToText().find("compressionflags=OUTDEGREES_DELTA|BLOCKS_DELTA|RESIDUALS_NIBBLE|REFERENCES_GAMMA|"
                                  "BLOCK_COUNT_UNARY|OFFSETS_DELTA\n"),
            std::string::npos);
}

TEST(GraphPropertiesTest, FlagsMayStandBetweenBlanks) {
  const auto read = GraphProperties::Parse(With("compressionflags = RESIDUALS_GAMMA | BLOCK_COUNT_DELTA"));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->parameters.residuals, Code::kGamma);
  EXPECT_EQ(read->parameters.block_counts, Code::kDelta);
}

TEST(GraphPropertiesTest, MinusOneIsNoLimitOfReferences) {
  const auto read = GraphProperties::Parse(With("maxrefcount=-1"));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->parameters.max_refs, kUnlimitedRefs);
}

TEST(GraphPropertiesTest, WhatWeCannotReadIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"compressionflags=RESIDUALS_GOLOMB", "RESIDUALS_GOLOMB"},
      {"compressionflags=INTERVALS_DELTA", "INTERVALS_DELTA"},
      {"compressionflags=GAMMA", "GAMMA"},
      {"version=1", "version '1'"},
      {"endianness=little", "endianness 'little'"},
      {"graphclass=it.unimi.dsi.webgraph.EFGraph", "EFGraph"},
      {"windowsize=100000", "windowsize"},
      {"zetak=0", "zetak"},
      {"nodes=99999999999", "nodes"},
  };
  for (const auto& [line, name] : cases) {
    const auto read = GraphProperties::Parse(With(line));
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().code(), ErrorCode::kUnsupported) << line;
    EXPECT_NE(read.error().message().find(name), std::string::npos) << read.error().ToString();
  }
}

TEST(GraphPropertiesTest, WhatIsNoNumberOrMissingIsCorrupt) {
  for (const std::string& text : {With("nodes=-5"), With("arcs=x"), With("windowsize=99999999999"), With("zetak="),
                                  std::string("nodes=5\n"), std::string("arcs=5\n"), std::string()}) {
    const auto read = GraphProperties::Parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace portolan::graph
