#include "io/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace portolan {
namespace {

TEST(RngTest, ASeedGivesTheSameNumbersOnEveryMachine) {
  Rng rng(1);
  EXPECT_EQ(rng.Next(), Rng(1).Next());
  EXPECT_NE(Rng(1).Next(), Rng(2).Next());
}

TEST(RngTest, TheSystemsNumbersAreNeverTheSame) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    Rng rng = Rng::FromSystem().value();
    for (int n = 0; n < 10; ++n) EXPECT_TRUE(seen.insert(rng.Next()).second);
  }
}

}  // namespace
}  // namespace portolan
