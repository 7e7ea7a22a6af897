// What is main text and what is not, on pages of a few lines; and that hostile pages cost linear time and stay in
// bounds.

#include "text/main_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "html/page_reader.h"
#include "text/name_hints.h"
#include "text/name_memo.h"

namespace portolan {
namespace {

constexpr std::string_view kProse =
    "The harbour was built in 1874, when the first steamers came, and for forty years it was the largest on the "
    "coast. ";

std::string Paragraphs(int count) {
  std::string html;
  for (int i = 0; i < count; ++i) html += "<p>" + std::string(kProse) + std::to_string(i) + "</p>\n";
  return html;
}

class MainTextTest : public testing::Test {
 protected:
  std::string Main(const std::string& html) {
    const Page& page = reader_.Read(html);
    JoinRanges(page.text, finder_.Find(page), text_);
    return text_;
  }
  size_t Find(const std::string& html) { return finder_.Find(reader_.Read(html)).size(); }

  PageReader reader_{PageOptions{.text = true, .outline = true}};
  MainTextFinder finder_;
  std::string text_;
};

TEST_F(MainTextTest, NavigationAndFooterAreLeftOut) {
  const std::string main = Main(
      "<body><nav><ul><li><a href=/>Home</a><li><a href=/a>About us</a></ul></nav><div id=main><h1>Harbours</h1>" +
      Paragraphs(3) + "</div><footer><p>Copyright 2019 by the harbour's owners, all rights reserved.</p></footer>");
  EXPECT_THAT(main, testing::HasSubstr("steamers"));
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("Home")));
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("Copyright")));
}

TEST_F(MainTextTest, HeadingsAndShortLinesBetweenParagraphsStayThoseAroundThemDoNot) {
  const std::string main = Main("<div><div>Log in</div>" + Paragraphs(2) + "<h2>The new quay</h2><ul><li>stone</ul>" +
                                Paragraphs(2) + "<div>Top of page</div></div>");
  EXPECT_THAT(main, testing::HasSubstr("The new quay"));
  EXPECT_THAT(main, testing::HasSubstr("stone"));
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("Log in")));
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("Top of page")));
}

TEST_F(MainTextTest, NamesOfBlocksCount) {
  for (const std::string name : {"class=\"post-comments\"", "id=relatedArticles", "class='site__sidebar wide'",
                                 "hidden", "role=navigation", "style='color:red;display: none'"}) {
    const std::string main =
        Main("<div>" + Paragraphs(4) + "<div " + name + "><p>A stranger wrote here that, all in all, " +
             "the harbour is too large for the town. It is.</p></div></div>");
    EXPECT_THAT(main, testing::HasSubstr("steamers")) << name;
    EXPECT_THAT(main, testing::Not(testing::HasSubstr("stranger"))) << name;
  }
}

TEST_F(MainTextTest, ANameDoesNotHideMostOfThePage) {
  EXPECT_THAT(Main("<body class=has-sidebar><form id=comments>" + Paragraphs(4) + "</form>"),
              testing::HasSubstr("steamers"));
}

TEST_F(MainTextTest, QuestionsAboutCookiesAreLeftOutEvenWhereTheyAreLonger) {
  const std::string main =
      Main("<article>" + Paragraphs(1) +
           "</article><div class=cookie-notice><p>We use cookies, as everybody does, to count you, "
           "to know you and to sell you. You may refuse, but it takes time. " +
           std::string(600, 'x') + ".</p></div>");
  EXPECT_THAT(main, testing::HasSubstr("steamers"));
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("refuse")));
}

TEST_F(MainTextTest, APageWithoutABodyTagHasOneAnyway) {
  const std::string main = Main("<title>x</title>" + Paragraphs(3) + "<nav><a href=/>Home</a></nav>");
  EXPECT_EQ(std::ranges::count(main, '\n'), 2);
}

TEST_F(MainTextTest, AnotherArticleInsideIsNotThisOne) {
  const std::string main = Main("<article>" + Paragraphs(4) + "<article><p>Ferries will sail again next spring, says " +
                                "the company, if the weather is as it should be.</p></article></article>");
  EXPECT_THAT(main, testing::Not(testing::HasSubstr("Ferries")));
}

TEST_F(MainTextTest, TextWithoutMarkupIsFoundBetweenLineBreaks) {
  EXPECT_THAT(Main("<table><tr><td><a href=1>One</a><br><a href=2>Two</a><td>" + std::string(kProse) + "<br><br>" +
                   std::string(kProse) + "</table>"),
              testing::AllOf(testing::HasSubstr("steamers"), testing::Not(testing::HasSubstr("Two"))));
}

