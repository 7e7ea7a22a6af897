#include "reputation/star.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::HasSubstr;

constexpr char kDir[] = "state";
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

struct Standings : StandingSink {
  std::vector<std::pair<std::string, Standing>> all;
  Status OnStanding(std::string_view record, const Standing& standing) override {
    all.emplace_back(record, standing);
    return {};
  }
};

StarOptions Small(std::string_view function = "table 0:10 2:100") {
  StarOptions options;
  options.memory = StarOptions::kMinMemory;
  options.budget_function = function;
  return options;
}

struct Store {
  Store(Env& used, const StarOptions& options) : env(used), manifest(Manifest::Open(env, kDir).value()) {
    auto opened = Star::Open(env, manifest, executor, options);
    EXPECT_TRUE(opened) << opened.error().ToString();
    star = *std::move(opened);
  }
  ~Store() { executor.RunAll(); }  // otherwise DRUM would wait for its round for ever

  Status AddUrl(std::string_view pld, std::string_view record, uint32_t tick = 0, uint16_t horizon = 4,
                bool fresh = true) {
    return star->AddUrl({.pld = Hash64(pld),
                         .pld_name = pld,
                         .record = record,
                         .tick = tick,
                         .horizon = horizon,
                         .price = 1,
                         .fresh = fresh});
  }
  Status AddEdge(std::string_view source, std::string_view target) {
    return star->AddEdge(Hash64(source), Hash64(target));
  }
  // Takes everything that waits; edges before URLs that come after them.
  void Settle(Standings& sink) {
    for (int i = 0; i < 100; ++i) {
      now += 1'000'000 * kSecond;
      ASSERT_TRUE(star->StartRound(now, true));
      executor.RunAll();
      ASSERT_TRUE(star->Take(sink, ~0ULL, now));
      if (star->edges_waiting() + star->domains_drum().waiting() == 0) return;
    }
    FAIL() << "it never ends";
  }

  Env& env;
  Manifest manifest;
  DeferredExecutor executor;
  std::unique_ptr<Star> star;
  int64_t now = 0;
};

TEST(StarTest, InDegreeCountsDistinctOtherDomains) {
  MemEnv env;
  Store store(env, Small());
  Standings sink;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.AddEdge("a", "x"));
    ASSERT_TRUE(store.AddEdge("b", "x"));
    ASSERT_TRUE(store.AddEdge("x", "x"));
    ASSERT_TRUE(store.AddEdge("x", "a"));
    store.Settle(sink);
  }
  for (const char* pld : {"x", "a", "b"}) ASSERT_TRUE(store.AddUrl(pld, pld));
  store.Settle(sink);
  ASSERT_EQ(sink.all.size(), 3U);
  EXPECT_EQ(sink.all[0].second, (Standing{.pld = Hash64("x"), .in_degree = 2, .budget = 100, .passed = 1}));
  EXPECT_EQ(sink.all[1].second, (Standing{.pld = Hash64("a"), .in_degree = 1, .budget = 10, .passed = 1}));
  EXPECT_EQ(sink.all[2].second, (Standing{.pld = Hash64("b"), .in_degree = 0, .budget = 10, .passed = 1}));
  const StarCounts counts = store.star->counts();
  EXPECT_EQ(counts.edges_offered, 12U);
  EXPECT_EQ(counts.edges_within, 3U);
  EXPECT_EQ(counts.edges_new, 3U);
  EXPECT_EQ(counts.edges_known + counts.edges_recent, 6U);
  EXPECT_EQ(store.star->edges(), 3U);
  EXPECT_EQ(store.star->domains(), 3U);
}

TEST(StarTest, UrlsFromTheQueueOfFailuresAreNotCountedAgain) {
  MemEnv env;
  Store store(env, Small());
  Standings sink;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(store.AddUrl("x", "u" + std::to_string(i), 0, 1));
  store.Settle(sink);
  EXPECT_FALSE(sink.all[9].second.later);
  EXPECT_TRUE(sink.all[10].second.later);
  EXPECT_TRUE(sink.all[11].second.later);
  EXPECT_EQ(sink.all[11].second.passed, 12U);
  EXPECT_EQ(store.star->counts().urls_later, 2U);
  ASSERT_TRUE(store.AddUrl("x", "u11", 1, 2, false));
  store.Settle(sink);
  EXPECT_EQ(sink.all[12].first, "u11");
  EXPECT_EQ(
      sink.all[12].second,
      (Standing{.in_degree = 0, .budget = 10, .passed = 12, .place = 0, .later = false, .tick = 1, .fresh = false}));
}

