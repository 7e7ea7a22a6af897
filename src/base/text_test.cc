#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace portolan {
namespace {

TEST(TextTest, EditDistanceCountsSlips) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("crawl", "crwal"), 1U) << "a swap of neighbours is one slip";
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(TextTest, NearestWordSuggestsOnlyWhatIsNear) {
  constexpr std::array<std::string_view, 4> kVerbs = {"crawl", "resume", "status", "config"};
  EXPECT_EQ(NearestWord("crwal", kVerbs), "crawl");
  EXPECT_EQ(NearestWord("conf", kVerbs), "config") << "a beginning is enough";
  EXPECT_EQ(NearestWord("stats", kVerbs), "status");
  EXPECT_EQ(NearestWord("xyzzy", kVerbs), "");
  EXPECT_EQ(NearestWord("q", kVerbs), "");
}

}  // namespace
}  // namespace portolan
