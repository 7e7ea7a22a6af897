// STAR in several shards that tell each other the in-degrees of their domains.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "io/mem_env.h"
#include "reputation/star.h"

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct NoStandings : StandingSink {
  Status OnStanding(std::string_view, const Standing&) override { return {}; }
};

struct OneStar {
  OneStar(uint32_t shards, std::string_view function) {
    StarOptions options;
    options.memory = StarOptions::kMinMemory;
    options.budget_function = function;
    options.shards = shards;
    options.tell_ranks = [this](std::string_view histogram) { told.emplace_back(histogram); };
    auto opened = Star::Open(env, manifest, executor, options);
    EXPECT_TRUE(opened) << opened.error().ToString();
    star = *std::move(opened);
  }
  ~OneStar() { executor.RunAll(); }

  void Raise(uint64_t domain, uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) ASSERT_TRUE(star->RaiseFromElsewhere(domain));
  }
  // A round of the domains.
  void Round(int64_t now_ns) {
    ASSERT_TRUE(star->AddUrl({.pld = 1, .pld_name = "a", .record = "r"}));
    const uint64_t tables = star->counts().tables;
    ASSERT_TRUE(star->StartRound(now_ns, true));
    executor.RunAll();
    NoStandings sink;
    ASSERT_TRUE(star->Take(sink, ~0ULL, now_ns));
    ASSERT_EQ(star->counts().tables, tables + 1);
  }
  // Rounds until all raises have been taken.
  void Rounds(int64_t now_ns) {
    do {
      Round(now_ns += 100 * kSecond);
    } while (star->edges_waiting() > 0);
    Round(now_ns + 100 * kSecond);
  }

  MemEnv env;
  Manifest manifest = Manifest::Open(env, "state").value();
  DeferredExecutor executor;
  std::vector<std::string> told;
  std::unique_ptr<Star> star;
};

// Domain i has i / 2 + 1 links: each in-degree twice.
uint32_t LinksOf(uint32_t domain) { return domain / 2 + 1; }
uint64_t Key(uint32_t domain) { return Mix64(domain + 1); }

constexpr std::string_view kFunction = "ranked top=100 least=10 most=1000";
constexpr uint32_t kDomains = 200;

class StarRanksTest : public testing::Test {
 protected:
  StarRanksTest() {
    for (uint32_t shard = 0; shard < 3; ++shard) shards_.push_back(std::make_unique<OneStar>(3, kFunction));
    for (uint32_t domain = 0; domain < kDomains; ++domain) {
      one_.Raise(Key(domain), LinksOf(domain));
      shards_[Key(domain) % 3]->Raise(Key(domain), LinksOf(domain));
    }
    one_.Rounds(1'000'000 * kSecond);
    for (auto& shard : shards_) shard->Rounds(1'000'000 * kSecond);
  }
  void Tell(uint32_t from, uint32_t to) { ASSERT_TRUE(shards_[to]->star->TakeRanks(from, shards_[from]->told.back())); }

  OneStar one_{1, kFunction};
  std::vector<std::unique_ptr<OneStar>> shards_;
};

TEST_F(StarRanksTest, BudgetsOfThreeShardsAreThoseOfOne) {
  for (uint32_t from = 0; from < 3; ++from) {
    ASSERT_GE(shards_[from]->told.size(), 1U);
    for (uint32_t to = 0; to < 3; ++to) {
      if (to != from) Tell(from, to);
    }
  }
  for (auto& shard : shards_) shard->Round(2'000'000 * kSecond);
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    const Star& star = *shards_[Key(domain) % 3]->star;
    EXPECT_EQ(star.BudgetOf(LinksOf(domain)), one_.star->BudgetOf(LinksOf(domain))) << LinksOf(domain);
  }
}

TEST_F(StarRanksTest, ALostHistogramLeavesAnEstimate) {
  Tell(1, 0);
  shards_[0]->Round(2'000'000 * kSecond);
  EXPECT_EQ(shards_[0]->star->others().known(), 2U);
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    if (Key(domain) % 3 != 0) continue;
    EXPECT_NEAR(shards_[0]->star->BudgetOf(LinksOf(domain)), one_.star->BudgetOf(LinksOf(domain)), 250);
  }
}

TEST_F(StarRanksTest, WhatIsNotAHistogramIsCorruptAndChangesNothing) {
  Tell(1, 0);
  const std::string histogram = shards_[1]->told.back();
  const auto result = shards_[0]->star->TakeRanks(2, histogram.substr(1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(shards_[0]->star->others().known(), 2U);
}

TEST_F(StarRanksTest, ManySmallRoundsTellOncePerSecond) {
  OneStar& star = *shards_[0];
  star.told.clear();
  for (int i = 1; i <= 30; ++i) star.Round(2'000'000 * kSecond + i * kSecond / 10);
  EXPECT_GE(star.told.size(), 3U);
  EXPECT_LE(star.told.size(), 4U);
}

TEST(StarRanksFreeTest, FunctionsWithoutRanksTellNothing) {
  OneStar star(3, "proportional");
  star.Raise(7, 5);
  star.Round(1'000'000 * kSecond);
  EXPECT_TRUE(star.told.empty());
}

TEST(StarRanksFreeTest, TheLeastMemoryIsEnoughForAsManyShardsAsThereCanBe) {
  OneStar star(256, kFunction);
  EXPECT_EQ(star.star->memory_plan().histograms, StarOptions::kMinMemory / 8);
  const std::string longest(8000, 'x');
  EXPECT_TRUE(star.star->AddUrl({.pld = 1, .pld_name = "a", .record = longest}));
}

}  // namespace
}  // namespace portolan
