// What is learnt about many pages together: priors of hosts and directories, belief in signals, the price of a visit.

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
#include "fresh/change_estimate.h"
#include "fresh/condition_trust.h"
#include "fresh/rate_groups.h"
#include "fresh/signal_trust.h"
#include "fresh/threshold.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

class RateGroupsTest : public testing::Test {
 protected:
  // Pages of one directory that change with this rate, visited a few times each.
  void Visit(const RateKeys& keys, double rate, int pages) {
    for (int page = 0; page < pages; ++page) {
      ChangeEstimate estimate;
      for (uint32_t visit = 1; visit <= 4; ++visit) {
        const double days = 0.5 + 4 * rng_.Uniform();
        estimate.Observe(groups_->Prior(keys), days, rng_.Chance(-std::expm1(-rate * days)));
        groups_->Learn(keys, estimate.Posterior(groups_->Prior(keys)), visit);
      }
    }
  }
  static RateKeys Keys(uint64_t host, uint64_t directory) {
    return {.host = Mix64(host + 1), .directory = Mix64(host * 1000 + directory + 7)};
  }

  MemEnv env_;
  Manifest manifest_ = Manifest::Open(env_, "store").value();
  std::unique_ptr<RateGroups> groups_ = RateGroups::Open(env_, manifest_, {.memory = 1 << 16}).value();
  Rng rng_{5};
};

TEST_F(RateGroupsTest, ANewPageIsLikeItsDirectoryThenItsHostThenTheRest) {
  const double fresh = groups_->Prior(Keys(99, 0)).MeanLog();
  EXPECT_NEAR(fresh, -3, 0.1);
  for (int i = 0; i < 8; ++i) Visit(Keys(1, 0), 1.0, 20);
  for (int i = 0; i < 8; ++i) Visit(Keys(1, 1), 0.05, 20);
  for (int i = 0; i < 8; ++i) Visit(Keys(2, 0), 0.02, 20);
  const double quick = groups_->Prior(Keys(1, 0)).MeanLog();
  const double slow = groups_->Prior(Keys(1, 1)).MeanLog();
  EXPECT_NEAR(quick, 0, 0.5);
  EXPECT_NEAR(slow, std::log(0.05), 0.7);
  const double sibling = groups_->Prior(Keys(1, 2)).MeanLog();  // a new directory of a known host
  EXPECT_GT(sibling, slow);
  EXPECT_LT(sibling, quick);
  EXPECT_LT(groups_->Prior(Keys(2, 5)).MeanLog(), sibling);
}

TEST_F(RateGroupsTest, PriorsSurviveACheckpoint) {
  Visit(Keys(3, 0), 2, 30);
  Checkpointable* all[] = {groups_->checkpointable()};
  ASSERT_TRUE(manifest_.Commit(all));
  const Manifest manifest = Manifest::Open(env_, "store").value();
  const auto restored = RateGroups::Open(env_, manifest, {.memory = 1 << 16}).value();
  restored->set_levels(groups_->levels());
  EXPECT_EQ(restored->Prior(Keys(3, 0)), groups_->Prior(Keys(3, 0)));
}

class SignalTrustTest : public testing::Test {
 protected:
  // 200 visits; half of the pages have changed.
  Trust After(double told, double false_told) {
    trust_->Heard(1, 1000);
    for (int i = 0; i < 200; ++i) {
      const bool changed = i % 2 == 0;
      trust_->Observe(1, rng_.Chance(changed ? told : false_told), changed);
    }
    return trust_->Of(1);
  }

  MemEnv env_;
  Manifest manifest_ = Manifest::Open(env_, "store").value();
  std::unique_ptr<SignalTrust> trust_ = SignalTrust::Open(env_, manifest_, {.memory = 1 << 16}).value();
  Rng rng_{9};
};

TEST_F(SignalTrustTest, TruthGainsWeight) {
  const Trust trust = After(0.95, 0.02);
  EXPECT_GT(trust.weight, 10);
  EXPECT_LT(trust.silence, 0.2);
}

TEST_F(SignalTrustTest, TodayForEverythingSaysNothing) { EXPECT_LT(After(1, 1).worth(), 0.01); }
TEST_F(SignalTrustTest, ChanceSaysNothing) { EXPECT_LT(After(0.5, 0.5).worth(), 0.1); }
TEST_F(SignalTrustTest, NeverSaysNothing) { EXPECT_LT(After(0, 0).worth(), 0.01); }
TEST_F(SignalTrustTest, TheOppositeOfTheTruthSaysNothing) { EXPECT_EQ(After(0.1, 0.9).worth(), 0); }

TEST_F(SignalTrustTest, AHostWithoutSignalsIsNotJudged) {
  for (int i = 0; i < 50; ++i) trust_->Observe(2, false, i % 2 == 0);
  EXPECT_EQ(trust_->Of(2).silence, 1);
  EXPECT_EQ(trust_->Of(2).weight, 1);
}

TEST_F(SignalTrustTest, AHostThatBeginsToLieLosesItsWeight) {
  EXPECT_GT(After(0.95, 0.02).worth(), 0.7);
  EXPECT_LT(After(1, 1).weight, 3);
  for (int i = 0; i < 4; ++i) After(1, 1);
  EXPECT_LT(After(1, 1).weight, 1.1);
  EXPECT_LT(After(1, 1).worth(), 0.3);
}

