#include "seen/url_seen.h"

#include <gtest/gtest.h>

#include <set>

#include "base/hash.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";
constexpr int64_t kMs = 1'000'000;

struct Records : UniqueSink {
  std::vector<std::string> all;
  Status OnUnique(std::string_view record) override {
    all.emplace_back(record);
    return {};
  }
};

struct Store {
  static std::unique_ptr<Store> Open(Env& env, const UrlSeenOptions& options) {
    auto store = std::make_unique<Store>(Manifest::Open(env, kDir).value());
    auto seen = UrlSeen::Open(env, store->manifest, store->executor, options);
    EXPECT_TRUE(seen) << seen.error().ToString();
    store->seen = std::move(*seen);
    return store;
  }
  explicit Store(Manifest opened) : manifest(std::move(opened)) {}
  ~Store() { executor.RunAll(); }  // or DRUM would wait for its round for ever

  Status Commit() {
    const auto all = seen->Checkpointables();
    return manifest.Commit(all);
  }
  bool Balanced() const {
    const UrlSeenCounts& counts = seen->counts();
    return counts.offered == counts.recent + counts.unique + counts.duplicates + seen->waiting();
  }

  Manifest manifest;
  DeferredExecutor executor;
  std::unique_ptr<UrlSeen> seen;
};

UrlSeenOptions Small(uint64_t recent_memory = 0) {
  UrlSeenOptions options;
  options.memory = UrlSeenOptions::kMinMemory;
  options.recent_memory = recent_memory;
  return options;
}

TEST(UrlSeenTest, NewUrlsComeOutOnceInArrivalOrder) {
  MemEnv env;
  auto store = Store::Open(env, Small(4096));
  Rng rng(3);
  std::vector<std::string> expected;
  std::set<std::string> known;
  Records records;
  int64_t now = 0;
  uint64_t rounds = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string url = "http://h" + std::to_string(rng.Below(20)) + "/" + std::to_string(rng.Below(700));
    ASSERT_TRUE(store->seen->Add(Hash64(url), url));
    if (known.insert(url).second) expected.push_back(url);
    now += kMs;
    if (rng.Chance(0.02)) {
      const auto started = store->seen->StartRound(now, true);
      ASSERT_TRUE(started);
      rounds += *started ? 1 : 0;
    }
    if (rng.Chance(0.05)) store->executor.RunAll();
    if (rng.Chance(0.05)) {
      ASSERT_TRUE(store->seen->Take(records, rng.Below(500), now));
    }
    ASSERT_TRUE(store->Balanced());
  }
  while (store->seen->waiting() > 0) {
    now += 1'000 * kMs;
    ASSERT_TRUE(store->seen->StartRound(now, true));
    store->executor.RunAll();
    ASSERT_TRUE(store->seen->Take(records, 100'000, now));
  }
  EXPECT_EQ(records.all, expected);
  EXPECT_EQ(store->seen->keys(), expected.size());
  EXPECT_GT(rounds, 50U);
  EXPECT_GT(store->seen->counts().recent, 500U);
  EXPECT_TRUE(store->Balanced());
}

TEST(UrlSeenTest, HungryRoundsOfALargeZAreRationed) {
  MemEnv env;
  UrlSeenOptions options = Small();
  auto store = Store::Open(env, options);
  UrlSeen& seen = *store->seen;
  Records records;
  EXPECT_EQ(seen.NextRoundTime(0, true), UrlSeen::kNever);  // nothing waits
  ASSERT_TRUE(seen.Add(1, "a"));
  EXPECT_EQ(seen.NextRoundTime(5 * kMs, false), UrlSeen::kNever);
  EXPECT_FALSE(seen.WantsRound(5 * kMs, false));
  ASSERT_TRUE(seen.WantsRound(5 * kMs, true));  // the first round may start at once
  ASSERT_TRUE(seen.StartRound(5 * kMs, true).value());
  EXPECT_FALSE(seen.StartRound(6 * kMs, true).value());
  ASSERT_TRUE(seen.Add(2, "b"));
  EXPECT_EQ(seen.NextRoundTime(7 * kMs, true), UrlSeen::kNever);  // one is on
  store->executor.RunAll();
  // Seen to be merged at 25 ms: it took 20 ms, so the next may start 200 ms later.
  EXPECT_EQ(seen.Take(records, 10, 25 * kMs), 1U);
  EXPECT_EQ(seen.NextRoundTime(26 * kMs, true), 225 * kMs);
  EXPECT_FALSE(seen.StartRound(224 * kMs, true).value());
  EXPECT_TRUE(seen.StartRound(225 * kMs, true).value());
}

TEST(UrlSeenTest, RewritingZCountsEvenWhenTheClockStandsStill) {
  MemEnv env;
  UrlSeenOptions options = Small();
  options.pace.bytes_per_second = 1'000'000;
  options.pace.least_cost_ns = 0;
  auto store = Store::Open(env, options);
  UrlSeen& seen = *store->seen;
  Records records;
  for (uint64_t key = 0; key < 20'000; ++key) ASSERT_TRUE(seen.Add(Mix64(key), "x"));
  ASSERT_TRUE(seen.StartRound(0, true).value());
  store->executor.RunAll();
  ASSERT_TRUE(seen.Take(records, 1'000'000, 0));
  ASSERT_TRUE(seen.Add(1, "x"));
  ASSERT_TRUE(seen.StartRound(0, true).value());  // the first found no Z and cost nothing
  store->executor.RunAll();
  ASSERT_TRUE(seen.Take(records, 1'000'000, 0));
  ASSERT_TRUE(seen.Add(2, "x"));
  const int64_t next = seen.NextRoundTime(0, true);
  EXPECT_GT(next, 10 * 100 * kMs);  // more than 100,000 bytes at 1 MB/s, ten times
  EXPECT_LT(next, 10 * 200 * kMs);
}

TEST(UrlSeenTest, ALinkThatWasRefusedIsNotForgotten) {
  MemEnv env;
  UrlSeenOptions options = Small(1 << 20);
  options.disk = 1;  // the first full memory is the bound
  auto store = Store::Open(env, options);
  Records records;
  std::vector<std::string> expected;
  uint64_t refused = 0;
  int64_t now = 0;
  for (int i = 0; i < 300'000; ++i) {
    const std::string url = "http://h/" + std::to_string(i);
    expected.push_back(url);
    Status status = store->seen->Add(Hash64(url), url);
    while (!status) {
      ASSERT_EQ(status.error().code(), ErrorCode::kBusy);
      ++refused;
      store->executor.RunAll();
      ASSERT_TRUE(store->seen->Take(records, ~0ULL, ++now));
      status = store->seen->Add(Hash64(url), url);
    }
  }
  EXPECT_GT(refused, 2U);
  while (store->seen->waiting() > 0) {
    ASSERT_TRUE(store->seen->StartRound(now += 1'000'000 * kMs, true));
    store->executor.RunAll();
    ASSERT_TRUE(store->seen->Take(records, ~0ULL, now));
  }
  EXPECT_EQ(records.all.size(), expected.size());
  EXPECT_TRUE(records.all == expected);
}

TEST(UrlSeenTest, TooLittleMemoryIsSaid) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  InlineExecutor executor;
  UrlSeenOptions options = Small();
  options.memory = 1000;
  const auto seen = UrlSeen::Open(env, manifest, executor, options);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code(), ErrorCode::kInvalidArgument);
}

