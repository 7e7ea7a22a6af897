#include "budget/trap_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "flow/url_record.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

class TrapTableTest : public testing::Test {
 protected:
  void Reopen() { table_ = TrapTable::Open(env_, manifest_, options_).value(); }
  UrlShape Shape(std::string_view url) const {
    return ShapeOf(url, HostKey(url, HashKey::Known()), 7, HashKey::Known());
  }
  bool Suspect(std::string_view url) const { return table_->Judge(Shape(url)).suspect; }
  void Observe(std::string_view url, bool is_new, int times = 1) {
    for (int i = 0; i < times; ++i) table_->Observe(Shape(url), is_new);
  }

  MemEnv env_;
  Manifest manifest_ = Manifest::Open(env_, "store").value();
  TrapTable::Options options_{.memory = 1 << 20};
  std::unique_ptr<TrapTable> table_ = TrapTable::Open(env_, manifest_, options_).value();
};

TEST_F(TrapTableTest, AFormThatGivesNothingNewIsSuspectAfterTheEvidence) {
  for (uint32_t i = 0; i < options_.evidence; ++i) {
    EXPECT_FALSE(Suspect("https://a.example/cal/2031/1/")) << i;
    Observe(fmt::format("https://a.example/cal/2031/{}/", i), false);
  }
  EXPECT_TRUE(Suspect("https://a.example/cal/1999/5/"));
  EXPECT_FALSE(Suspect("https://a.example/news/1999/5/")) << "another directory";
  EXPECT_FALSE(Suspect("https://b.example/cal/1999/5/")) << "another host";
  EXPECT_GE(table_->Judge(Shape("https://a.example/cal/1/1/")).price, 12U);
}

TEST_F(TrapTableTest, DistinctPagesAreNeverSuspectWhateverTheForm) {
  for (int i = 0; i < 1000; ++i) {
    const std::string url = fmt::format("https://a.example/{}/{}/?id={}", i, i % 12, i);
    EXPECT_FALSE(Suspect(url));
    Observe(url, i % 4 == 0);
  }
  EXPECT_LE(table_->Judge(Shape("https://a.example/1/1/?id=1")).price, 4U);
}

TEST_F(TrapTableTest, AListIsWorthWhatItLeadsTo) {
  for (int i = 0; i < 200; ++i) {
    const std::string list = fmt::format("https://a.example/list?page={}", i);
    Observe(list, false);
    table_->Credit(Shape(list));
    EXPECT_FALSE(Suspect(list)) << i;
  }
  // Nothing behind it any more.
  Observe("https://a.example/list?page=1", false, 64);
  EXPECT_TRUE(Suspect("https://a.example/list?page=999"));
}

TEST_F(TrapTableTest, OfNUrlsOfATrapLogNAreProbes) {
  Observe("https://a.example/cal/1", false, 20);
  int probes = 0;
  for (int i = 0; i < 100'000; ++i) {
    const UrlShape shape = Shape(fmt::format("https://a.example/cal/{}", i));
    probes += table_->Probe(shape, table_->Judge(shape)) ? 1 : 0;
  }
  EXPECT_EQ(probes, 14);  // 8, 16 … 65536
}

TEST_F(TrapTableTest, AGroupRecoversWhenProbesFindSomething) {
  Observe("https://a.example/cal/1", false, 30);
  ASSERT_TRUE(Suspect("https://a.example/cal/2"));
  EXPECT_EQ(table_->Observe(Shape("https://a.example/cal/3"), true), TrapTable::Effect::kRecovers);
  Observe("https://a.example/cal/4", true, 8);
  EXPECT_FALSE(Suspect("https://a.example/cal/5"));
}

TEST_F(TrapTableTest, OneTrapDoesNotSpoilItsHostAndThreeDo) {
  const auto trap = [&](const char* name) {
    for (int i = 0; i < 40; ++i) Observe(fmt::format("https://a.example/{}/{}", name, i), false);
  };
  trap("one");
  trap("two");
  EXPECT_FALSE(Suspect("https://a.example/fresh/1"));
  trap("three");
  EXPECT_TRUE(Suspect("https://a.example/fresh/1"));
  for (int i = 0; i < 20; ++i) Observe(fmt::format("https://a.example/good{}/x", static_cast<char>('a' + i)), true);
  EXPECT_FALSE(Suspect("https://a.example/fresh/1"));
  EXPECT_TRUE(Suspect("https://a.example/one/1")) << "the trap stays one";
}

