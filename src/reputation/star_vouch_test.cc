// How far domains that link to each other can raise themselves, and that honest domains are not held back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "reputation/domain_list.h"
#include "reputation/star.h"

namespace portolan {
namespace {

using testing::HasSubstr;

constexpr char kDir[] = "state";

struct Ignored : StandingSink {
  Status OnStanding(std::string_view, const Standing&) override { return {}; }
};

StarOptions Limited(uint32_t base, uint32_t percent) {
  StarOptions options;
  options.memory = StarOptions::kMinMemory;
  options.budget_function = "equal budget=10";
  options.vouch_base = base;
  options.vouch_percent = percent;
  return options;
}

class Vouching {
 public:
  explicit Vouching(const StarOptions& options) : options_(options) { Open(); }

  void Edge(uint64_t source, uint64_t target) { ASSERT_TRUE(star_->AddEdge(Mix64(source), Mix64(target))); }
  void Url(uint64_t domain) {
    const std::string name = "d" + std::to_string(domain);
    ASSERT_TRUE(star_->AddUrl({.pld = Mix64(domain), .pld_name = name, .record = "r", .horizon = 9}));
  }
  void Settle() {
    Ignored ignored;
    for (int i = 0; star_->edges_waiting() + star_->domains_drum().waiting() > 0; ++i) {
      ASSERT_LT(i, 1000);
      now_ += int64_t{1} << 40;
      ASSERT_TRUE(star_->StartRound(now_, true));
      ASSERT_TRUE(star_->Take(ignored, ~0ULL, now_));
    }
  }
  void StartRound() {
    static_cast<void>(star_->WantsRound(now_, true));  // notes that something waits from now on
    now_ += int64_t{1} << 40;
    ASSERT_TRUE(star_->StartRound(now_, true));
  }
  void Take(uint64_t max) {
    Ignored ignored;
    ASSERT_TRUE(star_->Take(ignored, max, now_));
  }
  void Commit() { ASSERT_TRUE(manifest_->Commit(star_->Checkpointables())); }
  // As it was at the last commit.
  void Crash() {
    auto survived = env_->CrashedCopy(CrashMode::kLoseUnsynced, 1);
    star_.reset();
    env_ = std::move(survived);
    Open();
  }
  void Reopen(const StarOptions& options) {
    Commit();
    star_.reset();
    options_ = options;
    Open();
  }
  // As the listing shows them, after a commit.
  std::map<uint64_t, DomainLine> Domains() {
    Commit();
    std::map<uint64_t, DomainLine> domains;
    DomainListOptions all;
    all.count = 1'000'000;
    EXPECT_TRUE(ForEachDomain(*env_, *manifest_, all, [&](const DomainLine& line) { domains[line.pld] = line; }));
    return domains;
  }
  uint32_t InDegree(uint64_t domain) { return Domains()[Mix64(domain)].record.in_degree; }
  Star& star() { return *star_; }

 private:
  void Open() {
    manifest_.emplace(Manifest::Open(*env_, kDir).value());
    auto star = Star::Open(*env_, *manifest_, executor_, options_);
    ASSERT_TRUE(star) << star.error().ToString();
    star_ = *std::move(star);
  }

