#include "html/scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "html/collapse.h"
#include "html/tag.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::vector<char> RandomBytes(Rng& rng) {
  constexpr std::string_view kAlphabet = "<>&\"'=/ \t\n\r\f\x01-!abcXYZ09\x80\xff";
  std::vector<char> bytes(rng.Below(70));
  for (char& byte : bytes) byte = rng.Chance(0.7) ? 'x' : kAlphabet[rng.Below(kAlphabet.size())];
  return bytes;
}

template <typename Stops>
const char* Slow(const char* p, const char* end, Stops stops) {
  while (p < end && !stops(*p)) ++p;
  return p;
}

TEST(ScanTest, BlocksFindWhatAPlainLoopFinds) {
  Rng rng(2);
  for (int round = 0; round < 50'000; ++round) {
    const std::vector<char> bytes = RandomBytes(rng);
    const char* p = bytes.data();
    const char* end = p + bytes.size();
    ASSERT_EQ(FindAny<'<'>(p, end), Slow(p, end, [](char c) { return c == '<'; }));
    const auto four = [](char c) { return c == '<' || c == '&' || c == '\r' || c == '\0'; };
    ASSERT_EQ((FindAny<'<', '&', '\r', '\0'>(p, end)), Slow(p, end, four));
    ASSERT_EQ(FindByte(p, end, '"'), Slow(p, end, [](char c) { return c == '"'; }));
    ASSERT_EQ(FindAttributeNameEnd(p, end),
              Slow(p, end, [](char c) { return IsHtmlSpace(c) || c == '/' || c == '>' || c == '='; }));
    ASSERT_EQ(FindTagNameEnd(p, end), Slow(p, end, [](char c) { return IsHtmlSpace(c) || c == '/' || c == '>'; }));
    ASSERT_EQ(FindUnquotedEnd(p, end), Slow(p, end, [](char c) { return IsHtmlSpace(c) || c == '>'; }));
  }
}

TEST(TagTest, EveryNameFindsItsTagInAnyCase) {
  for (size_t i = 1; i < kTagCount; ++i) {
    const auto tag = static_cast<Tag>(i);
    std::string name(TagName(tag));
    EXPECT_EQ(FindTag(std::string_view(name)), tag) << name;
    name[0] = static_cast<char>(name[0] - 0x20);
    EXPECT_EQ(FindTag(std::string_view(name)), tag) << name;
    EXPECT_NE(FindTag(std::string_view(name + "q")), tag);
  }
}

TEST(TagTest, ControlCharactersAreNotDigits) {
  EXPECT_EQ(FindTag(std::string_view("h\x11")), Tag::kUnknown);
  EXPECT_EQ(FindTag(std::string_view("a\0", 2)), Tag::kUnknown);
}

std::string Collapsed(const std::vector<std::string>& pieces, size_t limit = 1000) {
  std::string out = "kept";
  Collapser collapser;
  for (const std::string& piece : pieces) {
    if (!collapser.Append(out, 4, limit, piece)) break;
  }
  return out.substr(4);
}

TEST(CollapseTest, RunsOfBlanksBecomeOne) {
  EXPECT_EQ(Collapsed({"  a \t\n b  c", " ", "d  "}), "a b c d");
  EXPECT_EQ(Collapsed({"a", "b"}), "ab");
  EXPECT_EQ(Collapsed({"\n\n"}), "");
}

TEST(CollapseTest, CutFallsBetweenCharacters) {
  EXPECT_EQ(Collapsed({"ab\xe2\x82\xac"}, 4), "ab");
  EXPECT_EQ(Collapsed({"ab\xe2", "\x82\xac"}, 3), "ab");
  EXPECT_EQ(Collapsed({"ab cd"}, 3), "ab");
  EXPECT_EQ(Collapsed({"ab cd"}, 4), "ab c");
}

TEST(CollapseTest, ResultDoesNotDependOnThePieces) {
  Rng rng(4);
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<char> bytes = RandomBytes(rng);
    std::string text(bytes.begin(), bytes.end());
    if (rng.Chance(0.3)) text.insert(text.size() / 2, "\xe2\x82\xac\xe2\x82\xac");
    const size_t limit = rng.Below(80);
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t size = std::min<size_t>(1 + rng.Below(20), text.size() - at);
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    ASSERT_EQ(Collapsed(pieces, limit), Collapsed({text}, limit)) << text << " " << limit;
  }
}

}  // namespace
}  // namespace portolan
