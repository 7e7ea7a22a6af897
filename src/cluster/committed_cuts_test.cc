#include "cluster/committed_cuts.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

ShardReport::Kept Cut(uint64_t sent) { return {.idle = true, .sent = {0, sent}, .taken = {{}, {}}}; }

TEST(CommittedCutsTest, WithoutACopyTheNewestIsTold) {
  CommittedCuts cuts(2);
  EXPECT_FALSE(cuts.ToTell({}).idle);
  EXPECT_EQ(cuts.ToTell({}).sent.size(), 2U);
  cuts.Add(7, Cut(70));
  cuts.Add(8, Cut(80));
  EXPECT_EQ(cuts.ToTell({}), Cut(80));
}

TEST(CommittedCutsTest, WithACopyTheNewestThatItHasIsTold) {
  CommittedCuts cuts(2);
  EXPECT_FALSE(cuts.ToTell(7).idle) << "of an earlier process";
  cuts.Add(8, Cut(80));
  EXPECT_FALSE(cuts.ToTell(0).idle);
  EXPECT_FALSE(cuts.ToTell(7).idle);
  EXPECT_EQ(cuts.ToTell(8), Cut(80));
  cuts.Add(9, Cut(90));
  cuts.Add(10, Cut(100));
  EXPECT_EQ(cuts.ToTell(8), Cut(80));
  EXPECT_EQ(cuts.ToTell(10), Cut(100));
  EXPECT_EQ(cuts.ToTell({}), Cut(100)) << "the copy is gone";
  cuts.Add(11, Cut(110));
  EXPECT_EQ(cuts.ToTell({}), Cut(110));
  EXPECT_EQ(cuts.ToTell(10), Cut(100)) << "it is back";
}

TEST(CommittedCutsTest, ACopyThatIsFarBehindIsWaitedFor) {
  CommittedCuts cuts(2);
  for (uint64_t i = 1; i <= 1'000; ++i) cuts.Add(i, Cut(i));
  EXPECT_FALSE(cuts.ToTell(1).idle);
  EXPECT_EQ(cuts.ToTell(999), Cut(999));
  EXPECT_EQ(cuts.ToTell(2'000), Cut(1'000));
}

}  // namespace
}  // namespace portolan
