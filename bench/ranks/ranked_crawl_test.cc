// The ranks of domains find the popular ones; and the measures of that are what they should be.

#include "bench/ranks/ranked_crawl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "bench/ranks/rank_agreement.h"
#include "sim/world/params.h"

namespace portolan::bench {
namespace {

TEST(RankAgreementTest, OfTheSameOrderIsOneAndOfTheReverseMinusOne) {
  const std::vector<double> rising = {1, 2, 3, 7, 9};
  const std::vector<double> again = {-5, 0, 1, 2, 100};
  const std::vector<double> falling = {9, 8, 7, 6, 5};
  EXPECT_DOUBLE_EQ(SpearmanRho(rising, again), 1);
  EXPECT_DOUBLE_EQ(KendallTau(rising, again), 1);
  EXPECT_DOUBLE_EQ(SpearmanRho(rising, falling), -1);
  EXPECT_DOUBLE_EQ(KendallTau(rising, falling), -1);
  EXPECT_EQ(SpearmanRho(rising, {2, 2, 2, 2, 2}), 0);
  EXPECT_EQ(KendallTau(rising, {2, 2, 2, 2, 2}), 0);
  // By hand: the ranks of the second are 0.5 0.5 2.5 2.5; 4 concordant pairs, 2 tied.
  EXPECT_NEAR(SpearmanRho({1, 2, 3, 4}, {1, 1, 2, 2}), 0.894427, 1e-6);
  EXPECT_NEAR(KendallTau({1, 2, 3, 4}, {1, 1, 2, 2}), 4 / std::sqrt(6.0 * 4.0), 1e-12);
}

TEST(RankAgreementTest, TauIsThatOfAllPairs) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> a;
    std::vector<double> b;
    for (uint64_t n = 2 + random() % 40; n > 0; --n) {
      a.push_back(static_cast<double>(random() % 12));
      b.push_back(static_cast<double>(random() % 9));
    }
    double difference = 0;
    double of_a = 0;
    double of_b = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double signs = (a[i] - a[j]) * (b[i] - b[j]);
        difference += signs > 0 ? 1 : signs < 0 ? -1 : 0;
        of_a += a[i] != a[j];
        of_b += b[i] != b[j];
      }
    }
    const double expected = of_a > 0 && of_b > 0 ? difference / std::sqrt(of_a * of_b) : 0;
    EXPECT_NEAR(KendallTau(a, b), expected, 1e-12);
  }
}

TEST(RankedCrawlTest, RanksOfTheGraphFindTheTruePopularity) {
  sim::WorldParams params = sim::LoadProfile("demo").value();
  params.domains = 400;
  params.pages = 20'000;
  params.addresses = 400;
  const auto world = sim::World::Create(params, 2).value();
  std::string name = (std::filesystem::temp_directory_path() / "ranked_crawl_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto outcome = RunRankedCrawl(*world, {.pages = 4000, .dir = name});
  std::filesystem::remove_all(name);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_GE(outcome->fetched, 4000U);
  EXPECT_GT(outcome->compared, 300U);
  EXPECT_EQ(outcome->compared, outcome->domains);
  ASSERT_EQ(outcome->of.size(), kRankings.size());
  for (const RankOutcome& rank : outcome->of) {
    std::printf("%-9s Spearman %.3f, Kendall %.3f\n", std::string(rank.ranking).c_str(), rank.spearman, rank.kendall);
    EXPECT_GT(rank.spearman, 0.6) << rank.ranking;
    EXPECT_GT(rank.kendall, 0.4) << rank.ranking;
    EXPECT_EQ(rank.farms_in_first, 0U);
  }
  EXPECT_GT(outcome->star_agrees, 0.5);
}

}  // namespace
}  // namespace portolan::bench