TEST(StarTest, RisingReputationMovesLaterUrlsForward) {
  MemEnv env;
  Store store(env, Small());
  Standings sink;
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.AddUrl("x", "before"));
  store.Settle(sink);
  EXPECT_EQ(sink.all.back().second.place, 2U);
  ASSERT_TRUE(store.AddEdge("a", "x"));
  ASSERT_TRUE(store.AddEdge("b", "x"));
  store.Settle(sink);
  ASSERT_TRUE(store.AddUrl("x", "after"));
  store.Settle(sink);
  EXPECT_EQ(sink.all.back().second.budget, 100U);
  EXPECT_EQ(sink.all.back().second.place, 0U);
}

TEST(StarTest, RanksAreUsedFromTheNextRoundOn) {
  MemEnv env;
  Store store(env, Small("ranked top=3 least=1 most=5"));
  Standings sink;
  EXPECT_EQ(store.star->budgets(), BudgetTable::Equal(1));
  for (const char* source : {"a", "b", "c"}) ASSERT_TRUE(store.AddEdge(source, "best"));
  for (const char* source : {"a", "b"}) ASSERT_TRUE(store.AddEdge(source, "good"));
  ASSERT_TRUE(store.AddEdge("a", "known"));
  store.Settle(sink);
  EXPECT_EQ(store.star->BudgetOf(0), 1U);
  EXPECT_EQ(store.star->BudgetOf(1), 1U);
  EXPECT_EQ(store.star->BudgetOf(2), 3U);
  EXPECT_EQ(store.star->BudgetOf(3), 5U);
  ASSERT_TRUE(store.AddUrl("good", "u"));
  store.Settle(sink);
  EXPECT_EQ(sink.all[0].second.budget, 3U);
}

TEST(StarTest, HungerStartsRoundsForUrlsAndPatienceForEdges) {
  MemEnv env;
  Store store(env, Small());
  Star& star = *store.star;
  Standings sink;
  EXPECT_EQ(star.NextRoundTime(0, true), Star::kNever);
  ASSERT_TRUE(store.AddEdge("a", "x"));
  EXPECT_EQ(star.NextRoundTime(kSecond, true), 6 * kSecond) << "hunger is no reason, five seconds are";
  EXPECT_FALSE(star.WantsRound(5 * kSecond, true));
  ASSERT_TRUE(store.AddUrl("x", "u"));
  EXPECT_EQ(star.NextRoundTime(2 * kSecond, true), 0) << "the first may start at once";
  EXPECT_TRUE(star.StartRound(2 * kSecond, true).value());
  EXPECT_FALSE(star.StartRound(2 * kSecond, true).value());
  EXPECT_FALSE(star.ResultsReady());
  EXPECT_TRUE(star.StartRound(6 * kSecond, false).value()) << "now the edge";
  store.executor.RunAll();
  ASSERT_TRUE(star.ResultsReady());
  EXPECT_EQ(star.Take(sink, 1, 6 * kSecond).value(), 1U);
  EXPECT_TRUE(star.ResultsReady()) << "the edge is left";
  EXPECT_EQ(star.Take(sink, 5, 6 * kSecond).value(), 1U);
  EXPECT_FALSE(star.ResultsReady());
  EXPECT_EQ(sink.all.size(), 1U);
  // The in-degree waits in the domains, and no round is started just for that.
  EXPECT_EQ(star.waiting(), 0U);
  EXPECT_EQ(star.domains_drum().waiting(), 1U);
  EXPECT_GT(star.NextRoundTime(7 * kSecond, true), 30 * kSecond);
  EXPECT_NE(star.NextRoundTime(7 * kSecond, true), Star::kNever);
}

