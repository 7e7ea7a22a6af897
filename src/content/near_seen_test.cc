#include "content/near_seen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "content/near_batch.h"
#include "content/near_pairs.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";

std::string UrlOf(uint64_t n) {
  return "https://www.a-site.example/some/directory/page-" + std::to_string(n) + ".html";
}

uint64_t HashOf(uint64_t n) { return Mix64(n + 1'000'000); }  // never 0

uint64_t Flip(uint64_t hash, uint64_t bits, Rng& rng) {
  for (uint64_t done = 0; static_cast<uint64_t>(std::popcount(done)) < bits;) {
    const uint64_t bit = uint64_t{1} << rng.Below(64);
    hash ^= (done & bit) == 0 ? bit : 0;
    done |= bit;
  }
  return hash;
}

TEST(NearTableTest, FindsTheNearestAndOfTheseTheOldest) {
  NearTable table(NearTable::kMinMemory);
  EXPECT_EQ(table.Find(5), nullptr);
  table.Add({.similarity = 0xff, .url = "three"});
  EXPECT_EQ(table.Find(0xf), nullptr);
  table.Add({.similarity = 0xf1, .url = "two"});
  table.Add({.similarity = 0xe3, .url = "two, later"});
  EXPECT_EQ(table.Find(0xf3)->url, "two");  // one bit from both
  EXPECT_EQ(table.Find(0xe3)->url, "two, later");
  EXPECT_EQ(table.Find(0x100ff)->url, "three");
  EXPECT_EQ(table.Find(0xff ^ 0xf0), nullptr);
}

// Against looking at every entry, while the oldest leave.
TEST(NearTableTest, FindsWhatIsThereAndNothingElse) {
  NearTable table(NearTable::kMinMemory);
  Rng rng(5);
  std::vector<uint64_t> all;  // the oldest first
  size_t first = 0;
  uint64_t near = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t hash = all.empty() || rng.Below(4) == 0
                              ? rng.Next()
                              : Flip(all[first + rng.Below(all.size() - first)], rng.Below(6), rng);
    int least = kNearBits + 1;
    for (size_t i = first; i < all.size(); ++i) least = std::min(least, BitsApart(all[i], hash));
    const NearTable::Entry* const found = table.Find(hash);
    ASSERT_EQ(found != nullptr, least <= kNearBits);
    if (found != nullptr) {
      ASSERT_EQ(BitsApart(found->similarity, hash), least);
      ++near;
    }
    const std::string url = UrlOf(static_cast<uint64_t>(step));
    while (!table.Fits(url.size()) || table.entries() > 700) {
      table.RemoveOldest();
      ++first;
    }
    table.Add({.similarity = hash, .url = url});
    all.push_back(hash);
    ASSERT_EQ(table.entries(), all.size() - first);
  }
  EXPECT_GT(near, 5'000U);
  EXPECT_GT(first, 10'000U);
}

// Whatever hashes are chosen, one look costs a bounded time: the newest of a long chain are found.
TEST(NearTableTest, ALongChainIsLookedAtFromItsNewEnd) {
  NearTable table(NearTable::kMinMemory);
  Rng rng(6);
  std::vector<uint64_t> all;
  for (int i = 0; i < 2000; ++i) {
    all.push_back((rng.Next() & ~uint64_t{0xffff}) | 0x1234);
    table.Add({.similarity = all.back(), .url = "u"});
  }
  // Only its block of 0x1234 is whole.
  const auto broken = [](uint64_t hash) { return hash ^ (uint64_t{1} << 20 | uint64_t{1} << 40 | uint64_t{1} << 60); };
  EXPECT_NE(table.Find(broken(all.back())), nullptr);
  EXPECT_EQ(table.Find(broken(all.front())), nullptr);
  EXPECT_NE(table.Find(all.front() ^ 7), nullptr);
}

TEST(NearBatchTest, AnswersAsBruteForceDoes) {
  for (int bits = 0; bits <= NearBatch::kMostBits; ++bits) {
    Rng rng(static_cast<uint64_t>(bits) + 1);
    std::set<uint64_t> distinct;
    while (distinct.size() < 1000) {
      distinct.insert(distinct.empty() || rng.Below(3) == 0 ? rng.Next() : Flip(*distinct.begin(), rng.Below(7), rng));
    }
    const std::vector<uint64_t> hashes(distinct.begin(), distinct.end());
    NearBatch batch(hashes, bits);
    for (int i = 0; i < 500; ++i) {
      const uint64_t asked = Flip(hashes[rng.Below(hashes.size())], rng.Below(4), rng);
      std::vector<uint32_t> expected;
      for (uint32_t place = 0; place < hashes.size(); ++place) {
        const int apart = BitsApart(asked, hashes[place]);
        if (apart >= 1 && apart <= bits) expected.push_back(place);
      }
      std::vector<uint32_t> found = batch.Near(asked);
      std::ranges::sort(found);
      ASSERT_EQ(found, expected) << bits;
    }
  }
}

struct Store {
  static Result<std::unique_ptr<Store>> Open(Env& env, uint64_t memory = NearTable::kMinMemory) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, kDir));
    auto store = std::make_unique<Store>(std::move(manifest));
    ASSIGN_OR_RETURN(store->near, NearSeen::Open(env, store->manifest, {.memory = memory}));
    return store;
  }
  explicit Store(Manifest opened) : manifest(std::move(opened)) {}

  Status Commit() {
    const auto all = near->Checkpointables();
    return manifest.Commit(all);
  }
  // The URL of the near original; empty: there is none.
  std::string Look(uint64_t similarity, std::string_view url) {
    const auto known = near->Look({.similarity = similarity, .url = url, .depth = 2, .type = 3});
    EXPECT_TRUE(known) << known.error().ToString();
    return *known ? (*known)->url : std::string();
  }

  Manifest manifest;
  std::unique_ptr<NearSeen> near;
};

