// Every rival written here against std::unordered_set, over a file system in memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "bench/seen/key_sort.h"
#include "bench/seen/link_stream.h"
#include "bench/seen/mercator_b.h"
#include "bench/seen/polybot.h"
#include "io/counting_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan::bench {
namespace {

using Maker = Result<std::unique_ptr<UrlSeen>> (*)(Env& env, const UrlSeenOptions& options);

template <typename Rival>
Result<std::unique_ptr<UrlSeen>> Make(Env& env, const UrlSeenOptions& options) {
  return Rival::Create(env, options);
}

struct Named {
  const char* name;
  Maker make;
};

class RivalsTest : public ::testing::TestWithParam<Named> {
 protected:
  void SetUp() override { ASSERT_TRUE(env_.CreateDirs("d")); }

  void Open(uint64_t ram) {
    auto made = GetParam().make(
        env_, {.dir = "d", .ram = ram, .unique = [this](std::string_view text) { delivered_.emplace_back(text); }});
    ASSERT_TRUE(made) << made.error().message();
    rival_ = *std::move(made);
  }

  void Add(std::string_view text) {
    const auto added = rival_->Add(Hash64(text), text);
    ASSERT_TRUE(added) << added.error().message();
  }

  void Finish() {
    const auto finished = rival_->Finish();
    ASSERT_TRUE(finished) << finished.error().message();
    std::ranges::sort(delivered_);
  }

  MemEnv env_;
  std::unique_ptr<UrlSeen> rival_;
  std::vector<std::string> delivered_;
};

TEST_P(RivalsTest, DeliversWhatAHashSetWouldWhateverTheRam) {
  for (const uint64_t ram : {0U, 20'000U, 1U << 20U, 64U << 20U}) {
    SCOPED_TRACE(ram);
    delivered_.clear();
    if (env_.Exists("d/urlseen")) {
      ASSERT_TRUE(env_.Remove("d/urlseen"));
    }
    Open(ram);
    LinkStream stream({.seed = 3, .sites_at_once = 20});
    std::unordered_set<std::string> expected;
    // A batch of 64 URLs rewrites URLseen for each page: few pages will do.
    while (stream.links() < (ram < 1'000'000 ? 20'000U : 200'000U)) {
      for (const Link& link : stream.NextPage()) {
        Add(link.text);
        expected.emplace(link.text);
      }
    }
    Finish();
    std::vector<std::string> sorted(expected.begin(), expected.end());
    std::ranges::sort(sorted);
    ASSERT_EQ(delivered_, sorted);
  }
}

TEST_P(RivalsTest, DuplicateInTheSameBatchIsDeliveredOnce) {
  Open(1 << 20);
  for (int i = 0; i < 3; ++i) Add("http://a.example/");
  Add("http://b.example/");
  Add("http://a.example/");
  Finish();
  EXPECT_EQ(delivered_, (std::vector<std::string>{"http://a.example/", "http://b.example/"}));
}

TEST_P(RivalsTest, KnowsAfterFinishWhatCameBefore) {
  Open(1 << 20);
  Finish();
  EXPECT_TRUE(delivered_.empty());
  Add("http://a.example/");
  Finish();
  Add("http://a.example/");
  Add("http://a.example/2");
  Finish();
  EXPECT_EQ(delivered_, (std::vector<std::string>{"http://a.example/", "http://a.example/2"}));
}

TEST_P(RivalsTest, TakesEmptyLongAndBinaryText) {
  Open(1 << 20);
  const std::vector<std::string> texts = {"", std::string(5000, 'x'), std::string("\0\xff\x80", 3),
                                          std::string(5000, 'x') + "y"};
  for (int round = 0; round < 2; ++round) {
    for (const std::string& text : texts) Add(text);
    Finish();
  }
  std::vector<std::string> sorted = texts;
  std::ranges::sort(sorted);
  EXPECT_EQ(delivered_, sorted);
}

TEST_P(RivalsTest, DamagedFileIsAnErrorAndNoCrash) {
  Open(1 << 20);
  for (int i = 0; i < 100; ++i) Add("http://a.example/" + std::to_string(i));
  Finish();
  env_.Corrupt("d/urlseen", 0, std::string(7, '\xff'));
  {
    auto file = env_.Open("d/urlseen", OpenMode::kAppend);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->Append("xyz"));  // half a key, half a block
  }
  Add("http://a.example/another");
  const auto finished = rival_->Finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code(), ErrorCode::kCorrupt);
}

INSTANTIATE_TEST_SUITE_P(All, RivalsTest,
                         ::testing::Values(Named{"MercatorB", &Make<MercatorB>}, Named{"Polybot", &Make<Polybot>}),
                         [](const auto& tested) { return tested.param.name; });

// Traffic is what Theorem 1 predicts: text out and back, URLseen read and written once per round.
TEST(MercatorBTest, MovesTheBytesOfTheModel) {
  MemEnv memory;
  ASSERT_TRUE(memory.CreateDirs("d"));
  CountingEnv env(memory);
  uint64_t found = 0;
  const uint64_t ram = 24 << 20;
  auto made = MercatorB::Create(env, {.dir = "d", .ram = ram, .unique = [&](std::string_view) { ++found; }});
  ASSERT_TRUE(made);
  LinkStream stream({});
  uint64_t text = 0;
  std::vector<uint64_t> seen_at_merge;
  while (stream.links() < 3'000'000) {
    for (const Link& link : stream.NextPage()) {
      const uint64_t rounds = (*made)->rounds();
      ASSERT_TRUE((*made)->Add(link.key, link.text));
      text += link.text.size() + 1;
      if ((*made)->rounds() != rounds) seen_at_merge.push_back(found);
    }
  }
  ASSERT_TRUE((*made)->Finish());
  seen_at_merge.push_back(found);
  uint64_t expected = 2 * text;
  for (size_t i = 0; i < seen_at_merge.size(); ++i) {
    expected += 8 * seen_at_merge[i] + (i == 0 ? 0 : 8 * seen_at_merge[i - 1]);
  }
  EXPECT_GT(seen_at_merge.size(), 3U);
  EXPECT_NEAR(static_cast<double>(env.traffic()) / static_cast<double>(expected), 1, 0.001);
}

TEST(KeySortTest, IsStableAndRightForUniformAndSkewedKeys) {
  Rng rng(5);
  for (const int shift : {0, 20, 40, 63}) {
    std::vector<KeyEntry> entries;
    for (uint32_t i = 0; i < 5000; ++i) entries.push_back(KeyEntry::Make(rng.Next() >> shift, i));
    std::vector<KeyEntry> expected = entries;
    std::ranges::sort(expected, {}, [](const KeyEntry& entry) { return std::pair(entry.key(), entry.number); });
    std::vector<KeyEntry> scratch(entries.size());
    SortByKey(entries, scratch);
    for (size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(entries[i].key(), expected[i].key());
      ASSERT_EQ(entries[i].number, expected[i].number);
    }
  }
}

}  // namespace
}  // namespace portolan::bench
