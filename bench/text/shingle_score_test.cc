// The measure itself, and the claim that docs/text.md makes for the main text.

#include "bench/text/shingle_score.h"

#include <gtest/gtest.h>

#include "bench/text/article_set.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/page_reader.h"
#include "text/main_text.h"

namespace portolan::bench {
namespace {

TEST(ShingleScoreTest, AsTheirEvaluationCounts) {
  // Five words: two shingles; one of them is found, and one that is not there.
  const Shingles some = CompareShingles("a b c d e", "x a b c d");
  EXPECT_DOUBLE_EQ(some.both, 1.0 / 3);
  EXPECT_DOUBLE_EQ(some.excess, 1.0 / 3);
  EXPECT_DOUBLE_EQ(some.lack, 1.0 / 3);
  EXPECT_DOUBLE_EQ(CompareShingles("a b", "A, b").both, 0) << "a text of fewer than four words is one shingle";
  EXPECT_DOUBLE_EQ(CompareShingles("a_1 é", "«a_1» — é!").both, 1);
  EXPECT_DOUBLE_EQ(CompareShingles("a a a a a", "a a a a").lack, 0.5) << "a multiset";
}

TEST(ShingleScoreTest, MeansOverArticlesNotOverWords) {
  ShingleScore score;
  score.Add({.both = 1, .excess = 0, .lack = 0});
  score.Add({.both = 0, .excess = 0, .lack = 1});  // nothing was extracted: precision is not defined
  EXPECT_DOUBLE_EQ(score.Precision(), 1);
  EXPECT_DOUBLE_EQ(score.Recall(), 0.5);
  EXPECT_DOUBLE_EQ(score.F1(), 2.0 / 3);
}

TEST(MainTextQualityTest, RealArticles) {
  const auto articles = LoadArticles("../shared/data/extraction/scrapinghub");
  if (!articles) GTEST_SKIP() << "no articles: " << articles.error().message();
  PageReader reader(PageOptions{.text = true, .outline = true});
  MainTextFinder finder;
  ShingleScore all;
  ShingleScore held_out;
  std::string main;
  for (const Article& article : *articles) {
    const CharsetDecision decision = SniffCharset(std::string_view(article.html).substr(0, kDetectBytes), "utf-8");
    CharsetDecoder decoder(decision.encoding);
    const Page& page = reader.Read(decoder.Decode(article.html, /*last=*/true));
    JoinRanges(page.text, finder.Find(page), main);
    const Shingles shingles = CompareShingles(article.text, main);
    all.Add(shingles);
    if (article.held_out) held_out.Add(shingles);
  }
  EXPECT_EQ(all.articles(), 181U);
  EXPECT_GE(all.F1(), 0.95);
  EXPECT_GE(held_out.F1(), 0.94);
}

}  // namespace
}  // namespace portolan::bench
