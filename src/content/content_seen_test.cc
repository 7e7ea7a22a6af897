#include "content/content_seen.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";

PayloadKey KeyOf(uint64_t n) { return {Mix64(n), Mix64(n + 1'000'000'007)}; }
std::string UrlOf(uint64_t n) {
  return "https://www.a-site.example/some/directory/page-" + std::to_string(n) + ".html";
}

struct Found : LateSink {
  struct One {
    std::string url;
    int64_t unix_ms;
    int64_t first_unix_ms;
    bool operator==(const One&) const = default;
  };
  std::vector<One> all;
  Status OnLate(const LateFinding& finding) override {
    all.push_back({std::string(finding.url), finding.unix_ms, finding.first_unix_ms});
    return {};
  }
};

ContentSeenOptions Small(uint64_t memory = ContentSeenOptions::kMinMemory) {
  ContentSeenOptions options;
  options.memory = memory;
  return options;
}

struct Store {
  static Result<std::unique_ptr<Store>> Open(Env& env, const ContentSeenOptions& options = Small()) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, kDir));
    auto store = std::make_unique<Store>(std::move(manifest));
    ASSIGN_OR_RETURN(store->content, ContentSeen::Open(env, store->manifest, store->executor, options));
    return store;
  }
  explicit Store(Manifest opened) : manifest(std::move(opened)) {}

  Status Commit() {
    const auto all = content->Checkpointables();
    return manifest.Commit(all);
  }
  // The URL of the first capture; empty: this is it.
  std::string Look(uint64_t payload, std::string_view url, int64_t unix_ms) {
    if (!content->HasRoom()) Answer(late);
    EXPECT_TRUE(content->HasRoom());
    const auto known = content->Look({.payload = KeyOf(payload), .url = url, .unix_ms = unix_ms});
    EXPECT_TRUE(known) << known.error().ToString();
    return *known ? (*known)->url : std::string();
  }
  // Everything that DRUM was asked about.
  void Answer(Found& found) {
    int64_t now = 1'000'000'000;
    for (; content->waiting() > 0; now += 1'000'000'000) {
      ASSERT_TRUE(content->StartRound(now, true));
      while (true) {
        const auto taken = content->TakeLate(found, 1000, now);
        ASSERT_TRUE(taken) << taken.error().ToString();
        if (*taken == 0) break;
      }
    }
  }

  Manifest manifest;
  InlineExecutor executor;
  std::unique_ptr<ContentSeen> content;
  Found late;  // what Look had to take to get room
};

TEST(ContentSeenTest, TheFirstCaptureOfAPayloadIsFound) {
  MemEnv env;
  auto store = Store::Open(env).value();
  EXPECT_EQ(store->Look(1, "https://a.example/", 5), "");
  EXPECT_EQ(store->Look(2, "https://b.example/", 6), "");
  const auto known = store->content->Look({.payload = KeyOf(1), .url = "https://c.example/", .unix_ms = 9}).value();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->url, "https://a.example/");
  EXPECT_EQ(known->unix_ms, 5);
  EXPECT_EQ(store->content->counts().copies, 1U);
  EXPECT_EQ(store->content->waiting(), 0U);  // DRUM is not asked as long as nothing is forgotten
}

TEST(ContentSeenTest, WhatRamForgetsIsFoundLate) {
  MemEnv env;
  auto store = Store::Open(env).value();
  uint64_t n = 0;
  for (; store->content->counts().forgotten < 1000; ++n)
    ASSERT_EQ(store->Look(n, UrlOf(n), 10 + static_cast<int64_t>(n)), "");
  const uint64_t horizon = store->content->table().live();
  EXPECT_GT(horizon, 8'000U);
  // The oldest are forgotten, the newest are not.
  EXPECT_EQ(store->Look(n - 1, "https://copy.example/", 7), UrlOf(n - 1));
  EXPECT_EQ(store->Look(3, "https://copy.example/3", 70), "");
  EXPECT_EQ(store->Look(3, "https://copy.example/33", 71), "https://copy.example/3");
  Found found;
  store->Answer(found);
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0], (Found::One{"https://copy.example/3", 70, 13}));
  EXPECT_EQ(store->content->counts().late, 1U);
  EXPECT_EQ(store->content->counts().lost, 0U);
}

