#include "base/check.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

TEST(CheckDeathTest, SaysWhereAndWhy) {
  const int count = 3;
  EXPECT_DEATH(CHECK(count < 3, "count {}", count), "check_test.cc:[0-9]+: CHECK failed: count < 3: count 3");
  EXPECT_DEATH(CHECK(count == 0), "CHECK failed: count == 0");
}

TEST(CheckTest, TrueConditionCostsNothingVisible) {
  int evaluations = 0;
  CHECK(++evaluations == 1, "evaluated {} times", evaluations);
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace portolan
