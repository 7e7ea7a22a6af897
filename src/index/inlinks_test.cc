#include "index/inlinks.h"

#include <gtest/gtest.h>

#include <map>

#include "index/inlink_sort.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using std::string_literals::operator""s;

TEST(InlinksTest, GoldenBytes) {
  const Inlinks inlinks{.step = 7, .texts = {{"home", 300}, {"b", 1}}};
  const std::string packed = "\x07\xac\x02\x04home\x01\x01"s + "b";
  EXPECT_EQ(inlinks.Pack(), packed);
  Inlinks read;
  ASSERT_TRUE(Inlinks::Unpack(packed, read));
  EXPECT_EQ(read.step, 7);
  ASSERT_EQ(read.texts.size(), 2);
  EXPECT_EQ(read.texts[0].text, "home");
  EXPECT_EQ(read.texts[0].links, 300);
  EXPECT_EQ(Inlinks().Pack(), "");
  EXPECT_FALSE(Inlinks::Unpack("", read));
  EXPECT_FALSE(Inlinks::Unpack("\x41", read)) << "more than 64 steps";
  EXPECT_FALSE(Inlinks::Unpack("\x07\x01\x05home", read));
}

TEST(InlinksTest, ScoresGrowWithTheRankAndEndAtOne) {
  EXPECT_EQ(ScoreStep(0), 0);
  EXPECT_EQ(ScoreStep(-1), 0);
  EXPECT_EQ(ScoreStep(1), 3);
  EXPECT_EQ(ScoreStep(1'000'000), kScoreSteps);
  EXPECT_EQ(ScoreStep(1e30), kScoreSteps);
  for (double rank = 0.1; rank < 1e7; rank *= 1.5) EXPECT_LE(ScoreStep(rank), ScoreStep(rank * 1.5));
}

TEST(InlinkSortTest, EqualTextsOfATargetAreOneRowWhateverTheMemory) {
  for (const size_t memory : {size_t{1}, size_t{1} << 20, size_t{16} << 20}) {
    MemEnv env;
    ASSERT_TRUE(env.CreateDirs("d"));
    auto sort = InlinkSort::Make(env, "d", memory);
    ASSERT_TRUE(sort);
    std::map<std::pair<uint64_t, std::string>, uint64_t> expected;
    for (uint64_t i = 0; i < 20'000; ++i) {
      const uint64_t target = i * 7919 % 100;
      const std::string text = "text " + std::to_string(i * 31 % 17) + std::string(i % 3 * 10, 'y');
      ++expected[{target, text}];
      ASSERT_TRUE(sort->Add(target, text));
    }
    std::map<std::pair<uint64_t, std::string>, uint64_t> got;
    std::pair<uint64_t, std::string> last;
    ASSERT_TRUE(sort->Merge([&](uint64_t target, std::string_view text, uint64_t links) -> Status {
      const std::pair<uint64_t, std::string> key(target, text);
      EXPECT_TRUE(got.empty() || last < key);
      last = key;
      got[key] = links;
      return {};
    }));
    EXPECT_EQ(got, expected) << memory;
  }
}

}  // namespace
}  // namespace portolan
