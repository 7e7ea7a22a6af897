#include "graph/page_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "graph/testing/packed_graph.h"

namespace portolan::graph {
namespace {

// Solves (I - a P^T) x = (1 - a) / n by elimination, with P dense and its dangling rows even.
std::vector<double> DenseRanks(const Adjacency& graph, double damping) {
  const size_t n = graph.nodes();
  const double even = 1.0 / static_cast<double>(n);
  std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1, 0.0));
  for (size_t from = 0; from < n; ++from) {
    const auto list = graph[from];
    for (size_t to = 0; to < n && list.empty(); ++to) rows[to][from] -= damping * even;
    for (const NodeId to : list) rows[to][from] -= damping / static_cast<double>(list.size());
    rows[from][from] += 1;
    rows[from][n] = (1 - damping) * even;
  }
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row) {
      if (std::abs(rows[row][column]) > std::abs(rows[pivot][column])) pivot = row;
    }
    std::swap(rows[column], rows[pivot]);
    for (size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (size_t at = column; at <= n; ++at) rows[row][at] -= factor * rows[column][at];
    }
  }
  std::vector<double> ranks(n);
  for (size_t row = 0; row < n; ++row) ranks[row] = rows[row][n] / rows[row][row];
  return ranks;
}

TEST(PageRankTest, IsTheSolutionOfTheDenseEquations) {
  for (const Adjacency& adjacency : ManyGraphs(40, 12)) {
    const PackedGraph packed(adjacency);
    for (const double damping : {0.0, 0.5, 0.85}) {
      const auto result = PageRank(packed.graph, {.damping = damping, .tolerance = 1e-9});
      ASSERT_TRUE(result) << result.error().ToString();
      EXPECT_TRUE(result->converged);
      EXPECT_LE(result->residual, 1e-9);
      const std::vector<double> expected = DenseRanks(adjacency, damping);
      ASSERT_EQ(result->ranks.size(), expected.size());
      double error = 0;
      for (size_t node = 0; node < expected.size(); ++node) error += std::abs(result->ranks[node] - expected[node]);
      EXPECT_LE(error, damping / (1 - damping) * 1e-9 + 1e-12);  // the bound that the header promises
    }
  }
}

TEST(PageRankTest, NoNodesGiveNoRanks) {
  const PackedGraph packed(FromLists({}));
  const auto result = PageRank(packed.graph, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->ranks.empty());
  EXPECT_TRUE(result->converged);
  EXPECT_EQ(result->iterations, 0U);
}

TEST(PageRankTest, NodesOfACycleAreEqual) {
  const PackedGraph packed(Cycle(8));
  const auto result = PageRank(packed.graph, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->iterations, 1U);
  for (const double rank : result->ranks) EXPECT_NEAR(rank, 1.0 / 8, 1e-15);
}

TEST(PageRankTest, DanglingMassIsSpreadAndNothingIsLost) {
  const PackedGraph packed(Chain(30));
  const auto result = PageRank(packed.graph, {.tolerance = 1e-12});
  ASSERT_TRUE(result);
  EXPECT_NEAR(std::accumulate(result->ranks.begin(), result->ranks.end(), 0.0), 1, 1e-12);
  for (size_t node = 1; node < 30; ++node) EXPECT_GT(result->ranks[node], result->ranks[node - 1]);
}

TEST(PageRankTest, StopsAtTheMostIterationsAndSaysSo) {
  const PackedGraph packed(Chain(30));
  std::vector<double> residuals;
  PageRankOptions options{.tolerance = 1e-12, .max_iterations = 3};
  options.on_iteration = [&](uint32_t iteration, double residual) {
    residuals.push_back(residual);
    EXPECT_EQ(iteration, residuals.size());
  };
  const auto result = PageRank(packed.graph, options);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->converged);
  EXPECT_EQ(result->iterations, 3U);
  ASSERT_EQ(residuals.size(), 3U);
  EXPECT_EQ(residuals.back(), result->residual);
}

TEST(PageRankTest, OptionsOutOfRangeAreRefused) {
  const PackedGraph packed(Chain(3));
  for (const double damping : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(PageRank(packed.graph, {.damping = damping}).error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(PageRank(packed.graph, {.tolerance = 0}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(PageRank(packed.graph, {.max_iterations = 0}).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace portolan::graph