// A payload that is everywhere stays, however many others pass.
TEST(ContentSeenTest, WhatIsFoundStays) {
  MemEnv env;
  auto store = Store::Open(env).value();
  ASSERT_EQ(store->Look(0, UrlOf(0), 1), "");
  for (uint64_t n = 1; store->content->counts().forgotten < 30'000; ++n) {
    ASSERT_EQ(store->Look(n, UrlOf(n), 10), "");
    if (n % 2000 == 0) {
      ASSERT_EQ(store->Look(0, "https://copy.example/", 10), UrlOf(0)) << n;
    }
  }
}

TEST(ContentSeenTest, ACaptureCanBeTakenBack) {
  MemEnv env;
  auto store = Store::Open(env).value();
  uint64_t n = 0;
  for (; store->content->counts().forgotten < 1000; ++n) ASSERT_EQ(store->Look(n, UrlOf(n), 10), "");
  // From the table: only by the URL that it has.
  ASSERT_TRUE(store->content->Remove(KeyOf(n - 1), "https://other.example/", true));
  EXPECT_EQ(store->Look(n - 1, "https://new.example/", 20), UrlOf(n - 1));
  ASSERT_TRUE(store->content->Remove(KeyOf(n - 1), UrlOf(n - 1), true));
  EXPECT_EQ(store->Look(n - 1, "https://new.example/", 20), "");
  EXPECT_EQ(store->Look(n - 1, "https://newer.example/", 21), "https://new.example/");
  // From DRUM: likewise.
  ASSERT_TRUE(store->content->Remove(KeyOf(5), UrlOf(5), true));
  ASSERT_TRUE(store->content->Remove(KeyOf(6), "https://other.example/", true));
  EXPECT_EQ(store->Look(5, "https://new.example/5", 30), "");
  EXPECT_EQ(store->Look(6, "https://new.example/6", 30), "");
  Found found;
  store->Answer(found);
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].url, "https://new.example/6");
}