TEST(StarTest, ARefusedUrlIsNotForgotten) {
  MemEnv env;
  StarOptions options = Small("equal budget=1000");
  options.domains_disk = 1;  // the first full memory is the bound
  Store store(env, options);
  Standings sink;
  uint64_t refused = 0;
  for (int i = 0; i < 60'000; ++i) {
    const std::string record = "http://h/" + std::to_string(i);
    Status status = store.AddUrl("h" + std::to_string(i % 700), record);
    while (!status) {
      ASSERT_EQ(status.error().code(), ErrorCode::kBusy);
      ++refused;
      store.executor.RunAll();
      ASSERT_TRUE(store.star->Take(sink, ~0ULL, ++store.now));
      status = store.AddUrl("h" + std::to_string(i % 700), record);
    }
  }
  store.Settle(sink);
  EXPECT_GT(refused, 2U);
  ASSERT_EQ(sink.all.size(), 60'000U);
  for (size_t i = 0; i < sink.all.size(); ++i) ASSERT_EQ(sink.all[i].first, "http://h/" + std::to_string(i));
}

TEST(StarTest, AFailedRoundIsTriedAgainAndCountsOnce) {
  // Count the operations, then let each of them fail once.
  uint64_t operations = 0;
  uint64_t first = 0;
  uint64_t failures = 0;
  for (uint64_t fail_at = 0; fail_at == 0 || first + fail_at <= operations; ++fail_at) {
    MemEnv base;
    FaultyEnv env(base);
    Store store(env, Small("ranked top=2 least=1 most=9"));
    Standings sink;
    first = env.operations();
    if (fail_at > 0) env.SetPlan({.fail_at = first + fail_at, .short_write_at = {}, .power_cut_at = {}, .space = {}});
    const auto insist = [&](auto&& call) {
      for (int tries = 0; tries < 5; ++tries) {
        if (call()) return;
        ++failures;
      }
      FAIL() << "it does not recover";
    };
    const auto settle = [&] {
      for (int i = 0; i < 20; ++i) {
        store.now += 1'000'000 * kSecond;
        insist([&] { return store.star->StartRound(store.now, true).has_value(); });
        store.executor.RunAll();
        insist([&] { return store.star->Take(sink, ~0ULL, store.now).has_value(); });
      }
    };
    for (const char* source : {"a", "b"}) insist([&] { return store.AddEdge(source, "x").has_value(); });
    insist([&] { return store.AddEdge("a", "y").has_value(); });
    settle();
    for (int i = 0; i < 20; ++i) insist([&] { return store.AddUrl("x", "x" + std::to_string(i)).has_value(); });
    insist([&] { return store.AddUrl("y", "y").has_value(); });
    settle();
    insist([&] { return store.manifest.Commit(store.star->Checkpointables()).has_value(); });
    if (fail_at == 0) operations = env.operations();
    ASSERT_EQ(sink.all.size(), 21U) << fail_at;
    for (uint32_t i = 0; i < 20; ++i) {
      ASSERT_EQ(sink.all[i].second,
                (Standing{.pld = Hash64("x"), .in_degree = 2, .budget = 9, .passed = i + 1, .place = i / 9}))
          << fail_at;
    }
    ASSERT_EQ(sink.all[20].second, (Standing{.pld = Hash64("y"), .in_degree = 1, .budget = 1, .passed = 1})) << fail_at;
    ASSERT_EQ(store.star->counts().edges_new, 3U);
  }
  EXPECT_GT(failures, 10U);
}

TEST(StarTest, AnotherBudgetFunctionHoldsAfterTheNextRound) {
  MemEnv env;
  Standings sink;
  {
    Store store(env, Small("equal budget=7"));
    ASSERT_TRUE(store.AddUrl("x", "one"));
    store.Settle(sink);
    ASSERT_TRUE(store.manifest.Commit(store.star->Checkpointables()));
  }
  Store store(env, Small("ranked top=100 least=2 most=20"));
  EXPECT_EQ(store.star->BudgetOf(0), 7U) << "what waits for its round again gets the same answers";
  ASSERT_TRUE(store.AddUrl("x", "two"));
  store.Settle(sink);
  EXPECT_EQ(store.star->BudgetOf(0), 2U);
  EXPECT_EQ(sink.all[1].second.passed, 2U);
}

TEST(StarTest, OptionsThatCannotWorkAreNamed) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  InlineExecutor executor;
  StarOptions options = Small();
  options.memory = 1'000'000;
  const auto little = Star::Open(env, manifest, executor, options);
  ASSERT_FALSE(little);
  EXPECT_THAT(little.error().ToString(), HasSubstr("star: 1000000 bytes of memory, at least 2097152 are needed"));
  const auto nonsense = Star::Open(env, manifest, executor, Small("fair"));
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().code(), ErrorCode::kInvalidArgument);
  Store store(env, Small());
  const Status named = store.AddUrl(std::string(256, 'n'), "u");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(store.AddUrl(std::string(255, 'n'), std::string(8010, 'u'))) << "the longest record fits";
}

TEST(StarTest, MemoryIsDividedAsStated) {
  StarOptions options = Small();
  for (const uint64_t memory : {StarOptions::kMinMemory, uint64_t{64} << 20, uint64_t{1} << 30}) {
    options.memory = memory;
    const StarMemoryPlan plan = StarMemoryPlan::Make(options).value();
    EXPECT_EQ(plan.fixed + plan.edges + plan.domains, memory);
    EXPECT_LE(plan.fixed, uint64_t{740} << 10);
    EXPECT_NEAR(static_cast<double>(plan.edges) / static_cast<double>(memory - plan.fixed), 3.0 / 8, 0.001);
    EXPECT_EQ(plan.recent_edges, plan.edges / 4);
  }
}

}  // namespace
}  // namespace portolan
