// Dates in their many forms, and where a page's title, description and date are taken from.

#include "text/page_facts.h"

#include <gtest/gtest.h>

#include "html/page_reader.h"

namespace portolan {
namespace {

TEST(NormaliseDateTest, FormsThatPeopleAndProgramsWrite) {
  constexpr std::string_view kForms[][2] = {
      {"2019-11-18", "2019-11-18"},
      {"2019-11-18T16:07:00.123Z", "2019-11-18T16:07:00Z"},
      {"2019-11-18T16:07:00-06:00", "2019-11-18T16:07:00-06:00"},
      {"2019-11-18 16:07:00 +0530", "2019-11-18T16:07:00+05:30"},
      {"2019-11-18T16:07", "2019-11-18"},
      {"2019-11-18 4:07 pm", "2019-11-18"},
      {"2019/1/8", "2019-01-08"},
      {"20191118", "2019-11-18"},
      {"18 November 2019", "2019-11-18"},
      {"18th Nov. 2019", "2019-11-18"},
      {"Nov 18, 2019", "2019-11-18"},
      {"Mon, 18 Nov 2019 16:07:00 GMT", "2019-11-18T16:07:00Z"},
      {"  2020-02-29  ", "2020-02-29"},
  };
  for (const auto& [written, wanted] : kForms) EXPECT_EQ(NormaliseDate(written).value_or("none"), wanted) << written;
}

TEST(NormaliseDateTest, WhatIsNoDayIsNone) {
  for (const std::string_view text :
       {"", "2019", "2019-11", "2019-13-01", "2019-02-29", "0000-00-00", "1969-01-01", "2200-01-01", "11/18/2019",
        "yesterday", "201911181", "-2019-11-18", "18 Nevember 2019", "November 2019 18", "2019-11-181",
        "Mon Tue Wed Thu 18 Nov 2019"}) {
    EXPECT_EQ(NormaliseDate(text), std::nullopt) << text;
  }
  EXPECT_EQ(NormaliseDate(std::string(100'000, '1')), std::nullopt);
}

TEST(DateInUrlTest, SegmentsOfThePath) {
  EXPECT_EQ(DateInUrl("http://a.test/2019/11/18/title").value_or(""), "2019-11-18");
  EXPECT_EQ(DateInUrl("http://a.test/x/2019-11-18-title").value_or(""), "2019-11-18");
  EXPECT_EQ(DateInUrl("http://a.test/20191118/").value_or(""), "2019-11-18");
  EXPECT_EQ(DateInUrl("http://a.test/2019/11/"), std::nullopt);
  EXPECT_EQ(DateInUrl("http://a.test/201911189/"), std::nullopt);
  EXPECT_EQ(DateInUrl("http://2019-11-18.test/"), std::nullopt);
  EXPECT_EQ(DateInUrl("http://a.test/?d=/2019/11/18/"), std::nullopt);
}

TEST(JsonStringTest, FirstStringOfTheKey) {
  EXPECT_EQ(JsonString(R"({"a":[{"datePublished" : "2019-11-18"}]})", "datePublished").value_or(""), "2019-11-18");
  EXPECT_EQ(JsonString(R"({"d":5,"d":"\/x"})", "d").value_or(""), "/x");
  EXPECT_EQ(JsonString(R"({"dd":"x"})", "d"), std::nullopt);
  EXPECT_EQ(JsonString(R"("d)", "d"), std::nullopt);
  EXPECT_EQ(JsonString(R"({"d":"x)", "d").value_or(""), "x");
}

class PageFactsTest : public testing::Test {
 protected:
  PageFacts Facts(const std::string& html, std::string_view url = "http://a.test/") {
    return FindPageFacts(reader_.Read(html), url);
  }
  PageReader reader_{PageOptions{.text = true, .headings = true, .outline = true, .facts = true}};
};

TEST_F(PageFactsTest, TitleAndDescription) {
  PageFacts facts =
      Facts("<title>T</title><meta property=og:title content=O><meta name=Description content='a &amp; b'>");
  EXPECT_EQ(facts.title, "T");
  EXPECT_EQ(facts.description, "a & b");
  facts = Facts("<meta property=og:title content=O><meta property='og:description' content='from og'><h1>H</h1>");
  EXPECT_EQ(facts.title, "O");
  EXPECT_EQ(facts.description, "from og");
  EXPECT_EQ(Facts("<h2>no</h2><h1>H <b>1</b></h1>").title, "H 1");
  EXPECT_EQ(Facts("<meta name=description content='" + std::string(5000, 'x') + "'>").description.size(),
            kMaxDescription);
}

TEST_F(PageFactsTest, TheMostExplicitDateWins) {
  const std::string time = "<time datetime=2011-01-01 itemprop=datePublished>";
  const std::string json = "<script type='application/ld+json'>{\"datePublished\":\"2012-02-02T10:00:00Z\"}</script>";
  const std::string name = "<meta name=date content=2013-03-03>";
  const std::string open_graph = "<meta property=article:published_time content=2014-04-04>";
  const std::string_view url = "http://a.test/2010/10/10/x";
  EXPECT_EQ(Facts(time + json + name + open_graph, url).published, "2014-04-04");
  EXPECT_EQ(Facts(time + json + name, url).published, "2012-02-02T10:00:00Z");
  EXPECT_EQ(Facts(time + name, url).published, "2013-03-03");
  EXPECT_EQ(Facts(time, url).published, "2011-01-01");
  EXPECT_EQ(Facts("", url).published, "2010-10-10");
  EXPECT_EQ(Facts("<time datetime=2015-05-05>").published, "2015-05-05");
  EXPECT_EQ(Facts("<time datetime=2015-05-05></time><time datetime=2016-06-06>").published, "");
  EXPECT_EQ(Facts("<meta property=article:published_time content=soon>" + json).published, "2012-02-02T10:00:00Z");
  EXPECT_EQ(Facts("<template>" + json + open_graph + time + "</template>").published, "");
}

}  // namespace
}  // namespace portolan
