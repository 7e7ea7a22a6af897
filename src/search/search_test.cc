// Questions to small indexes: what is found, in which order, and that parts make no difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/search_parts.h"
#include "search/testing/small_index.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::vector<TestPage> kPages = {
    {.url = "https://www.whales.test/moby",
     .title = "Moby Dick",
     .text = "The white whale swims. Call me Ishmael.",
     .anchors = {"the famous novel"},
     .published = "1851-10-18"},
    {.url = "https://whales.test/film",
     .title = "A film",
     .text = "In the film the whales were swimming.",
     .unix_ms = 1'717'200'000'000},
    {.url = "https://boats.test/dick", .title = "Boats", .text = "Dick met Moby on a boat. Whaling is over."},
    {.url = "https://de.test/wal",
     .title = "Der Wal",
     .text = "Die weißen Wale schwimmen in den Häusern.",
     .language = "de"},
    {.url = "https://ja.test/kujira", .title = "鯨", .text = "白い鯨は東京都で泳ぐ。", .language = "ja"},
    {.url = "https://pdf.test/wi-fi.pdf", .title = "Wi-Fi", .text = "C++ and AT&T in 2024.", .type = "application/pdf"},
};

std::vector<std::string> Paths(const SearchAnswer& answer) {
  std::vector<std::string> paths;
  for (const SearchHit& hit : answer.hits) {
    const std::string& url = hit.document.data.url;
    paths.push_back(url.substr(url.rfind('/') + 1));
  }
  return paths;
}

class SearchTest : public testing::Test {
 protected:
  void Open(const std::vector<TestPage>& pages, uint32_t parts = 1) {
    parts_ = SearchParts::Make(Clock::Real(), {.dirs = index_.Write(pages, parts)}).value();
  }
  std::vector<std::string> Ask(const std::string& words) {
    const auto answer = parts_->Ask({.words = words});
    if (!answer) return {answer.error().ToString()};
    last_ = *answer;
    return Paths(*answer);
  }

  TestIndex index_;
  std::unique_ptr<SearchParts> parts_;
  SearchAnswer last_;
};

TEST_F(SearchTest, WordsInAnyFormAndField) {
  Open(kPages);
  EXPECT_THAT(Ask("whale"), UnorderedElementsAre("moby", "film", "dick")) << "by their stem, and the host";
  EXPECT_THAT(Ask("WHALES swam"), ElementsAre("film", "moby", "dick")) << "no page has both: any of them";
  EXPECT_FALSE(last_.all_words);
  EXPECT_THAT(Ask("famous"), ElementsAre("moby")) << "a text of a link";
  EXPECT_THAT(Ask("haus wal"), ElementsAre("wal")) << "a stem of another language";
  EXPECT_THAT(Ask("nothing here"), IsEmpty());
  EXPECT_EQ(last_.matches, 0U);
}

TEST_F(SearchTest, PhrasesAreWordsInTheirOrder) {
  Open(kPages);
  EXPECT_THAT(Ask("moby dick"), ElementsAre("moby", "dick"));
  EXPECT_THAT(Ask("\"moby dick\""), ElementsAre("moby"));
  EXPECT_THAT(Ask("\"dick met moby\""), ElementsAre("dick"));
  EXPECT_THAT(Ask("\"dick whale\""), IsEmpty()) << "no phrase from one field into another";
  EXPECT_THAT(Ask("\"whale\""), ElementsAre("moby")) << "just this form";
}

