// Collapser against its definition, byte by byte.

#include "html/collapse.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace portolan {
namespace {

// The whole text at once: runs of blanks become one, none at either end.
std::string Collapsed(std::string_view text) {
  std::string out;
  bool gap = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ') {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += ' ';
    gap = false;
    out += c;
  }
  return out;
}

TEST(CollapserTest, AnyTextInAnyPiecesIsTheWholeCollapsed) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 120, 'x');
    const unsigned blanks = 1 + random() % 8;
    constexpr std::string_view kBlanks("  \n\t\r\0", 6);
    for (char& c : text) {
      if (random() % blanks == 0) {
        c = kBlanks[random() % kBlanks.size()];
      } else if (random() % 4 == 0) {
        c = static_cast<char>(0x80 + random() % 0x80);
      }
    }
    std::string out = "before";
    Collapser collapser;
    for (size_t at = 0; at < text.size();) {
      const size_t size = std::min<size_t>(text.size() - at, 1 + random() % 50);
      // Exactly as large as it is, so that a look beyond its end is found.
      const auto piece = std::make_unique<char[]>(size);
      text.copy(piece.get(), size, at);
      ASSERT_TRUE(collapser.Append(out, 6, 1000, {piece.get(), size}));
      at += size;
    }
    ASSERT_EQ(out, "before" + Collapsed(text)) << round;
  }
}

TEST(CollapserTest, ABreakCountsOnlyBetweenTexts) {
  std::string out;
  Collapser collapser;
  collapser.Break(Collapser::Gap::kLine);
  collapser.Append(out, 0, 100, " one ");
  collapser.Break(Collapser::Gap::kLine);
  collapser.Append(out, 0, 100, "  ");
  collapser.Break(Collapser::Gap::kBlank);
  collapser.Append(out, 0, 100, "two");
  collapser.Append(out, 0, 100, "three");
  collapser.Break(Collapser::Gap::kBlank);
  EXPECT_EQ(out, "one\ntwothree");
}

TEST(CollapserTest, AtTheLimitItEndsBetweenCharacters) {
  for (size_t limit = 1; limit < 40; ++limit) {
    std::string out;
    Collapser collapser;
    const std::string_view text = "ab  c\xc3\xa4\xc3\xb6 d\xe2\x82\xac\xe2\x82\xac  efghijklmno";
    const bool whole = collapser.Append(out, 0, limit, text);
    const std::string all = Collapsed(text);
    EXPECT_EQ(whole, all.size() <= limit) << limit;
    EXPECT_LE(out.size(), limit);
    EXPECT_TRUE(all.starts_with(out)) << limit;
    EXPECT_TRUE(whole || out.size() + 4 >= limit) << limit;
    if (whole) continue;
    EXPECT_NE(static_cast<unsigned char>(all[out.size()]) & 0xc0, 0x80) << limit << ": inside a character";
  }
}

}  // namespace
}  // namespace portolan
