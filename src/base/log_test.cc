#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"

namespace portolan {
namespace {

constexpr int64_t kStamp = 1'769'862'601'250;  // 2026-01-31 12:30:01.250 UTC

TEST(LogTest, HumanLine) {
  EXPECT_EQ(FormatLogLine(LogFormat::kHuman, LogLevel::kInfo, kStamp, "merge done",
                          {{"keys", 1048576}, {"seconds", 0.42}, {"file", "z-1"}, {"why", "two words"}, {"ok", true}}),
            "12:30:01.250 info  merge done keys=1048576 seconds=0.42 file=z-1 why=\"two words\" ok=true");
}

TEST(LogTest, JsonLine) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, LogLevel::kWarn, kStamp, "slow \"disk\"",
                          {{"ms", -5}, {"path", "a\\b\n"}, {"rate", 1.5}, {"bad", 0.0 / 0.0 * 1}}),
            R"({"ts":"2026-01-31T12:30:01.250Z","level":"warn","msg":"slow \"disk\"","ms":-5,"path":"a\\b\n",)"
            R"("rate":1.5,"bad":null})");
}

TEST(LogTest, JsonIsValidWhateverTheBytes) {
  EXPECT_EQ(JsonQuote(std::string("a\xff\x01z", 4)), "\"a\\ufffd\\u0001z\"");
  EXPECT_EQ(JsonQuote("\xe2\x82\xac"), "\"\xe2\x82\xac\"");
  EXPECT_EQ(JsonQuote(std::string_view("\0\x1b\x7f", 3)), R"("\u0000\u001b\u007f")");
  EXPECT_EQ(JsonQuote("\u0080\u009f\u00a0"), "\"\\u0080\\u009f\u00a0\"");
  EXPECT_EQ(JsonQuote("\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069"),
            R"("\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069")");
  EXPECT_EQ(JsonQuote("\u200d\u2027\u202f\u206a\u05d0"), "\"\u200d\u2027\u202f\u206a\u05d0\"")
      << "joiners, blanks and letters are text";
  EXPECT_EQ(JsonQuote("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"") << "a surrogate is not UTF-8";
}

// Index, crawl log and messages hold what servers sent; a terminal or an editor shows them.
TEST(LogTest, JsonHasNoControlsAndNoMarksOfDirectionInTheRaw) {
  EXPECT_EQ(JsonQuote("a\x1b[31m\x7fz"), R"("a\u001b[31m\u007fz")");
  EXPECT_EQ(JsonQuote("\u0080\u009b\u009f\u00a0"), "\"\\u0080\\u009b\\u009f\u00a0\"");
  EXPECT_EQ(JsonQuote("\u061b\u061c\u061d"), "\"\u061b\\u061c\u061d\"");
  EXPECT_EQ(JsonQuote("\u200d\u200e\u200f\u2010"), "\"\u200d\\u200e\\u200f\u2010\"");
  EXPECT_EQ(JsonQuote("\u2027\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f"),
            "\"\u2027\\u2028\\u2029\\u202a\\u202b\\u202c\\u202d\\u202e\u202f\"");
  EXPECT_EQ(JsonQuote("\u2065\u2066\u2067\u2068\u2069\u206a"), "\"\u2065\\u2066\\u2067\\u2068\\u2069\u206a\"");
}

TEST(LogTest, NamesParse) {
  EXPECT_EQ(ParseLogLevel("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(ParseLogFormat("json").value(), LogFormat::kJson);
  EXPECT_EQ(ParseLogLevel("loud").error().message(),
            "'loud' is not a log level: use one of debug, info, warn, error, off");
}

TEST(LogTest, LevelsBelowTheLimitAreSilent) {
  InitLogging({.level = LogLevel::kError});
  EXPECT_FALSE(LogEnabled(LogLevel::kWarn));
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  testing::internal::CaptureStderr();
  Log(LogLevel::kWarn, "not seen");
  Log(LogLevel::kError, "seen", {{"n", 1}});
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines.find("not seen"), std::string::npos);
  EXPECT_NE(lines.find("error seen n=1\n"), std::string::npos);
  InitLogging({});
}

TEST(Utf8Test, WellFormedOnly) {
  EXPECT_TRUE(IsUtf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d"));
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf5"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(Utf8Test, EveryLengthRoundTrips) {
  for (const uint32_t code : {0x41U, 0x7fU, 0x80U, 0x7ffU, 0x800U, 0xffffU, 0x10000U, 0x10ffffU}) {
    std::string out;
    AppendUtf8(out, code);
    EXPECT_EQ(Utf8SequenceLength(out), out.size()) << code;
  }
}

}  // namespace
}  // namespace portolan
