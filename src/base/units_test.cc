#include "base/units.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

TEST(UnitsTest, BytesHaveThreeDigits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1000), "0.98 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(256ULL << 20), "256 MiB");
  EXPECT_EQ(FormatBytes(~0ULL), "16 EiB");
}

TEST(UnitsTest, CountsAndRates) {
  EXPECT_EQ(FormatCount(950), "950");
  EXPECT_EQ(FormatCount(12'345), "12.3 k");
  EXPECT_EQ(FormatCount(6.3e9), "6.3 G");
  EXPECT_EQ(FormatRate(4.56e6), "4.56 M/s");
  EXPECT_EQ(FormatRate(1200, "pages"), "1.2 k pages/s");
}

TEST(UnitsTest, Durations) {
  EXPECT_EQ(FormatDuration(0.00085), "850 us");
  EXPECT_EQ(FormatDuration(0.0123), "12.3 ms");
  EXPECT_EQ(FormatDuration(4.5), "4.5 s");
  EXPECT_EQ(FormatDuration(200), "3 m 20 s");
  EXPECT_EQ(FormatDuration(7500), "2 h 05 m");
  EXPECT_EQ(FormatDuration(41.127 * 86400), "41 d 03 h");
}

TEST(UnitsTest, SizesParse) {
  EXPECT_EQ(ParseBytes("4096").value(), 4096U);
  EXPECT_EQ(ParseBytes("64K").value(), 65536U);
  EXPECT_EQ(ParseBytes("1.5G").value(), 1610612736U);
  EXPECT_EQ(ParseBytes("8gib").value(), 8ULL << 30);
  EXPECT_EQ(ParseBytes("4 TB").value(), 4'000'000'000'000U);
  EXPECT_EQ(ParseCount("8T").value(), 8'000'000'000'000U);
  EXPECT_EQ(ParseCount("10000000T").value(), 10'000'000'000'000'000'000U) << "more than a signed number holds";
  EXPECT_DOUBLE_EQ(ParseSeconds("250ms").value(), 0.25);
  EXPECT_DOUBLE_EQ(ParseSeconds("30").value(), 30);
  EXPECT_DOUBLE_EQ(ParseSeconds("2h").value(), 7200);
}

TEST(UnitsTest, NonsenseIsNamed) {
  for (const char* text : {"", "G", "-1", "12 parsecs", "1e400", "nan", "99999999999T"}) {
    EXPECT_FALSE(ParseBytes(text)) << text;
  }
  EXPECT_EQ(ParseSeconds("soon").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(ParseSeconds("soon").error().message().find("'soon' is not a duration"), std::string::npos);
}

}  // namespace
}  // namespace portolan