TEST(NearSeenTest, OnlyOriginalsAreRemembered) {
  MemEnv env;
  auto store = Store::Open(env).value();
  EXPECT_EQ(store->Look(0xff00, "https://a.example/"), "");
  EXPECT_EQ(store->Look(0xff07, "https://b.example/"), "https://a.example/");
  // Near the second, which is no original, and far from the first.
  EXPECT_EQ(store->Look(0xff3f, "https://c.example/"), "");
  EXPECT_EQ(store->Look(0xff00, "https://a.example/"), "") << "the same page again";
  const auto known = store->near->Look({.similarity = 0xff01, .url = "https://d.example/"}).value();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->bits, 1);
  EXPECT_EQ(known->depth, 2);
  EXPECT_EQ(known->type, 3);
}

TEST(NearSeenTest, TheOldestAreForgottenAndWhatIsFoundStays) {
  MemEnv env;
  auto store = Store::Open(env).value();
  ASSERT_EQ(store->Look(HashOf(0), UrlOf(0)), "");
  uint64_t n = 1;
  for (; n < 50'000 && store->near->forgotten() < 3000; ++n) {
    ASSERT_EQ(store->Look(HashOf(n), UrlOf(n)), "");
    if (n % 500 == 0) {
      ASSERT_EQ(store->Look(HashOf(0) ^ 5, "https://copy.example/"), UrlOf(0));
    }
  }
  EXPECT_EQ(store->Look(HashOf(n - 1) ^ 1, "https://copy.example/"), UrlOf(n - 1));
  EXPECT_EQ(store->Look(HashOf(1) ^ 1, "https://copy.example/1"), "");
  // As it is after a restart, with the same memory and with more.
  ASSERT_TRUE(store->Commit());
  for (const uint64_t memory : {NearTable::kMinMemory, 2 * NearTable::kMinMemory}) {
    store.reset();
    store = Store::Open(env, memory).value();
    EXPECT_EQ(store->Look(HashOf(n - 1) ^ 1, "https://copy.example/"), UrlOf(n - 1));
    EXPECT_EQ(store->Look(HashOf(0) ^ 1, "https://copy.example/"), UrlOf(0));
  }
}

