#include "graph/hyper_ball.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/hyper_log_log.h"
#include "graph/testing/packed_graph.h"

namespace portolan::graph {
namespace {

struct TrueDistances {
  std::vector<double> harmonic;
  std::vector<double> neighbourhood;
};

// A breadth-first search from each node. Balls are along the arcs.
TrueDistances SearchAll(const Adjacency& graph) {
  TrueDistances found;
  found.harmonic.resize(graph.nodes());
  std::vector<uint64_t> at_distance = {0};
  for (uint64_t root = 0; root < graph.nodes(); ++root) {
    std::vector<int> distance(graph.nodes(), -1);
    std::vector<NodeId> queue = {static_cast<NodeId>(root)};
    distance[root] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      const auto d = static_cast<size_t>(distance[queue[i]]);
      if (at_distance.size() <= d) at_distance.resize(d + 1);
      ++at_distance[d];
      if (d > 0) found.harmonic[root] += 1.0 / static_cast<double>(d);
      for (const NodeId to : graph[queue[i]]) {
        if (distance[to] >= 0) continue;
        distance[to] = static_cast<int>(d) + 1;
        queue.push_back(to);
      }
    }
  }
  double sum = 0;
  for (const uint64_t pairs : at_distance) found.neighbourhood.push_back(sum += static_cast<double>(pairs));
  return found;
}

TEST(HyperBallTest, ErrorsAreWithinTheTheory) {
  constexpr int kSeeds = 8;
  for (const unsigned log2m : {6U, 9U}) {
    const double sigma = HyperLogLogError(log2m);
    double squares = 0;
    double samples = 0;
    for (const Adjacency& adjacency : ManyGraphs(120, 3)) {
      const PackedGraph packed(adjacency);
      const TrueDistances expected = SearchAll(adjacency);
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto result = HyperBall(packed.graph, {.log2m = log2m, .seed = seed});
        ASSERT_TRUE(result) << result.error().ToString();
        EXPECT_TRUE(result->complete);
        EXPECT_LT(result->iterations, std::max<size_t>(1, expected.neighbourhood.size()));
        ASSERT_EQ(result->harmonic.size(), adjacency.nodes());
        for (uint64_t node = 0; node < adjacency.nodes(); ++node) {
          // H + 1 is a positive combination of counters, so it deviates by no more than one of them. Small sets do not
          // deviate as large ones do: two elements that share a register count as one, and a whole element is missing.
          const double error = (result->harmonic[node] - expected.harmonic[node]) / (expected.harmonic[node] + 1);
          EXPECT_LE(std::abs(error), 5 * sigma + 1 / (expected.harmonic[node] + 1));
          squares += error * error;
          ++samples;
        }
        for (size_t t = 0; t < expected.neighbourhood.size(); ++t) {
          const double got = result->neighbourhood[std::min<size_t>(t, result->neighbourhood.size() - 1)];
          EXPECT_NEAR(got, expected.neighbourhood[t], 5 * sigma * expected.neighbourhood[t]);
        }
      }
    }
    EXPECT_LE(std::sqrt(squares / samples), sigma) << "log2m " << log2m;
    EXPECT_GT(squares, 0);
  }
}

TEST(HyperBallTest, BallsOfTheTransposeAreWhoReachesTheNode) {
  // All of a star's leaves link to its centre.
  std::vector<std::vector<NodeId>> lists(200, std::vector<NodeId>{0});
  lists[0].clear();
  const PackedGraph transpose(FromLists(lists).Transpose());
  const auto result = HyperBall(transpose.graph, {.log2m = 10});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->harmonic[0], 199, 5 * HyperLogLogError(10) * 200);
  for (size_t leaf = 1; leaf < 200; ++leaf) EXPECT_EQ(result->harmonic[leaf], 0);
  EXPECT_EQ(result->iterations, 1U);
}

TEST(HyperBallTest, TheSeedDecidesTheErrors) {
  const PackedGraph packed(MakeGraph(Shape::kSparse, 300, 5));
  const auto one = HyperBall(packed.graph, {.seed = 1});
  const auto again = HyperBall(packed.graph, {.seed = 1});
  const auto other = HyperBall(packed.graph, {.seed = 2});
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(one->harmonic, again->harmonic);
  EXPECT_NE(one->harmonic, other->harmonic);
}

TEST(HyperBallTest, StopsEarlyAndSaysSo) {
  const PackedGraph packed(Chain(50));
  const auto by_number = HyperBall(packed.graph, {.max_iterations = 4});
  ASSERT_TRUE(by_number);
  EXPECT_FALSE(by_number->complete);
  EXPECT_EQ(by_number->iterations, 4U);
  EXPECT_EQ(by_number->neighbourhood.size(), 5U);
  const auto by_threshold = HyperBall(packed.graph, {.threshold = 0.2});
  ASSERT_TRUE(by_threshold);
  EXPECT_FALSE(by_threshold->complete);
  EXPECT_LT(by_threshold->iterations, 20U);
}

TEST(HyperBallTest, CountersOutOfRangeAreRefused) {
  const PackedGraph packed(Chain(3));
  EXPECT_EQ(HyperBall(packed.graph, {.log2m = 3}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(HyperBall(packed.graph, {.log2m = 17}).error().code(), ErrorCode::kInvalidArgument);
}

TEST(HyperBallTest, BytesAreAsTheHeaderSays) {
  EXPECT_EQ(HyperBallBytes(1000, 6), 132'250U);
  EXPECT_EQ(HyperBallBytes(1000, 4), 36'250U);
}

TEST(HyperLogLogTest, EstimatesLargeSetsWithinFiveDeviations) {
  for (const uint64_t size : {100ULL, 10'000ULL, 300'000ULL}) {
    HyperLogLogArray counters(2, 10);
    for (uint64_t i = 0; i < size; ++i) counters.Add(1, Mix64(i * 0x9e3779b97f4a7c15));
    const double expected = static_cast<double>(size);
    EXPECT_NEAR(counters.Estimate(counters[1]), expected, 5 * HyperLogLogError(10) * expected);
    EXPECT_EQ(counters.Estimate(counters[0]), 0);
  }
}

TEST(HyperLogLogTest, AHashOfZerosFitsItsRegister) {
  HyperLogLogArray counters(1, 4);
  counters.Add(0, 0);
  EXPECT_EQ(counters[0][0], 60);
  EXPECT_GT(counters.Estimate(counters[0]), 0);
}

TEST(DistancesTest, OfAChainAreExact) {
  // Three nodes: 2 pairs at distance 1, 1 at distance 2.
  const DistanceStats stats = DistancesOf({3, 5, 6});
  EXPECT_DOUBLE_EQ(stats.pairs, 3);
  EXPECT_DOUBLE_EQ(stats.reachable, 0.5);
  EXPECT_DOUBLE_EQ(stats.average, 4.0 / 3);
  EXPECT_DOUBLE_EQ(stats.effective_diameter, 1 + (0.9 - 2.0 / 3) * 3);
  EXPECT_EQ(stats.longest, 2U);
  EXPECT_EQ(stats.fractions.size(), 3U);
  EXPECT_DOUBLE_EQ(stats.fractions[2], 1.0 / 3);
}

TEST(DistancesTest, WithoutPairsThereIsNothing) {
  for (const std::vector<double>& none : {std::vector<double>{}, {0}, {7}, {7, 7}}) {
    const DistanceStats stats = DistancesOf(none);
    EXPECT_EQ(stats.pairs, 0);
    EXPECT_EQ(stats.average, 0);
    EXPECT_TRUE(stats.fractions.empty());
  }
}

}  // namespace
}  // namespace portolan::graph