  StarOptions options_;
  std::unique_ptr<MemEnv> env_ = std::make_unique<MemEnv>();
  InlineExecutor executor_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<Star> star_;
  int64_t now_ = 0;
};

constexpr uint64_t kFarm = 300;
constexpr uint64_t kHonest = 10'000;  // linked to by kFarm others that do not link to each other

double MeanOfFarm(Vouching& vouching) {
  const auto domains = vouching.Domains();
  double sum = 0;
  for (uint64_t i = 0; i < kFarm; ++i) {
    const auto found = domains.find(Mix64(i));
    if (found != domains.end()) sum += found->second.record.in_degree;
  }
  return sum / static_cast<double>(kFarm);
}

struct Limits {
  uint32_t base;
  uint32_t percent;
};

class FarmTest : public testing::TestWithParam<Limits> {
 protected:
  double MostMean() const { return GetParam().base / (1 - GetParam().percent / 100.0); }
};

// All in-degrees rise together, so that each link is made with the largest possible allowance.
TEST_P(FarmTest, PatientFarmsReachTheBoundAndNoMore) {
  Vouching vouching(Limited(GetParam().base, GetParam().percent));
  const auto rounds = static_cast<uint64_t>(MostMean() * 1.2) + 2;
  ASSERT_LT(rounds, kFarm);
  for (uint64_t step = 1; step < kFarm; ++step) {
    for (uint64_t i = 0; i < kFarm; ++i) vouching.Edge(i, (i + step) % kFarm);
    vouching.Edge(20'000 + step, kHonest);
    if (step <= rounds) vouching.Settle();
  }
  vouching.Edge(20'000, kHonest);
  vouching.Settle();
  const double mean = MeanOfFarm(vouching);
  EXPECT_LE(mean, MostMean() + 1e-9);
  uint64_t reached = 0;
  while (reached < GetParam().base + reached * GetParam().percent / 100) ++reached;
  EXPECT_EQ(mean, static_cast<double>(reached)) << "the bound, but for rounding";
  EXPECT_EQ(vouching.InDegree(kHonest), kFarm);
  const StarCounts counts = vouching.star().counts();
  EXPECT_EQ(counts.edges_new + counts.edges_unvouched, kFarm * (kFarm - 1) + kFarm);
  EXPECT_LE(vouching.Domains()[Mix64(0)].record.vouched, kFarm / 2) << "only those that counted";
}

TEST_P(FarmTest, InAnyOrderAndWithCrashesTheBoundHolds) {
  Vouching vouching(Limited(GetParam().base, GetParam().percent));
  std::vector<std::pair<uint64_t, uint64_t>> links;
  for (uint64_t from = 0; from < kFarm; ++from) {
    for (uint64_t to = 0; to < kFarm; ++to) {
      if (from != to) links.emplace_back(from, to);
    }
    links.emplace_back(20'000 + from, kHonest);
  }
  Rng rng(GetParam().base);
  for (size_t i = links.size(); i > 1; --i) std::swap(links[i - 1], links[rng.Below(i)]);
  constexpr size_t kPart = 9'000;
  for (size_t begin = 0; begin < links.size(); begin += kPart) {
    const size_t end = std::min(links.size(), begin + kPart);
    for (size_t i = begin; i < end; ++i) vouching.Edge(links[i].first, links[i].second);
    vouching.StartRound();  // of the edges
    vouching.Take(kPart / 2);
    vouching.StartRound();  // of the vouches that passed
    vouching.Take(kPart / 4);
    EXPECT_GT(vouching.star().vouches_asked(), 0U);
    vouching.Commit();
    const StarCounts committed = vouching.star().counts();
    const uint64_t waiting = vouching.star().edges_waiting();
    vouching.Settle();
    EXPECT_EQ(vouching.star().edges_waiting(), 0U);
    vouching.Crash();
    EXPECT_EQ(vouching.star().counts(), committed);
    EXPECT_EQ(vouching.star().edges_waiting(), waiting);
    vouching.Settle();
  }
  EXPECT_LE(MeanOfFarm(vouching), MostMean() + 1e-9);
  EXPECT_GE(MeanOfFarm(vouching), GetParam().base * 0.9);
  EXPECT_EQ(vouching.InDegree(kHonest), kFarm);
  const StarCounts counts = vouching.star().counts();
  EXPECT_EQ(counts.edges_new + counts.edges_unvouched, kFarm * kFarm);
}

INSTANTIATE_TEST_SUITE_P(StarVouch, FarmTest,
                         testing::Values(Limits{16, 50}, Limits{1, 0}, Limits{8, 90}, Limits{40, 33}),
                         [](const auto& tested) {
                           return "Base" + std::to_string(tested.param.base) + "Percent" +
                                  std::to_string(tested.param.percent);
                         });

TEST(StarVouchTest, WithoutLimitsEveryLinkCountsAndNothingIsAsked) {
  Vouching vouching(Limited(0, 50));
  for (uint64_t i = 0; i < 100; ++i) vouching.Edge(1, 100 + i);
  vouching.Settle();
  EXPECT_EQ(vouching.star().counts().edges_new, 100U);
  EXPECT_EQ(vouching.star().counts().edges_unvouched, 0U);
  EXPECT_EQ(vouching.star().domains(), 100U) << "the source is not there";
}

TEST(StarVouchTest, ADomainThatManyVouchForMayVouchForMany) {
  Vouching vouching(Limited(4, 50));
  for (uint64_t i = 0; i < 60; ++i) vouching.Edge(1000 + i, 1);
  vouching.Settle();
  for (uint64_t i = 0; i < 50; ++i) {
    vouching.Edge(1, 2000 + i);
    vouching.Edge(2, 3000 + i);
  }
  vouching.Settle();
  const auto domains = vouching.Domains();
  uint32_t of_known = 0;
  uint32_t of_unknown = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    of_known += domains.contains(Mix64(2000 + i)) ? 1 : 0;
    of_unknown += domains.contains(Mix64(3000 + i)) ? 1 : 0;
  }
  EXPECT_EQ(of_known, 34U);
  EXPECT_EQ(of_unknown, 4U) << "no domain links to it: the base";
  EXPECT_EQ(vouching.star().counts().edges_unvouched, 62U);
}

TEST(StarVouchTest, WhatDidNotCountNeverWill) {
  Vouching vouching(Limited(1, 90));
  vouching.Edge(1, 2);
  vouching.Edge(1, 3);
  vouching.Settle();
  EXPECT_EQ(vouching.InDegree(3), 0U);
  for (uint64_t i = 0; i < 50; ++i) vouching.Edge(100 + i, 1);
  vouching.Settle();
  for (const uint32_t base : {1U, 50U, 0U}) {
    vouching.Reopen(Limited(base, 90));  // which also empties the cache of recent edges
    vouching.Edge(1, 3);
    vouching.Settle();
    EXPECT_EQ(vouching.InDegree(3), 0U) << base;
  }
  vouching.Edge(1, 4);
  vouching.Settle();
  EXPECT_EQ(vouching.InDegree(4), 1U);
}

TEST(StarVouchTest, LimitsMayChangeWhileVouchesWait) {
  for (const uint32_t base : {0U, 5U}) {
    Vouching vouching(Limited(5 - base, 0));
    for (uint64_t i = 0; i < 20; ++i) vouching.Edge(1, 100 + i);
    vouching.StartRound();
    vouching.Take(20);
    EXPECT_EQ(vouching.star().vouches_asked(), base == 0 ? 20U : 0U);
    vouching.Reopen(Limited(base, 0));
    for (uint64_t i = 0; i < 20; ++i) vouching.Edge(1, 200 + i);
    vouching.Settle();
    const StarCounts counts = vouching.star().counts();
    EXPECT_EQ(counts.edges_new, base == 0 ? 40U : 25U);
    EXPECT_EQ(counts.edges_unvouched, base == 0 ? 0U : 15U);
  }
}

TEST(StarVouchTest, AVouchIsNoUrl) {
  Vouching vouching(Limited(16, 50));
  vouching.Edge(1, 2);
  vouching.StartRound();
  vouching.Take(10);
  EXPECT_EQ(vouching.star().vouches_asked(), 1U);
  EXPECT_EQ(vouching.star().waiting(), 0U);
  EXPECT_EQ(vouching.star().edges_waiting(), 1U);
  vouching.Settle();
  auto domains = vouching.Domains();
  ASSERT_TRUE(domains.contains(Mix64(1)));
  EXPECT_EQ(domains[Mix64(1)].name, "") << "no URL of it came yet";
  EXPECT_EQ(domains[Mix64(1)].record.passed, 0U);
  vouching.Url(1);
  vouching.Edge(1, 3);
  vouching.Url(1);
  vouching.Settle();
  domains = vouching.Domains();
  EXPECT_EQ(domains[Mix64(1)].name, "d1");
  EXPECT_EQ(domains[Mix64(1)].record.passed, 2U);
  EXPECT_EQ(domains[Mix64(1)].record.vouched, 2U);
  EXPECT_EQ(vouching.star().counts().urls_out, 2U);
}

TEST(StarVouchTest, APercentageWithoutBoundIsRefused) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  InlineExecutor executor;
  const auto star = Star::Open(env, manifest, executor, Limited(16, 91));
  ASSERT_FALSE(star);
  EXPECT_EQ(star.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(star.error().message(), HasSubstr("vouch_percent is 91, but must be at most 90"));
}

TEST(VouchLimitsTest, AllowancesRoundDownAndDoNotOverflow) {
  constexpr uint32_t kMost = ~uint32_t{0};
  const VouchLimits limits{.base = 16, .percent = 50};
  EXPECT_EQ(limits.Allowance(0), 16U);
  EXPECT_EQ(limits.Allowance(1), 16U);
  EXPECT_EQ(limits.Allowance(2), 17U);
  EXPECT_EQ(limits.Allowance(kMost), 16 + kMost / 2);
  EXPECT_EQ((VouchLimits{.base = kMost, .percent = 90}.Allowance(kMost)), kMost);
  EXPECT_EQ((VouchLimits{.base = 7, .percent = 0}.Allowance(kMost)), 7U);
  DomainRecord source;
  source.vouched = 15;
  EXPECT_TRUE(limits.Counts(source));
  source.vouched = 16;
  EXPECT_FALSE(limits.Counts(source));
  source.in_degree = 2;
  EXPECT_TRUE(limits.Counts(source));
  source.vouched = kMost;
  EXPECT_FALSE(limits.Counts(source));
  EXPECT_TRUE((VouchLimits{.base = 0, .percent = 0}.Counts(source)));
}

}  // namespace
}  // namespace portolan
