#include "budget/yield_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "flow/url_record.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

UrlGroups GroupsOf(std::string_view url) {
  return portolan::GroupsOf(url, HostKey(url, HashKey::Known()), HashKey::Known());
}

class YieldTableTest : public testing::Test {
 protected:
  YieldTableTest() : manifest_(Manifest::Open(env_, "store").value()) {
    table_ = YieldTable::Open(env_, manifest_, {}).value();
  }
  uint32_t Price(std::string_view url) const { return table_->Price(GroupsOf(url)); }
  void Observe(std::string_view url, bool useful, int times = 1) {
    for (int i = 0; i < times; ++i) table_->Observe(GroupsOf(url), useful);
  }

  MemEnv env_;
  Manifest manifest_;
  std::unique_ptr<YieldTable> table_;
};

TEST(UrlGroupsTest, GroupsAreHostAndFirstDirectory) {
  const UrlGroups page = GroupsOf("https://a.example/b/c?d=/e/");
  EXPECT_EQ(page, GroupsOf("https://a.example/b/"));
  EXPECT_EQ(page, GroupsOf("http://a.example:8080/b/x/y"));
  EXPECT_EQ(page.host, GroupsOf("https://a.example/").host);
  EXPECT_NE(page.directory, GroupsOf("https://a.example/b").directory) << "a file, not a directory";
  EXPECT_EQ(GroupsOf("https://a.example/b").directory, GroupsOf("https://a.example/?x/y").directory);
  EXPECT_NE(page.directory, GroupsOf("https://z.example/b/c").directory);
  EXPECT_NE(GroupsOf("https://a.example/").directory, page.host);
}

TEST_F(YieldTableTest, UnknownAndGoodGroupsCostOne) {
  EXPECT_EQ(Price("https://a.example/b/c"), 1U);
  Observe("https://a.example/b/c", false, 7);
  EXPECT_EQ(Price("https://a.example/b/c"), 1U) << "too early to say";
  Observe("https://good.example/b/c", true, 500);
  EXPECT_EQ(Price("https://good.example/b/c"), 1U);
}

TEST_F(YieldTableTest, ThePriceRisesWithWasteAndFallsWithRecovery) {
  const std::string_view trap = "https://a.example/calendar/2031";
  uint32_t before = 1;
  for (int i = 0; i < 20; ++i) {
    Observe(trap, false);
    EXPECT_GE(Price(trap), before);
    before = Price(trap);
  }
  EXPECT_EQ(before, YieldTable::kMaxPrice);
  Observe(trap, false, 10'000);
  for (int i = 0; i < 40; ++i) {
    Observe(trap, true);
    EXPECT_LE(Price(trap), before);
    before = Price(trap);
  }
  EXPECT_EQ(before, 1U) << "however long it was bad";
}

TEST_F(YieldTableTest, ADirectorySpeaksForItselfAndAHostForNewDirectories) {
  Observe("https://a.example/calendar/1", false, 300);
  Observe("https://a.example/news/1", true, 20);
  EXPECT_EQ(Price("https://a.example/news/2"), 1U);
  EXPECT_EQ(Price("https://a.example/calendar/2"), 16U);
  EXPECT_EQ(Price("https://b.example/calendar/2"), 1U);
  Observe("https://a.example/calendar/1", false, 300);
  EXPECT_EQ(Price("https://a.example/new-trap/1"), 16U);
}

TEST_F(YieldTableTest, ThePriceIsAboutHalfOfOneOverTheYield) {
  Rng rng(9);
  for (const uint64_t one_in : {1, 2, 4, 8, 16}) {
    const std::string url = fmt::format("https://yield{}.example/d/x", one_in);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < 5000; ++i) {
      Observe(url, rng.Below(one_in) == 0);
      ASSERT_GE(Price(url), 1U);
      ASSERT_LE(Price(url), YieldTable::kMaxPrice);
      if (i < 100) continue;
      sum += Price(url);
      ++count;
    }
    const double expected = std::max(1.0, static_cast<double>(one_in) / 2);
    EXPECT_GE(sum / count, expected * 0.6) << one_in;
    EXPECT_LE(sum / count, expected * 1.6) << one_in;
  }
}

TEST_F(YieldTableTest, PricesSurviveACheckpoint) {
  Observe("https://a.example/calendar/1", false, 30);
  Checkpointable* const all[] = {table_->checkpointable()};
  ASSERT_TRUE(manifest_.Commit(all));
  env_.Crash(CrashMode::kLoseUnsynced);
  manifest_ = Manifest::Open(env_, "store").value();
  table_ = YieldTable::Open(env_, manifest_, {}).value();
  EXPECT_EQ(Price("https://a.example/calendar/1"), 16U);
}

}  // namespace
}  // namespace portolan
