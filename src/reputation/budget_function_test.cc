#include "reputation/budget_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::HasSubstr;

BudgetTable Make(std::string_view text, const std::vector<uint32_t>& in_degrees = {}) {
  auto function = ParseBudgetFunction(text);
  EXPECT_TRUE(function) << function.error().ToString();
  InDegreeRanks ranks((*function)->ranks());
  for (const uint32_t in_degree : in_degrees) ranks.Add(in_degree);
  const OtherShards nobody;
  CrawlRanks of_one(ranks, nobody);
  return (*function)->Make(of_one);
}

// Few with very many links, most with hardly any.
std::vector<uint32_t> PowerLaw(size_t count, double exponent, Rng& rng) {
  std::vector<uint32_t> in_degrees;
  for (size_t i = 0; i < count; ++i) {
    const double drawn = std::pow(1.0 - rng.Uniform(), -1.0 / (exponent - 1.0)) - 1.0;
    in_degrees.push_back(static_cast<uint32_t>(std::min(drawn, 3e9)));
  }
  return in_degrees;
}

// The definition: sort all, give each rank its budget, give equal ones that of their mean rank.
std::map<uint32_t, double> RankedBySorting(std::vector<uint32_t> in_degrees, size_t top, double least, double most,
                                           bool flat) {
  std::erase(in_degrees, 0);
  std::sort(in_degrees.begin(), in_degrees.end(), std::greater<>());
  std::map<uint32_t, double> budgets{{0, least}};
  for (size_t begin = 0; begin < in_degrees.size();) {
    size_t end = begin;
    double sum = 0;
    for (; end < in_degrees.size() && in_degrees[end] == in_degrees[begin]; ++end) {
      sum += static_cast<double>(end + 1);
    }
    const double rank = sum / static_cast<double>(end - begin);
    double budget = least;
    if (rank <= static_cast<double>(top)) {
      budget = flat || top == 1 ? most : most - (most - least) * (rank - 1) / static_cast<double>(top - 1);
    }
    budgets[in_degrees[begin]] = budget;
    begin = end;
  }
  return budgets;
}

TEST(InDegreeRanksTest, ClassesAreThoseOfAFullSort) {
  Rng rng(1);
  for (int run = 0; run < 300; ++run) {
    const size_t top = rng.Below(60);
    const size_t count = rng.Below(300);
    const uint64_t different = 1 + rng.Below(100);
    InDegreeRanks ranks(top);
    std::vector<uint32_t> all;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(static_cast<uint32_t>(rng.Below(different)));
      ranks.Add(all.back());
    }
    std::erase(all, 0);
    std::sort(all.begin(), all.end(), std::greater<>());
    EXPECT_EQ(ranks.domains(), count);
    EXPECT_EQ(ranks.linked(), all.size());
    uint64_t reached = 0;
    ranks.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t equal) {
      ASSERT_EQ(above, reached);
      ASSERT_LT(above, top);
      ASSERT_EQ(above, static_cast<uint64_t>(
                           std::count_if(all.begin(), all.end(), [&](uint32_t other) { return other > in_degree; })));
      ASSERT_EQ(equal, static_cast<uint64_t>(std::count(all.begin(), all.end(), in_degree)));
      reached = above + equal;
    });
    EXPECT_GE(reached, std::min(top, all.size()));
  }
}