PageValue Page(Rng& rng) {
  return {.importance = std::exp(2 * rng.Uniform() - 1), .change = Gamma::FromLog(4 * rng.Uniform() - 3, 0.5)};
}

double VisitsOf(const std::vector<PageValue>& pages, double price) {
  double visits = 0;
  for (const PageValue& page : pages) {
    const double days = DaysUntilValue(page, price, 365);
    if (days < 365) visits += 1 / std::max(days, 1.0 / 24);
  }
  return visits;
}

TEST(ThresholdTest, ThePriceUsesTheCapacityWhateverIsSampled) {
  Rng rng(3);
  std::vector<PageValue> pages;
  Threshold whole({.sample = 20'000});
  Threshold sampled({.sample = 1000});
  for (uint64_t i = 0; i < 10'000; ++i) {
    pages.push_back(Page(rng));
    whole.Put(Mix64(i + 1), pages.back());
    sampled.Put(Mix64(i + 1), pages.back());
  }
  EXPECT_EQ(sampled.sampled(), 1000U);
  for (const double visits : {300.0, 3000.0, 30'000.0}) {
    whole.Solve(visits, pages.size());
    EXPECT_NEAR(VisitsOf(pages, whole.value()), visits, 0.03 * visits);
    sampled.Solve(visits, pages.size());
    EXPECT_NEAR(VisitsOf(pages, sampled.value()), visits, 0.15 * visits);
  }
}

TEST(ThresholdTest, WithRoomForAllThereIsNoPrice) {
  Rng rng(3);
  Threshold threshold({.sample = 100});
  for (uint64_t i = 0; i < 10; ++i) threshold.Put(i, Page(rng));
  threshold.Solve(1000, 10);
  EXPECT_EQ(threshold.value(), 0);
  threshold.Solve(1e-9, 10);
  EXPECT_TRUE(std::isfinite(threshold.value()));
}

TEST(ThresholdTest, LatenessRaisesThePriceAndIdlenessLowersIt) {
  Rng rng(3);
  Threshold threshold({.sample = 1000});
  for (uint64_t i = 0; i < 1000; ++i) threshold.Put(Mix64(i + 1), Page(rng));
  threshold.Solve(200, 1000);
  const double price = threshold.value();
  for (int i = 0; i < 1000; ++i) threshold.Late(0.5, 1000);
  threshold.Solve(200, 1000);
  EXPECT_GT(threshold.value(), 1.2 * price);
  threshold.Idle(2000, 1000);
  for (int i = 0; i < 40; ++i) threshold.Idle(100, 1000);
  threshold.Solve(200, 1000);
  EXPECT_LT(threshold.value(), price);
}

// Visits of pages that change half of the time; `honest`: a conditional request is answered truthfully.
struct Asked {
  int asked = 0;
  int checked = 0;
  bool believed = true;
};
Asked Ask(bool honest, int visits) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "store").value();
  const auto trust = ConditionTrust::Open(env, manifest, {.memory = 1 << 12}).value();
  Rng rng(7);
  Asked asked;
  for (int i = 0; i < visits; ++i) {
    const bool conditional = trust->MayAsk(1, Mix64(static_cast<uint64_t>(i % 40)), static_cast<uint32_t>(i / 40));
    ++(conditional ? asked.asked : asked.checked);
    trust->Observe(1, conditional, rng.Chance(0.5) && (honest || !conditional));
  }
  asked.believed = trust->Believed(1);
  return asked;
}

TEST(ConditionTrustTest, AHostThatAlwaysSaysNotModifiedIsAskedWithoutACondition) {
  const Asked asked = Ask(false, 400);
  EXPECT_FALSE(asked.believed);
  EXPECT_LT(asked.asked, 60);
}

TEST(ConditionTrustTest, AnHonestHostIsAskedConditionally) {
  const Asked asked = Ask(true, 400);
  EXPECT_TRUE(asked.believed);
  EXPECT_GT(asked.asked, 340);
}

TEST(ThresholdTest, WhatIsNotWorthTheLeastIsNotVisitedHoweverMuchCapacityThereIs) {
  Rng rng(3);
  Threshold threshold({.sample = 100, .least_value = 0.01});
  EXPECT_EQ(threshold.value(), 0.01);
  for (uint64_t i = 0; i < 10; ++i) threshold.Put(i, Page(rng));
  threshold.Solve(1e9, 10);
  EXPECT_EQ(threshold.value(), 0.01 * threshold.mean_importance());
  threshold.Idle(1e6, 10);
  EXPECT_EQ(threshold.value(), 0.01 * threshold.mean_importance());
  EXPECT_EQ(threshold.trim(), 0) << "idleness that no price could mend is not remembered";
}

TEST(ThresholdTest, APageThatEndsLeavesTheSample) {
  Threshold threshold({.sample = 2});
  threshold.Put(5, {});
  threshold.Put(6, {});
  threshold.Put(7, {});
  EXPECT_EQ(threshold.sampled(), 2U);
  threshold.Remove(5);
  threshold.Remove(7);
  EXPECT_EQ(threshold.sampled(), 1U);
}

}  // namespace
}  // namespace portolan