TEST(ContentSeenTest, ARestartForgetsNothing) {
  MemEnv env;
  std::map<uint64_t, std::string> first;
  uint64_t forgotten = 0;
  {
    auto store = Store::Open(env).value();
    for (uint64_t n = 0; n < 30'000; ++n) {
      if (store->Look(n, UrlOf(n), 10).empty()) first[n] = UrlOf(n);
    }
    ASSERT_TRUE(store->content->Remove(KeyOf(29'999), UrlOf(29'999), true));
    forgotten = store->content->counts().forgotten;
    EXPECT_GT(forgotten, 1000U);
    ASSERT_TRUE(store->Commit());
    store->Look(40'000, UrlOf(40'000), 10);  // not committed
  }
  auto store = Store::Open(env).value();
  EXPECT_EQ(store->content->counts().forgotten, forgotten);
  EXPECT_EQ(store->Look(40'000, "https://copy.example/", 10), "");
  EXPECT_EQ(store->Look(29'999, "https://copy.example/", 10), "");
  for (uint64_t n = 29'998; n > 29'000; --n) ASSERT_EQ(store->Look(n, "https://copy.example/", 10), UrlOf(n));
  EXPECT_EQ(store->Look(0, "https://copy.example/0", 10), "");
  Found found;
  store->Answer(found);
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].url, "https://copy.example/0");
}

TEST(ContentSeenTest, WithLessMemoryTheOldestAreForgotten) {
  MemEnv env;
  {
    auto store = Store::Open(env, Small(4 * ContentSeenOptions::kMinMemory)).value();
    for (uint64_t n = 0; n < 40'000; ++n) ASSERT_EQ(store->Look(n, UrlOf(n), 10), "");
    ASSERT_EQ(store->content->counts().forgotten, 0U);
    ASSERT_TRUE(store->Commit());
  }
  auto store = Store::Open(env).value();
  const ContentCounts counts = store->content->counts();
  EXPECT_EQ(counts.forgotten + counts.lost + store->content->table().live(), 40'000U);
  EXPECT_GT(counts.forgotten, 1000U);
  EXPECT_EQ(store->Look(39'999, "https://copy.example/", 10), UrlOf(39'999));
  EXPECT_EQ(store->Look(1, "https://copy.example/1", 10), "");
  Found found;
  store->Answer(found);
  EXPECT_EQ(found.all.size(), 1U);
  ASSERT_TRUE(store->Commit());
  store.reset();
  store = Store::Open(env).value();
  EXPECT_EQ(store->Look(39'998, "https://copy.example/", 10), UrlOf(39'998));
}

TEST(ContentSeenTest, LongUrlsAreNotRemembered) {
  MemEnv env;
  auto store = Store::Open(env).value();
  const std::string url = "https://a.example/" + std::string(kMaxFirstUrl, 'x');
  EXPECT_EQ(store->Look(1, url, 1), "");
  EXPECT_EQ(store->Look(1, "https://b.example/", 2), "");
  EXPECT_EQ(store->Look(1, url, 3), "https://b.example/");
  EXPECT_EQ(store->content->counts().too_long, 1U);
}

TEST(ContentSeenTest, TooLittleMemoryIsRefused) {
  MemEnv env;
  const auto store = Store::Open(env, Small(ContentSeenOptions::kMinMemory - 1));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kInvalidArgument);
}

// A power cut at many operations, with four outcomes each: what is left is a committed state, and a crawl that
// continues from it archives each payload in full exactly once, as far as the table remembers.
TEST(ContentSeenTest, AfterAPowerCutEachPayloadHasOneFullCapture) {
  constexpr uint64_t kSteps = 300;
  constexpr uint64_t kPayloads = 40;
  // The archive of this run: full captures by payload, as of the last commit and since.
  struct Run {
    std::map<uint64_t, int> archived;
    uint64_t done = 0;
  };
  const auto work = [](Env& env, Run committed, Run& left) -> Status {
    left = committed;
    ASSIGN_OR_RETURN(const auto store, Store::Open(env));
    Run now = committed;
    for (; now.done < kSteps;) {
      const uint64_t step = now.done++;
      const uint64_t payload = Mix64(step) % kPayloads;
      ASSIGN_OR_RETURN(const auto known,
                       store->content->Look({.payload = KeyOf(payload), .url = UrlOf(step), .unix_ms = 9}));
      if (!known) ++now.archived[payload];
      if (step % 37 == 0) {
        RETURN_IF_ERROR(store->Commit());
        left = now;
      }
    }
    RETURN_IF_ERROR(store->Commit());
    left = now;
    return {};
  };
  uint64_t operations = 0;
  {
    MemEnv mem;
    FaultyEnv env(mem);
    Run end;
    ASSERT_TRUE(work(env, {}, end));
    operations = env.operations();
    EXPECT_EQ(end.archived.size(), kPayloads);
  }
  for (uint64_t cut = 1; cut <= operations; ++cut) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    Run left;
    static_cast<void>(work(env, {}, left));
    for (const auto& [mode, seed] : {std::pair{CrashMode::kLoseUnsynced, uint64_t{0}},
                                     {CrashMode::kKeepAll, uint64_t{0}},
                                     {CrashMode::kTorn, cut},
                                     {CrashMode::kTorn, cut + 1000}}) {
      const auto after = mem.CrashedCopy(mode, seed);
      // The manifest that is left says how far the archive is: it is cut to the same checkpoint. With kKeepAll the
      // commit that was being written may have become whole.
      uint64_t looked = 0;
      {
        const auto store = Store::Open(*after);
        ASSERT_TRUE(store) << "cut " << cut << ": " << store.error().ToString();
        looked = (*store)->content->counts().looked;
      }
      Run from;
      for (; from.done < looked; ++from.done) from.archived.try_emplace(Mix64(from.done) % kPayloads, 1);
      ASSERT_GE(from.done, left.done) << "cut " << cut;
      Run end;
      const Status status = work(*after, from, end);
      ASSERT_TRUE(status) << "cut " << cut << ": " << status.error().ToString();
      for (const auto& [payload, times] : end.archived) ASSERT_EQ(times, 1) << "cut " << cut << " payload " << payload;
      ASSERT_EQ(end.archived.size(), kPayloads);
    }
  }
  EXPECT_GT(operations, 30U);
}

}  // namespace
}  // namespace portolan