TEST_F(SearchTest, ConditionsNarrow) {
  Open(kPages);
  EXPECT_THAT(Ask("whale site:whales.test"), UnorderedElementsAre("moby", "film"));
  EXPECT_THAT(Ask("whale site:www.whales.test"), ElementsAre("moby"));
  EXPECT_THAT(Ask("whale -site:whales.test"), ElementsAre("dick"));
  EXPECT_THAT(Ask("whale -film"), UnorderedElementsAre("moby", "dick"));
  EXPECT_THAT(Ask("-whale -\"C++\" lang:en"), UnorderedElementsAre("film", "dick"));
  EXPECT_THAT(Ask("lang:de"), ElementsAre("wal"));
  EXPECT_THAT(Ask("type:application/pdf"), ElementsAre("wi-fi.pdf"));
  EXPECT_THAT(Ask("site:de.test site:ja.test"), UnorderedElementsAre("wal", "kujira"));
  EXPECT_THAT(Ask("ishmael OR boat OR film"), UnorderedElementsAre("moby", "film", "dick"));
}

TEST_F(SearchTest, DatesAreThePagesOwnOrThatOfTheFetch) {
  Open(kPages);
  EXPECT_THAT(Ask("whale before:1900"), ElementsAre("moby"));
  EXPECT_THAT(Ask("whale after:2024-06-01"), ElementsAre("film")) << "fetched on that day";
  EXPECT_THAT(Ask("whale before:2024-06-01"), UnorderedElementsAre("moby", "dick"));
  EXPECT_THAT(Ask("whale after:2023-11 before:2024"), ElementsAre("dick"));
}

TEST_F(SearchTest, WordsOfOtherScriptsAndWithSigns) {
  Open(kPages);
  EXPECT_THAT(Ask("東京"), ElementsAre("kujira"));
  EXPECT_THAT(Ask("京東"), IsEmpty());
  EXPECT_THAT(Ask("鯨"), ElementsAre("kujira"));
  EXPECT_THAT(Ask("\"東京都\""), ElementsAre("kujira"));
  EXPECT_THAT(Ask("wi-fi"), ElementsAre("wi-fi.pdf"));
  EXPECT_THAT(Ask("c++ at&t"), ElementsAre("wi-fi.pdf"));
  EXPECT_THAT(Ask("weissen OR weißen"), ElementsAre("wal"));
}

TEST_F(SearchTest, TheStaticScoreDecidesBetweenEqualPages) {
  Open({{.url = "https://a.test/low", .title = "same", .text = "words", .step = 1},
        {.url = "https://b.test/high", .title = "same", .text = "words", .step = 60},
        {.url = "https://c.test/none", .title = "same", .text = "words"}});
  EXPECT_THAT(Ask("same words"), ElementsAre("high", "low", "none"));
}

TEST_F(SearchTest, NearDuplicatesAreFoldedIntoTheBest) {
  Open({{.url = "https://a.test/1", .title = "whale", .text = "whale", .similarity = 0xff00},
        {.url = "https://b.test/2", .title = "", .text = "whale here", .similarity = 0xff07},
        {.url = "https://c.test/3", .title = "", .text = "whale there and more", .similarity = 0xff0f},
        {.url = "https://d.test/4", .title = "", .text = "a whale", .similarity = 0},
        {.url = "https://e.test/5", .title = "", .text = "the whale", .similarity = 0}});
  EXPECT_THAT(Ask("whale"), testing::SizeIs(4));
  EXPECT_EQ(last_.hits[0].document.data.url, "https://a.test/1");
  EXPECT_EQ(last_.hits[0].similar, 1U) << "3 bits, and 4 bits are another text";
  EXPECT_EQ(last_.matches, 5U);
  const auto all = parts_->Ask({.words = "whale", .fold = false}).value();
  EXPECT_EQ(all.hits.size(), 5U);
}

TEST_F(SearchTest, PagesOfResultsJoinWithoutGapOrRepeat) {
  std::vector<TestPage> pages;
  for (int i = 0; i < 100; ++i) {
    pages.push_back(
        {.url = "https://h" + std::to_string(i) + ".test/" + std::to_string(i), .title = "same", .text = "words"});
  }
  Open(pages, 3);
  const auto whole = Paths(parts_->Ask({.words = "words", .limit = 100}).value());
  EXPECT_EQ(whole.size(), 100U);
  std::vector<std::string> joined;
  for (size_t offset = 0; offset < 110; offset += 7) {
    const auto answer = parts_->Ask({.words = "words", .offset = offset, .limit = 7}).value();
    for (const auto& path : Paths(answer)) joined.push_back(path);
    EXPECT_EQ(answer.more, offset + 7 < 100) << offset;
    EXPECT_EQ(answer.matches, 100U);
    EXPECT_TRUE(answer.exact);
  }
  EXPECT_EQ(joined, whole);
}