TEST(NearSeenTest, WithLessMemoryTheOldestAreForgotten) {
  MemEnv env;
  {
    auto store = Store::Open(env, 4 * NearTable::kMinMemory).value();
    for (uint64_t n = 1; n < 20'000; ++n) ASSERT_EQ(store->Look(HashOf(n), UrlOf(n)), "");
    ASSERT_EQ(store->near->forgotten(), 0U);
    ASSERT_TRUE(store->Commit());
  }
  auto store = Store::Open(env).value();
  EXPECT_EQ(store->near->forgotten() + store->near->table().entries(), 19'999U);
  EXPECT_GT(store->near->forgotten(), 1000U);
  EXPECT_EQ(store->Look(HashOf(19'999) ^ 1, "https://copy.example/"), UrlOf(19'999));
  EXPECT_EQ(store->Look(HashOf(2), "https://copy.example/1"), "");
  ASSERT_TRUE(store->Commit());
  ASSERT_TRUE(Store::Open(env));
}

TEST(NearSeenTest, LittleMemoryIsRefusedAndARecordHasOneForm) {
  MemEnv env;
  EXPECT_EQ(Store::Open(env, NearTable::kMinMemory - 1).error().code(), ErrorCode::kInvalidArgument);
  const NearPage page{.similarity = 0x0102030405060708, .url = "http://a/", .depth = 0x0a0b, .type = 0x0c};
  std::string bytes;
  EncodeNearPage(page, bytes);
  EXPECT_EQ(bytes, std::string("http://a/\x08\x07\x06\x05\x04\x03\x02\x01\x0b\x0a\x0c", 20));
  EXPECT_EQ(DecodeNearPage(bytes), page);
  EXPECT_FALSE(DecodeNearPage(std::string_view(bytes).substr(10)));
  EXPECT_FALSE(DecodeNearPage(std::string(11, '\0')));
}

// A power cut at every operation, with four outcomes each: what is left is a committed state, and from it the same
// answers are given as without the cut.
TEST(NearSeenTest, AfterAPowerCutTheAnswersAreTheSame) {
  constexpr uint64_t kSteps = 300;
  const auto hash_of = [](uint64_t step) {
    const uint64_t text = HashOf(Mix64(step) % 60);
    return step % 2 == 0 ? text : text ^ (uint64_t{1} << (step % 64));
  };
  const auto done_in = [](const NearSeen& near) {
    return near.found() + near.table().entries() + near.forgotten();  // each look is one of these
  };
  const auto work = [&](Env& env, std::vector<std::string>& answers) -> Status {
    ASSIGN_OR_RETURN(const auto store, Store::Open(env));
    for (uint64_t step = done_in(*store->near); step < kSteps; ++step) {
      ASSIGN_OR_RETURN(const auto known, store->near->Look({.similarity = hash_of(step), .url = UrlOf(step)}));
      answers[step] = known ? known->url : "";
      if (step % 37 == 0) RETURN_IF_ERROR(store->Commit());
    }
    return store->Commit();
  };
  uint64_t operations = 0;
  std::vector<std::string> expected(kSteps);
  {
    MemEnv mem;
    FaultyEnv env(mem);
    ASSERT_TRUE(work(env, expected));
    operations = env.operations();
  }
  EXPECT_GT(kSteps - static_cast<uint64_t>(std::ranges::count(expected, "")), 200U);
  for (uint64_t cut = 1; cut <= operations; ++cut) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    std::vector<std::string> answers(kSteps);
    static_cast<void>(work(env, answers));
    for (const auto& [mode, seed] : {std::pair{CrashMode::kLoseUnsynced, uint64_t{0}},
                                     {CrashMode::kKeepAll, uint64_t{0}},
                                     {CrashMode::kTorn, cut},
                                     {CrashMode::kTorn, cut + 1000}}) {
      const auto after = mem.CrashedCopy(mode, seed);
      std::vector<std::string> all = answers;
      const Status status = work(*after, all);
      ASSERT_TRUE(status) << "cut " << cut << ": " << status.error().ToString();
      ASSERT_EQ(all, expected) << "cut " << cut;
    }
  }
  EXPECT_GT(operations, 20U);
}

}  // namespace
}  // namespace portolan