TEST_F(TrapTableTest, ANameOfTheQueryIsEnough) {
  for (int i = 0; i < 40; ++i) {
    Observe(fmt::format("https://a.example/{}/page?sid={}", static_cast<char>('a' + i % 26), i), false);
    Observe(fmt::format("https://a.example/{}/page?id={}", static_cast<char>('a' + i % 26), i), true);
  }
  EXPECT_TRUE(Suspect("https://a.example/other/form.php?sid=77&x=2"));
  EXPECT_FALSE(Suspect("https://a.example/other/form.php?id=77&x=2"));
}

TEST_F(TrapTableTest, TextsThatDifferInThreeBitsAreNotNew) {
  const uint64_t text = 0x123456789abcdef0;
  EXPECT_TRUE(table_->IsNew(1, 11, text));
  EXPECT_FALSE(table_->IsNew(1, 11, 0x5555)) << "the same bytes";
  EXPECT_FALSE(table_->IsNew(1, 12, text ^ 0x8000000000000001));
  EXPECT_FALSE(table_->IsNew(1, 13, text ^ 0x0000000100010001));
  EXPECT_TRUE(table_->IsNew(1, 14, text ^ 0x00ff00ff00ff00ff));
  EXPECT_TRUE(table_->IsNew(2, 15, text ^ 1)) << "another domain";
  int wrong = 0;
  for (uint64_t i = 0; i < 3000; ++i) wrong += table_->IsNew(3, Mix64(i) | 1, Mix64(~i) | 1) ? 0 : 1;
  EXPECT_LE(wrong, 3) << "texts that have nothing in common";
}

TEST_F(TrapTableTest, ADomainEarnsItsHosts) {
  const auto url = [](int host) { return fmt::format("https://h{}.farm.example/", host); };
  int hosts = 0;
  while (table_->AdmitHost(Shape(url(hosts)))) ++hosts;
  EXPECT_EQ(hosts, static_cast<int>(TrapTable::kFreeHosts));
  EXPECT_TRUE(table_->AdmitHost(Shape(url(0)))) << "it was admitted before";
  table_->Observe(Shape(url(0)), true);
  EXPECT_TRUE(table_->AdmitHost(Shape(url(100))));
  EXPECT_TRUE(table_->AdmitHost(Shape(url(101))));
  EXPECT_FALSE(table_->AdmitHost(Shape(url(102))));
  table_->Observe(Shape(url(1)), false);  // shows nothing new
  EXPECT_FALSE(table_->AdmitHost(Shape(url(102))));
  table_->GiveHostBack(Shape(url(2)));  // does not answer
  table_->GiveHostBack(Shape(url(2)));
  EXPECT_TRUE(table_->AdmitHost(Shape(url(102))));
  EXPECT_FALSE(table_->AdmitHost(Shape(url(103))));
}

TEST_F(TrapTableTest, SurvivesARestartAndIsReadByAnother) {
  Observe("https://a.example/cal/1", false, 30);
  ASSERT_TRUE(manifest_.Commit(table_->Checkpointables()));
  manifest_ = Manifest::Open(env_, "store").value();
  Reopen();
  EXPECT_TRUE(Suspect("https://a.example/cal/2"));
  const auto other = TrapTable::OpenCommitted(env_, manifest_, {}).value();
  const TrapVerdict verdict = other->Judge(Shape("https://a.example/cal/2"));
  EXPECT_TRUE(verdict.suspect);
  EXPECT_EQ(verdict.seen, 30U);
}

TEST_F(TrapTableTest, ForgettingMakesGroupsGood) {
  options_.memory = 1 << 14;
  Reopen();
  Observe("https://a.example/cal/1", false, 30);
  ASSERT_TRUE(Suspect("https://a.example/cal/2"));
  for (int i = 0; i < 20'000; ++i) Observe(fmt::format("https://h{}.example/x{}", i, i), true, 2);
  EXPECT_FALSE(Suspect("https://a.example/cal/2"));
}

}  // namespace
}  // namespace portolan