TEST_F(MainTextTest, OtherScriptsHaveSentencesToo) {
  std::string chinese;
  for (int i = 0; i < 6; ++i) chinese += "港口建於一八七四年，當時第一批輪船到達，四十年間是沿海最大的港口。";
  EXPECT_THAT(Main("<body><div><a href=/>首頁</a> <a href=/x>關於</a></div><div><p>" + chinese + "</p></div>"),
              testing::Eq(chinese));
}

TEST_F(MainTextTest, APageOfLinksHasNone) {
  std::string html;
  for (int i = 0; i < 50; ++i) html += "<li><a href=/" + std::to_string(i) + ">A page about something " + "</a>";
  EXPECT_EQ(Find("<ul>" + html + "</ul>"), 0U);
  EXPECT_EQ(Find(""), 0U);
}

TEST_F(MainTextTest, RangesAreInOrderAndInsideTheText) {
  const Page& page = reader_.Read("<div>" + Paragraphs(3) + "<nav>x</nav>" + Paragraphs(3) + "</div>");
  uint32_t end = 0;
  const auto& ranges = finder_.Find(page);
  ASSERT_EQ(ranges.size(), 2U);
  for (const TextRange& range : ranges) {
    EXPECT_GE(range.begin, end);
    EXPECT_GT(range.size, 0U);
    end = range.begin + range.size;
    EXPECT_LE(end, page.text.size());
    EXPECT_EQ(page.text[range.begin], 'T');
  }
}

// The outline beyond its bound is not followed: what comes behind is one line of the block that was open then.
TEST_F(MainTextTest, AnOutlineThatIsCutIsNoFault) {
  PageReader reader(PageOptions{.text = true, .outline = true, .max_outline = 10, .max_outline_names = 600});
  const Page& page = reader.Read("<div class=a>" + Paragraphs(40) + "</div>");
  EXPECT_TRUE(page.outline_cut);
  EXPECT_EQ(page.outline.size(), 10U);
  EXPECT_LE(page.outline_names.size(), 600U);
  EXPECT_FALSE(finder_.Find(page).empty());
}

TEST_F(MainTextTest, HostilePagesCostLinearTime) {
  std::string deep;
  for (int i = 0; i < 60'000; ++i) deep += "<div class=\"a b c\"><p>x";
  std::string ends;
  for (int i = 0; i < 400; ++i) ends += "<div><span>";
  for (int i = 0; i < 60'000; ++i) ends += "<li></ul></section></p>x";
  std::string names = "<div class=\"";
  for (int i = 0; i < 200'000; ++i) names += "ad-Ab ";
  names += "\">x";
  for (const std::string& html : {deep, ends, names}) {
    const auto begin = std::chrono::steady_clock::now();
    Find(html);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
}

TEST(NameHintsTest, WordsNotPartsOfWords) {
  EXPECT_EQ(NameHints(" shadow header-ADvantage loading"), 0);
  EXPECT_TRUE(NameHints(" top-ad") & kHintBoilerplate);
  EXPECT_TRUE(NameHints(" relatedPosts") & kHintBoilerplate);
  EXPECT_TRUE(NameHints(" @articleBody") & kHintBody);
  EXPECT_TRUE(NameHints(" article__body") & kHintBody);
  EXPECT_FALSE(NameHints(" article body") & kHintBody) << "two classes";
  EXPECT_TRUE(NameHints(" !") & kHintHidden);
  EXPECT_EQ(NameHints(std::string(500, 'a')), 0);
}

TEST(NameMemoTest, ItAnswersWhatNameHintsWould) {
  const std::string longer = " site-content " + std::string(100, 'x') + " footer";
  const std::string_view names[] = {" nav",
                                    " sidebar-widget",
                                    " #main-content",
                                    " entry-content !",
                                    longer,
                                    " menu-item menu-item-type-page",
                                    " article",
                                    " =navigation",
                                    ""};
  NameMemo memo;
  for (int round = 0; round < 3; ++round) {
    for (const std::string_view one : names) EXPECT_EQ(memo.Hints(one), NameHints(one)) << one;
  }
  // Many more than it holds, among them those that begin and end alike.
  for (int i = 0; i < 5000; ++i) {
    const std::string one = " block-nav" + std::to_string(i) + (i % 3 == 0 ? "-footer-box" : "-story-box");
    EXPECT_EQ(memo.Hints(one), NameHints(one)) << one;
  }
}

}  // namespace
}  // namespace portolan