TEST(BudgetFunctionTest, TheDefaultIsThePapers) {
  std::vector<uint32_t> in_degrees;
  for (uint32_t i = 1; i <= 20'000; ++i) in_degrees.push_back(i * 7);
  for (const std::string_view text : {kDefaultBudgetFunction, std::string_view("ranked")}) {
    const BudgetTable table = Make(text, in_degrees);
    EXPECT_EQ(table.BudgetOf(20'000 * 7), 10'000U);
    EXPECT_EQ(table.BudgetOf(19'999 * 7), 9'999U);
    EXPECT_EQ(table.BudgetOf(10'001 * 7), 10U) << "rank 10,000";
    EXPECT_EQ(table.BudgetOf(10'000 * 7), 10U) << "rank 10,001";
    EXPECT_EQ(table.BudgetOf(0), 10U);
    EXPECT_EQ(table.BudgetOf(~uint32_t{0}), 10'000U);
    EXPECT_LE(table.steps().size(), 10'001U);
  }
}

TEST(BudgetFunctionTest, BeforeAnythingIsKnownEverybodyHasTheLeast) {
  EXPECT_EQ(Make("ranked least=7"), BudgetTable::Equal(7));
  EXPECT_EQ(Make("popular"), BudgetTable::Equal(1));
  EXPECT_EQ(Make("ranked least=7", {0, 0, 0}), BudgetTable::Equal(7));
}

TEST(BudgetFunctionTest, RankedBudgetsAreThoseOfAFullSort) {
  Rng rng(2);
  for (int run = 0; run < 30; ++run) {
    const std::vector<uint32_t> in_degrees = PowerLaw(1 + rng.Below(30'000), 1.6 + rng.Uniform(), rng);
    const size_t top = 1 + rng.Below(3'000);
    const auto least = 1 + rng.Below(20);
    const auto most = least + rng.Below(20'000);
    for (const bool flat : {false, true}) {
      const BudgetTable table = Make((flat ? "popular" : "ranked") + std::string(" top=") + std::to_string(top) +
                                         " least=" + std::to_string(least) + " most=" + std::to_string(most),
                                     in_degrees);
      const auto expected =
          RankedBySorting(in_degrees, top, static_cast<double>(least), static_cast<double>(most), flat);
      uint32_t before = 0;
      for (const auto& [in_degree, budget] : expected) {
        const uint32_t found = table.BudgetOf(in_degree);
        ASSERT_NEAR(found, budget, 0.5 + 1e-6) << "in-degree " << in_degree;
        ASSERT_GE(found, before) << "budgets rise with the in-degree";
        ASSERT_GE(found, 1U);
        before = found;
      }
    }
  }
}

// Without ties the ranks are 1 … n, so the sum of the budgets is known beforehand.
TEST(BudgetFunctionTest, WithoutTiesTheBudgetsAreOneToEachRank) {
  std::vector<uint32_t> in_degrees;
  for (uint32_t i = 0; i < 5'000; ++i) in_degrees.push_back(1 + (i * 7919U % 5'000) * 31);
  const BudgetTable table = Make("ranked top=1000 least=1 most=1000", in_degrees);
  std::vector<uint32_t> budgets;
  for (const uint32_t in_degree : in_degrees) budgets.push_back(table.BudgetOf(in_degree));
  std::sort(budgets.begin(), budgets.end(), std::greater<>());
  for (uint32_t rank = 1; rank <= 5'000; ++rank) ASSERT_EQ(budgets[rank - 1], rank <= 1000 ? 1001 - rank : 1) << rank;
}

// A young crawl knows few domains: the top must not be all of them.
TEST(BudgetFunctionTest, OneInBoundsTheTopByTheDomainsThatAreKnown) {
  std::vector<uint32_t> in_degrees(900, 0);  // domains without links to them count as known
  for (uint32_t i = 1; i <= 100; ++i) in_degrees.push_back(i);
  EXPECT_EQ(Make("ranked top=500 one_in=50", in_degrees), Make("ranked top=20", in_degrees));
  EXPECT_EQ(Make("popular top=500 one_in=100", in_degrees), Make("popular top=10", in_degrees));
  EXPECT_EQ(Make("ranked top=15 one_in=50", in_degrees), Make("ranked top=15", in_degrees)) << "top still holds";
  EXPECT_EQ(Make("ranked top=500 one_in=5000", in_degrees), Make("ranked top=1", in_degrees)) << "at least one";
  EXPECT_EQ(Make("ranked top=500 one_in=1", in_degrees), Make("ranked top=500", in_degrees));
}

TEST(BudgetFunctionTest, PopularGivesTheMostToTheTopAndTheLeastToOthers) {
  const BudgetTable table = Make("popular top=2 most=500", {5, 9, 7, 1, 0});
  EXPECT_EQ(table.BudgetOf(9), 500U);
  EXPECT_EQ(table.BudgetOf(7), 500U);
  EXPECT_EQ(table.BudgetOf(6), 1U);
  EXPECT_EQ(table.BudgetOf(0), 1U);
}

TEST(BudgetFunctionTest, EqualIsEqual) {
  EXPECT_EQ(Make("equal"), BudgetTable::Equal(10));
  EXPECT_EQ(Make("  equal   budget=33 "), BudgetTable::Equal(33));
}

TEST(BudgetFunctionTest, ProportionalAndInverseAreTheirFormulas) {
  Rng rng(3);
  for (int run = 0; run < 200; ++run) {
    const uint64_t least = 1 + rng.Below(rng.Chance(0.5) ? 50 : 60'000);
    const uint64_t most = least + rng.Below(rng.Chance(0.5) ? 50 : kMaxBudget - least + 1);
    const uint64_t per_link = 1 + rng.Below(rng.Chance(0.8) ? 50 : 60'000);
    const std::string bounds = " least=" + std::to_string(least) + " most=" + std::to_string(most);
    const BudgetTable proportional = Make("proportional per_link=" + std::to_string(per_link) + bounds);
    const BudgetTable inverse = Make("inverse" + bounds);
    const auto check = [&](uint32_t in_degree) {
      ASSERT_EQ(proportional.BudgetOf(in_degree), std::clamp(per_link * in_degree, least, most)) << in_degree << bounds;
      ASSERT_EQ(inverse.BudgetOf(in_degree), in_degree == 0 ? most : std::max(least, most / in_degree))
          << in_degree << bounds;
    };
    for (uint32_t in_degree = 0; in_degree < 300; ++in_degree) check(in_degree);
    for (int i = 0; i < 300; ++i) check(static_cast<uint32_t>(rng.Below(70'000)));
    check(~uint32_t{0});
  }
}

TEST(BudgetFunctionTest, ATableIsItsSteps) {
  const BudgetTable table = Make("table 0:10 5:100 1000:65535");
  EXPECT_EQ(table.BudgetOf(0), 10U);
  EXPECT_EQ(table.BudgetOf(4), 10U);
  EXPECT_EQ(table.BudgetOf(5), 100U);
  EXPECT_EQ(table.BudgetOf(999), 100U);
  EXPECT_EQ(table.BudgetOf(4'000'000'000), 65'535U);
}

TEST(BudgetFunctionTest, NonsenseIsNamed) {
  const auto said = [](std::string_view text) {
    const auto function = ParseBudgetFunction(text);
    if (function) return std::string("no error");
    EXPECT_EQ(function.error().code(), ErrorCode::kInvalidArgument);
    return function.error().message();
  };
  EXPECT_THAT(said(""), HasSubstr("there are: ranked, popular, equal"));
  EXPECT_THAT(said("rankd"), HasSubstr("did you mean 'ranked'?"));
  EXPECT_THAT(said("zzzzzzzzzzzz"), HasSubstr("no budget function 'zzzzzzzzzzzz'"));
  EXPECT_THAT(said("ranked tpo=3"), HasSubstr("did you mean 'top'?"));
  EXPECT_THAT(said("ranked top"), HasSubstr("'top': top must be a number from 1 to 32768"));
  EXPECT_THAT(said("ranked top=0"), HasSubstr("from 1 to 32768"));
  EXPECT_THAT(said("ranked top=40000"), HasSubstr("from 1 to 32768"));
  EXPECT_THAT(said("ranked top=3 top=4"), HasSubstr("given twice"));
  EXPECT_THAT(said("ranked least=0"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(said("ranked most=1e5"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(said("ranked most=-5"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(said("popular least=20 most=10"), HasSubstr("least=20 is more than most=10"));
  EXPECT_THAT(said("equal budget=99999999999999999999999"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(said("table"), HasSubstr("must begin at in-degree 0"));
  EXPECT_THAT(said("table 5:10"), HasSubstr("must begin at in-degree 0"));
  EXPECT_THAT(said("table 0:10 5"), HasSubstr("'5': a step must be in-degree:budget"));
  EXPECT_THAT(said("table 0:0"), HasSubstr("a budget from 1"));
  EXPECT_THAT(said("table 0:1 9:2 9:3"), HasSubstr("rise"));
}

TEST(BudgetTableTest, AFileKeepsIt) {
  MemEnv env;
  Rng rng(4);
  for (int run = 0; run < 20; ++run) {
    std::vector<BudgetStep> steps;
    uint32_t from = 0;
    for (uint64_t i = 0, count = 1 + rng.Below(run == 0 ? BudgetTable::kMaxSteps : 3000); i < count; ++i) {
      steps.push_back({.from = from,
                       .budget = static_cast<uint16_t>(1 + rng.Below(65'535)),
                       .rise = static_cast<uint16_t>(rng.Below(3))});
      from += static_cast<uint32_t>(1 + rng.Below(1000));
    }
    const BudgetTable table = BudgetTable::Make(steps).value();
    const auto length = WriteBudgetTable(env, "t", table);
    ASSERT_TRUE(length);
    const auto read = ReadBudgetTable(env, "t", *length);
    ASSERT_TRUE(read) << read.error().ToString();
    ASSERT_EQ(*read, table);
    // A file that is not a table is refused.
    const auto cut = ReadBudgetTable(env, "t", 16);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code(), ErrorCode::kCorrupt);
    env.Corrupt("t", 20, "\xff\xff\xff\xff");
    const auto damaged = ReadBudgetTable(env, "t", *length);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace portolan
