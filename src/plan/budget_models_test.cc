// The figures that chapter VII of the thesis prints for IRLbot.

#include "plan/budget_models.h"

#include <gtest/gtest.h>

#include "plan/printed_figure.h"

namespace portolan {
namespace {

const BudgetParams kIrlbot;

TEST(BudgetModelsTest, NaiveSpeedsOfTheText) {
  EXPECT_TRUE(IsPrintedAs(NaiveBudgetSpeed(kIrlbot, 100e6) / 1e6, "3.7"));
  EXPECT_TRUE(IsPrintedAs(NaiveBudgetSpeed(kIrlbot, 8e9) / 1e6, "82"));
  EXPECT_TRUE(IsPrintedAs(NaiveBudgetSpeed(kIrlbot, 80e9) / 1e7, "82"));  // printed as 820, in two figures
}

TEST(BudgetModelsTest, BeastSpeedOfTheTextAtAnySize) {
  EXPECT_TRUE(IsPrintedAs(BeastSpeedLimit(kIrlbot) / 1e6, "8.2"));
  double before = 0;
  for (const double pages : {1e6, 100e6, 363e6, 800e6, 8e9, 80e9, 8e12}) {
    const double speed = BeastSpeed(kIrlbot, pages);
    EXPECT_GE(speed, before);
    EXPECT_LE(speed, BeastSpeedLimit(kIrlbot));
    before = speed;
  }
  EXPECT_NEAR(before, BeastSpeedLimit(kIrlbot), 1e3);
}

// Equation (31) with the text's E[B] = 11 and V = 33 million gives 12 and 111 queues. The printed 9 and 87 come out
// with E[B]·V = 462 million, E[B] = 14; the speeds above do not.
TEST(BudgetModelsTest, QueuesOfTheTextComeOutWithABudgetOfFourteen) {
  BudgetParams other = kIrlbot;
  other.budget = 14;
  EXPECT_TRUE(IsPrintedAs(BeastQueues(other, 8e9), "9"));
  EXPECT_TRUE(IsPrintedAs(BeastQueues(other, 80e9), "87"));
  EXPECT_TRUE(IsPrintedAs(BeastQueues(kIrlbot, 8e9), "12"));
  EXPECT_TRUE(IsPrintedAs(BeastQueues(kIrlbot, 80e9), "111"));
  EXPECT_FALSE(IsPrintedAs(NaiveBudgetSpeed(other, 8e9) / 1e6, "82"));
}

// The proofs' own counting: after i passes, 2^(i+1) - 1 queues are crawled and the last pass had 2^i.
TEST(BudgetModelsTest, TheoremSevenIsItsProof) {
  const double queue = kIrlbot.queue();
  for (int i = 1; i < 20; ++i) {
    const double j = std::exp2(i);
    const double pages = queue * (2 * j - 1);
    EXPECT_NEAR(BeastQueues(kIrlbot, pages), j, 1e-9 * j);
    const double urls = 2 * (pages * (kIrlbot.links_per_page - 1) + j * queue) / (j * queue);  // a page
    EXPECT_NEAR(BeastSpeed(kIrlbot, pages), urls * kIrlbot.pages_per_s * kIrlbot.url_bytes, 1);
  }
}

}  // namespace
}  // namespace portolan
