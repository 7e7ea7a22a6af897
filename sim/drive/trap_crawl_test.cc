// Traps of all kinds against the whole crawler, in virtual time: each costs a bounded number of fetches, and no page
// that can be reached is lost.

#include "sim/drive/trap_crawl.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan::sim {
namespace {

void Print(const char* what, const TrapCrawlOutcome& outcome) {
  fmt::print("{}: {} fetches, {} in traps ({:.2f} %), coverage {:.2f} %, parked {}, shortened {}, {:.1f} h{}\n", what,
             outcome.fetches, outcome.traps(), 100 * outcome.trap_share(), 100 * outcome.coverage(), outcome.parked,
             outcome.shortened, outcome.virtual_hours, outcome.done ? "" : ", NOT DONE");
  for (unsigned i = 0; i < kMazeKinds; ++i) {
    fmt::print("  {:<14} {}\n", MazeKindName(static_cast<MazeKind>(i)), outcome.mazes[i]);
  }
  fmt::print("  {:<14} {}\n", "wildcard", outcome.wildcard);
  for (const ParkedForm& form : outcome.forms) {
    fmt::print("    {} {}: {} URLs, {} points of {}\n", form.host, form.form, form.urls, form.points, form.seen);
  }
  for (const std::string& url : outcome.missed) fmt::print("    missed {}\n", url);
}

// Words and seeds are others than those of bench traps.
std::unique_ptr<World> WorldOf(WorldParams params, uint64_t seed) {
  params.maze_words = 1;
  return World::Create(params, seed).value();
}

TrapCrawlOutcome Crawl(const World& world, TrapCrawlOptions options = {}) {
  MemEnv env;
  options.max_fetches = 4 * world.TotalPages() + 10'000;
  auto outcome = RunTrapCrawl(env, world, options);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  if (!outcome) return {};
  EXPECT_EQ(outcome->violations, 0U);
  return *std::move(outcome);
}

TEST(TrapCrawlSlowTest, AllKindsTogetherCostLittleAndNoPageIsLost) {
  const auto world = WorldOf(TrapWorld(12'000, 40, 0.03), 5);
  for (const bool budgets : {false, true}) {
    const TrapCrawlOutcome outcome = Crawl(*world, {.budgets = budgets});
    EXPECT_TRUE(outcome.done);
    EXPECT_GE(outcome.coverage(), 0.99);
    EXPECT_LE(outcome.trap_share(), 0.12);  // of a web 24 % of whose hosts have a trap
    EXPECT_GT(outcome.traps(), 50U) << "there are none";
    EXPECT_GT(outcome.parked, outcome.traps());
    if (HasFailure()) Print(budgets ? "budgets" : "plain", outcome);
  }
}

TEST(TrapCrawlSlowTest, WithoutTheTableTheCrawlDoesNotEnd) {
  const auto world = WorldOf(TrapWorld(3'000, 12, 0.05), 6);
  const TrapCrawlOutcome outcome = Crawl(*world, {.traps = false});
  EXPECT_FALSE(outcome.done);
  EXPECT_GT(outcome.trap_share(), 0.5);
}

TEST(TrapCrawlSlowTest, SitesWithoutTrapsAreCrawledWhole) {
  const auto world = WorldOf(TrapWorld(10'000, 100, 0), 7);
  const TrapCrawlOutcome outcome = Crawl(*world);
  EXPECT_TRUE(outcome.done);
  EXPECT_EQ(outcome.pages, outcome.reachable);
  EXPECT_EQ(outcome.parked, 0U);
  EXPECT_EQ(outcome.shortened, 0U);
  if (HasFailure()) Print("no traps", outcome);
}

TEST(TrapCrawlSlowTest, TheSameEventsGiveTheSameCrawl) {
  const auto world = WorldOf(TrapWorld(3'000, 12, 0.05), 8);
  EXPECT_EQ(Crawl(*world).order_hash, Crawl(*world).order_hash);
}

TEST(TrapCrawlSlowTest, WhatIsKnownOfTrapsSurvivesRestarts) {
  const auto world = WorldOf(TrapWorld(3'000, 12, 0.05), 9);
  const TrapCrawlOutcome whole = Crawl(*world);
  const TrapCrawlOutcome cut = Crawl(*world, {.restart_after = 3'000});
  EXPECT_TRUE(cut.done);
  EXPECT_GE(cut.coverage(), 0.99);
  // Each restart fetches again what was in flight.
  EXPECT_LE(cut.traps(), 2 * whole.traps() + 100);
  if (HasFailure()) {
    Print("whole", whole);
    Print("cut", cut);
  }
}

}  // namespace
}  // namespace portolan::sim