TEST_F(SearchTest, ReasonsAddUpToTheScore) {
  Open(kPages, 2);
  for (const std::string words : {"whale swim", "\"moby dick\" OR whale", "famous site:whales.test"}) {
    const auto answer = parts_->Ask({.words = words, .explain = true}).value();
    ASSERT_FALSE(answer.hits.empty()) << words;
    for (const SearchHit& hit : answer.hits) {
      double sum = 0;
      for (const auto& reason : hit.reasons) sum += reason.score;
      EXPECT_NEAR(sum, hit.score, 1e-5) << words << " " << hit.document.data.url;
    }
  }
}

TEST_F(SearchTest, ADamagedPartIsNamedAndTheOthersAnswer) {
  auto dirs = index_.Write(kPages, 3);
  dirs.push_back((index_.dir() / "nothing").string());
  dirs.push_back((index_.dir() / "torn").string());
  std::filesystem::copy(dirs[0], dirs[4]);
  std::filesystem::resize_file(dirs[4] + "/iamglass", 10);
  parts_ = SearchParts::Make(Clock::Real(), {.dirs = dirs}).value();
  EXPECT_THAT(Ask("whale"), UnorderedElementsAre("moby", "film", "dick"));
  ASSERT_EQ(last_.left_out.size(), 2U);
  EXPECT_THAT(last_.left_out[0].why, HasSubstr("there is no index here"));
  EXPECT_THAT(last_.left_out[1].part, HasSubstr("torn"));
  parts_ = SearchParts::Make(Clock::Real(), {.dirs = {dirs[4]}}).value();
  EXPECT_THAT(Ask("whale"), ElementsAre(HasSubstr("corrupt")));
}

TEST_F(SearchTest, APageIsFoundByItsUrl) {
  Open(kPages, 2);
  EXPECT_EQ(parts_->Find("https://de.test/wal").value().document.data.title, "Der Wal");
  EXPECT_EQ(parts_->Find("https://de.test/").error().code(), ErrorCode::kNotFound);
}

TEST_F(SearchTest, FieldsMayEndBeforeOthers) {
  // As where Xapian 1.4 crashed when forms were combined with OP_MAX; whether this index is enough for that is not
  // known.
  std::vector<TestPage> pages;
  for (int i = 0; i < 2500; ++i) {
    pages.push_back({.url = "https://h.test/" + std::to_string(i),
                     .title = i % 40 == 0 && i < 1500 ? "words" : "title",
                     .text = i % 3 == 0 ? "some words are here" : "word " + std::to_string(i),
                     .language = i % 2 == 0 ? "en" : "fr"});
  }
  Open(pages);
  EXPECT_EQ(Ask("words").size(), 10U);
  EXPECT_EQ(last_.matches, 2500U);
}

TEST_F(SearchTest, AQuestionThatTakesTooLongEnds) {
  std::vector<TestPage> pages;
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (int word = 0; word < 500; ++word) text += word % 2 == 0 ? "to " : "be ";
    pages.push_back({.url = "https://h.test/" + std::to_string(i), .title = "t", .text = text});
  }
  const auto dirs = index_.Write(pages);
  const auto parts = SearchParts::Make(Clock::Real(), {.dirs = dirs, .limit_ns = 0}).value();
  const auto answer = parts->Ask({.words = "\"to to be\""});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kBusy) << answer.error().ToString();
}

}  // namespace
}  // namespace portolan
