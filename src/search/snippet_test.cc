#include "search/snippet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "io/clock.h"

namespace portolan {
namespace {

QueryPlan::Marks MarksOf(const std::string& words) {
  return QueryPlan::Make(*UserQuery::Parse(words), {"en", "de"}, {})->marks();
}

std::string Show(const MarkedText& pieces) {
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) text += i % 2 == 0 ? pieces[i] : "[" + pieces[i] + "]";
  return text;
}

TEST(SnippetTest, WordsAreMarkedInTheirForms) {
  EXPECT_EQ(Show(MarkWords("Whales whale WHALE, whaling; wail", MarksOf("whale"))),
            "[Whales] [whale] [WHALE], [whaling]; wail");
  EXPECT_EQ(Show(MarkWords("Häuser HÄUSERN Haus", MarksOf("Häuser"))), "[Häuser] [HÄUSERN] [Haus]");
  EXPECT_EQ(Show(MarkWords("I don’t use C++ at AT&T, 3.14", MarksOf("don't c++ at&t 3.14"))),
            "I [don’t] use [C++] at [AT&T], [3.14]");
  EXPECT_EQ(Show(MarkWords("白い鯨は東京都で", MarksOf("東京都 鯨"))), "白い[鯨]は[東京都]で");
  EXPECT_EQ(Show(MarkWords("", MarksOf("a"))), "");
}

TEST(SnippetTest, TheWindowWithMostDifferentWordsIsTaken) {
  std::string text = "whale whale whale here. ";
  for (int i = 0; i < 100; ++i) text += "other words between. ";
  text += "A white whale swims. ";
  for (int i = 0; i < 100; ++i) text += "more words after. ";
  const std::string shown = Show(MakeSnippet(text, MarksOf("white whale")));
  EXPECT_THAT(shown, testing::StartsWith("… "));
  EXPECT_THAT(shown, testing::HasSubstr("A [white] [whale] swims."));
  EXPECT_THAT(shown, testing::EndsWith(" …"));
  EXPECT_LT(shown.size(), kSnippetBytes + 40);
}

TEST(SnippetTest, WithoutAWordItIsTheBeginning) {
  EXPECT_EQ(Show(MakeSnippet("One line\nand another", MarksOf("x"))), "One line and another");
  EXPECT_EQ(Show(MakeSnippet(std::string(10'000, 'a'), MarksOf("x"))), std::string(kSnippetBytes, 'a') + " …");
}

TEST(SnippetTest, AnyBytesGiveAShortSnippetInLinearTime) {
  std::mt19937 random(1);
  const auto marks = MarksOf("a b 鯨 whale's");
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t i = random() % 2000; i > 0; --i) {
      const uint32_t kind = random() % 6;
      if (kind == 0) text += static_cast<char>(random());
      if (kind == 1) AppendUtf8(text, random() % 0xd800);
      if (kind >= 2) text += " abAB鯨'\n.&"[random() % 11];
    }
    const auto pieces = MakeSnippet(text, marks);
    size_t size = 0;
    for (const auto& piece : pieces) size += piece.size();
    EXPECT_LE(size, 2 * kSnippetBytes + 8);
    EXPECT_EQ(pieces.size() % 2, 1U);
  }
  const int64_t begin = Clock::Real().NowNs();
  for (const char* const word : {"a ", "a", "whale ", "鯨", "x'"}) {
    std::string text;
    while (text.size() < size_t{1} << 20) text += word;
    EXPECT_LE(MakeSnippet(text, marks).front().size(), 2 * kSnippetBytes);
  }
  EXPECT_LT(Clock::Real().NowNs() - begin, 2 * kSecond);
}

}  // namespace
}  // namespace portolan
