#include "graph/degree_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "graph/testing/cnr2000.h"
#include "graph/testing/packed_graph.h"

namespace portolan::graph {
namespace {

using Counts = std::vector<std::pair<uint64_t, uint64_t>>;

void ExpectDegreesOf(const DegreeStats& stats, const Adjacency& graph) {
  std::map<uint64_t, uint64_t> counts;
  uint64_t max = 0;
  for (uint64_t node = 0; node < graph.nodes(); ++node) {
    ++counts[graph[node].size()];
    max = std::max<uint64_t>(max, graph[node].size());
  }
  EXPECT_EQ(stats.nodes, graph.nodes());
  EXPECT_EQ(stats.arcs, graph.arcs());
  EXPECT_EQ(stats.max, max);
  EXPECT_EQ(stats.zero, counts.contains(0) ? counts[0] : 0);
  EXPECT_EQ(stats.counts, Counts(counts.begin(), counts.end()));
  if (graph.nodes() > 0) {
    EXPECT_EQ(graph[stats.max_node].size(), max);
    EXPECT_DOUBLE_EQ(stats.mean, static_cast<double>(graph.arcs()) / static_cast<double>(graph.nodes()));
  }
}

TEST(DegreeStatsTest, AreThoseOfTheAdjacency) {
  for (const Adjacency& adjacency : ManyGraphs(100, 10)) {
    const PackedGraph packed(adjacency);
    const auto stats = MeasureDegrees(packed.graph);
    ASSERT_TRUE(stats) << stats.error().ToString();
    ExpectDegreesOf(*stats, adjacency);
  }
  const PackedGraph wide(MakeGraph(Shape::kComplete, 1500, 0));
  const auto stats = MeasureDegrees(wide.graph);
  ASSERT_TRUE(stats);
  ExpectDegreesOf(*stats, wide.truth);
  EXPECT_EQ(stats->loops, 1500U);
}

TEST(DegreeStatsTest, OfCnr2000AreThoseOfItsAdjacency) {
  if (!Cnr2000::Available()) GTEST_SKIP() << "no " << Cnr2000::Base();
  const auto cnr = Cnr2000::Read();
  ASSERT_TRUE(cnr);
  const auto properties = GraphProperties::Parse(cnr->properties);
  ASSERT_TRUE(properties);
  const auto graph = BvGraph::Open(*properties, cnr->graph, cnr->offsets);
  ASSERT_TRUE(graph);
  const auto out = MeasureDegrees(*graph);
  ASSERT_TRUE(out);
  ExpectDegreesOf(*out, cnr->truth);
  // Indegrees by counting arcs: nothing of the transpose is used.
  std::vector<uint64_t> indegree(cnr->truth.nodes());
  for (uint64_t node = 0; node < cnr->truth.nodes(); ++node) {
    for (const NodeId to : cnr->truth[node]) ++indegree[to];
  }
  const PackedGraph transpose(cnr->truth.Transpose());
  const auto in = MeasureDegrees(transpose.graph);
  ASSERT_TRUE(in);
  EXPECT_EQ(in->max, *std::max_element(indegree.begin(), indegree.end()));
  EXPECT_EQ(in->zero, static_cast<uint64_t>(std::count(indegree.begin(), indegree.end(), 0U)));
  ASSERT_TRUE(in->fit);
  EXPECT_GT(in->fit->alpha, 1.5);
  EXPECT_LT(in->fit->alpha, 3.5);
}

TEST(PowerLawTest, ZetaHasItsKnownValues) {
  constexpr double kPi = 3.14159265358979323846;
  EXPECT_NEAR(HurwitzZeta(2, 1), kPi * kPi / 6, 1e-13);
  EXPECT_NEAR(HurwitzZeta(4, 1), std::pow(kPi, 4) / 90, 1e-13);
  EXPECT_NEAR(HurwitzZeta(1.5, 1), 2.6123753486854883, 1e-12);
  for (const double s : {1.1, 2.3, 8.0, 29.0}) {
    for (const double q : {1.0, 5.0, 40.0, 1e6}) {  // zeta(s, q) - zeta(s, q + 1) = q^-s
      const double zeta = HurwitzZeta(s, q);
      EXPECT_NEAR((zeta - HurwitzZeta(s, q + 1)) / zeta, std::pow(q, -s) / zeta, 1e-12);
    }
  }
}

Counts CountOf(const std::vector<uint64_t>& samples) {
  std::map<uint64_t, uint64_t> counts;
  for (const uint64_t x : samples) ++counts[x];
  return {counts.begin(), counts.end()};
}

// A discrete power law from x_min on, by inversion.
uint64_t Draw(std::mt19937_64& random, double alpha, uint64_t x_min) {
  const double u = std::uniform_real_distribution<double>(0, 1)(random);
  const double whole = HurwitzZeta(alpha, static_cast<double>(x_min));
  uint64_t low = x_min;  // P(X >= low) > u
  uint64_t high = x_min;
  while (HurwitzZeta(alpha, static_cast<double>(high)) / whole > u) high *= 2;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (HurwitzZeta(alpha, static_cast<double>(middle)) / whole > u ? low : high) = middle;
  }
  return low;
}

TEST(PowerLawTest, FindsTheExponentOfItsSamples) {
  std::mt19937_64 random(7);
  for (const double alpha : {1.8, 2.1, 3.0}) {
    std::vector<uint64_t> samples;
    for (int i = 0; i < 20'000; ++i) samples.push_back(Draw(random, alpha, 1));
    const auto fit = FitPowerLaw(CountOf(samples));
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->alpha, alpha, 5 * fit->sigma);
    EXPECT_LE(fit->distance, 0.9 / std::sqrt(static_cast<double>(fit->tail)));
  }
}

TEST(PowerLawTest, FindsWhereTheLawBegins) {
  std::mt19937_64 random(8);
  std::vector<uint64_t> samples;
  for (int i = 0; i < 10'000; ++i) samples.push_back(1 + random() % 19);
  for (int i = 0; i < 10'000; ++i) samples.push_back(Draw(random, 2.5, 20));
  const auto fit = FitPowerLaw(CountOf(samples));
  ASSERT_TRUE(fit);
  EXPECT_GE(fit->x_min, 20U);
  EXPECT_LE(fit->x_min, 60U);
  EXPECT_NEAR(fit->alpha, 2.5, 5 * fit->sigma);
}

// All values as x_min, a grid of exponents, zeta and distribution as sums over each whole number up to the highest and
// an integral beyond.
std::optional<PowerLawFit> NaiveFit(const std::vector<uint64_t>& samples) {
  const uint64_t highest = *std::max_element(samples.begin(), samples.end());
  std::optional<PowerLawFit> best;
  for (const auto& [x_min, unused] : CountOf(samples)) {
    std::vector<uint64_t> tail;
    double logs = 0;
    for (const uint64_t x : samples) {
      if (x < x_min) continue;
      tail.push_back(x);
      logs += std::log(static_cast<double>(x));
    }
    if (tail.size() < kMinPowerLawTail || x_min == highest) continue;
    const auto zeta = [](double alpha, uint64_t from) {
      double sum = 0;
      const uint64_t end = from + 3000;
      for (uint64_t x = from; x < end; ++x) sum += std::pow(static_cast<double>(x), -alpha);
      return sum + std::pow(static_cast<double>(end) - 0.5, 1 - alpha) / (alpha - 1);
    };
    double alpha = 0;
    double most = -1e300;
    for (double a = 1.5; a < 6; a += 0.01) {
      const double likelihood = -a * logs - static_cast<double>(tail.size()) * std::log(zeta(a, x_min));
      if (likelihood > most) most = likelihood, alpha = a;
    }
    const double whole = zeta(alpha, x_min);
    double fit = 0;
    double distance = 0;
    for (uint64_t x = x_min; x <= highest; ++x) {
      fit += std::pow(static_cast<double>(x), -alpha) / whole;
      const auto below = std::count_if(tail.begin(), tail.end(), [x](uint64_t y) { return y <= x; });
      distance = std::max(distance, std::abs(fit - static_cast<double>(below) / static_cast<double>(tail.size())));
    }
    if (!best || distance < best->distance) best = {alpha, 0, x_min, tail.size(), distance};
  }
  return best;
}

TEST(PowerLawTest, AgreesWithANaiveFit) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 3; ++round) {
    std::vector<uint64_t> samples;
    while (samples.size() < 300) {
      const uint64_t x = Draw(random, 2.2 + 0.3 * round, 1) + random() % 3;
      if (x <= 64) samples.push_back(x);  // where each value is tried
    }
    const auto fit = FitPowerLaw(CountOf(samples));
    const auto naive = NaiveFit(samples);
    ASSERT_TRUE(fit && naive);
    EXPECT_NEAR(fit->distance, naive->distance, 0.003);
    EXPECT_EQ(fit->x_min, naive->x_min);
    EXPECT_NEAR(fit->alpha, naive->alpha, 0.011);
  }
}

TEST(PowerLawTest, TooLittleGivesNoFit) {
  EXPECT_FALSE(FitPowerLaw({}));
  EXPECT_FALSE(FitPowerLaw({{0, 1000}}));
  EXPECT_FALSE(FitPowerLaw({{0, 1000}, {3, 1000}}));
  EXPECT_FALSE(FitPowerLaw({{1, 20}, {2, 10}, {3, 5}}));
  EXPECT_TRUE(FitPowerLaw({{1, 30}, {2, 15}, {3, 5}}));
}

}  // namespace
}  // namespace portolan::graph