// Commits at random moments, crashes at random moments; what was handed out since the commit comes again, nothing else
// comes twice, nothing is missing.
TEST(UrlSeenTest, CrashesLoseNothingThatWasCommitted) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    auto env = std::make_unique<MemEnv>();
    auto store = Store::Open(*env, Small(2048));
    size_t committed_offered = 0;
    size_t committed_taken = 0;
    int64_t now = 0;
    std::vector<std::string> links;
    for (int i = 0; i < 3000; ++i) links.push_back("http://h/" + std::to_string(rng.Below(1500)));
    size_t next = 0;
    Records sink;
    while (next < links.size() || store->seen->waiting() > 0) {
      now += 100 * kMs;
      for (uint64_t n = rng.Below(60); n > 0 && next < links.size(); --n, ++next) {
        ASSERT_TRUE(store->seen->Add(Hash64(links[next]), links[next]));
      }
      ASSERT_TRUE(store->seen->StartRound(now, rng.Chance(0.5)));
      if (rng.Chance(0.5)) store->executor.RunAll();
      ASSERT_TRUE(store->seen->Take(sink, rng.Below(100), now));
      if (rng.Chance(0.1)) {
        ASSERT_TRUE(store->Commit());
        committed_offered = next;
        committed_taken = sink.all.size();
      }
      ASSERT_TRUE(store->Balanced());
      if (rng.Chance(0.05)) {
        store->executor.RunAll();
        const auto mode = static_cast<CrashMode>(rng.Below(3));
        auto survived = env->CrashedCopy(mode, rng.Next());
        store.reset();
        env = std::move(survived);
        store = Store::Open(*env, Small(2048));
        next = committed_offered;
        sink.all.resize(committed_taken);
        ASSERT_EQ(store->seen->counts().offered, committed_offered);
        ASSERT_TRUE(store->Balanced());
      }
    }
    std::vector<std::string> expected;
    std::set<std::string> known;
    for (const std::string& link : links) {
      if (known.insert(link).second) expected.push_back(link);
    }
    ASSERT_EQ(sink.all, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace portolan
