#include "index/document_maker.h"

#include <gtest/gtest.h>

#include <string>

namespace portolan {
namespace {

// "term:wdf@position,position …", in the order of terms.
std::string TermsOf(const Xapian::Document& document) {
  std::string out;
  for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
    if (!out.empty()) out += ' ';
    out += *term + ":" + std::to_string(term.get_wdf());
    char before = '@';
    for (auto at = term.positionlist_begin(); at != term.positionlist_end(); ++at) {
      out += before + std::to_string(*at);
      before = ',';
    }
  }
  return out;
}

DocumentMaker Maker() {
  auto maker = DocumentMaker::Create();
  EXPECT_TRUE(maker);
  return *std::move(maker);
}

std::string PackedLinks() {
  Inlinks inlinks{.step = 16, .texts = {{"the harbour guides", 5}, {"here", 1}}};
  return inlinks.Pack();
}

TextRecord SampleRecord(std::string_view main) {
  return {.url = "https://www.example.co.uk/old_town/caf%C3%A9?id=7",
          .unix_ms = 1'574'093'220'000,
          .title = "The Harbours",
          .published = "2019-11-18",
          .language = "en-GB",
          .headings = "1 Opening hours",
          .text = "Menu\nBoats sail on boats.",
          .main = main,
          .type = "text/html",
          .similarity = 0x0102030405060708};
}

std::string MainRange() {
  std::string main;
  AppendPackedRange(main, 0, 5, 20);
  return main;
}

TEST(DocumentMakerTest, GoldenTermsOfAPage) {
  DocumentMaker maker = Maker();
  const std::string main = MainRange();
  const auto document = maker.Make(SampleRecord(main), {.serial = 1, .offset = 16, .record = 2}, PackedLinks());
  ASSERT_TRUE(document) << document.error().ToString();
  EXPECT_EQ(TermsOf(*document),
            "Hexample.co.uk:0 Hwww.example.co.uk:0 Len:0 Len-gb:0 "
            "Qhttps://www.example.co.uk/old_town/caf%C3%A9?id=7:0 "
            "Sharbours:1@106 Sthe:1@105 Ttext/html:0 "
            "XAguides:3 XAharbour:3 XAhere:1 XAthe:3 "
            "XF0102030405060708:0 XHhours:1 XHopening:1 "
            "XU7:1 XUcafé:1 XUco:1 XUexample:1 XUid:1 XUold:1 XUtown:1 XUuk:1 "
            "ZSharbour:1 ZSthe:1 ZXAguid:3 ZXAharbour:3 ZXAhere:1 ZXAthe:3 ZXHhour:1 ZXHopen:1 "
            "ZXUcafé:1 ZXUco:1 ZXUexampl:1 ZXUid:1 ZXUold:1 ZXUtown:1 ZXUuk:1 "
            "Zboat:2 Zon:1 Zsail:1 boats:2@1,4 on:1@3 sail:1@2");
  EXPECT_EQ(document->get_value(kFetchedSlot), "20191118160700");
  EXPECT_EQ(document->get_value(kPublishedSlot), "20191118");
  EXPECT_EQ(document->get_value(kSimilaritySlot), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(document->get_value(kTieSlot), TieKey("https://www.example.co.uk/old_town/caf%C3%A9?id=7"));
  EXPECT_DOUBLE_EQ(Xapian::sortable_unserialise(document->get_value(kScoreSlot)), 0.25);
  const auto data = DocumentData::Decode(document->get_data());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->title, "The Harbours");
  EXPECT_EQ(data->place, (TextPlace{.serial = 1, .offset = 16, .record = 2}));
}

TEST(DocumentMakerTest, WithoutMainTextAllVisibleTextIsTheBody) {
  DocumentMaker maker = Maker();
  const auto document = maker.Make(SampleRecord(""), {}, "");
  ASSERT_TRUE(document);
  EXPECT_NE(TermsOf(*document).find(" menu:1@1"), std::string::npos) << TermsOf(*document);
  EXPECT_EQ(document->get_value(kScoreSlot), "");
}

TEST(DocumentMakerTest, WordsAreStemmedByThePagesLanguage) {
  DocumentMaker maker = Maker();
  const auto terms = [&](std::string_view language, std::string_view text) {
    const auto document = maker.Make({.url = "http://a.test/", .language = language, .text = text}, {}, "");
    return document ? TermsOf(*document) : document.error().ToString();
  };
  EXPECT_NE(terms("de", "Häuser").find("Zhaus:1"), std::string::npos) << terms("de", "Häuser");
  EXPECT_NE(terms("fr", "continuellement").find("Zcontinuel:1"), std::string::npos);
  EXPECT_EQ(terms("und", "continuellement").find('Z'), std::string::npos) << "no stemmer";
  EXPECT_NE(terms("zh", "\u4e2d\u6587\u5b57").find("\u4e2d\u6587:1"), std::string::npos) << "pairs of signs";
}

TEST(DocumentMakerTest, ReplacedLinksAreAsIfTheyHadAlwaysBeenThere) {
  DocumentMaker maker = Maker();
  const std::string main = MainRange();
  const auto whole = maker.Make(SampleRecord(main), {}, PackedLinks());
  auto replaced = maker.Make(SampleRecord(main), {}, Inlinks{.step = 3, .texts = {{"something else", 9}}}.Pack());
  auto without = maker.Make(SampleRecord(main), {}, "");
  ASSERT_TRUE(whole && replaced && without);
  ASSERT_TRUE(maker.ReplaceInlinks(*replaced, PackedLinks()));
  EXPECT_EQ(TermsOf(*replaced), TermsOf(*whole));
  EXPECT_EQ(replaced->get_value(kScoreSlot), whole->get_value(kScoreSlot));
  EXPECT_EQ(replaced->get_value(kInlinkSlot), InlinkValue(PackedLinks()));
  ASSERT_TRUE(maker.ReplaceInlinks(*replaced, ""));
  EXPECT_EQ(TermsOf(*replaced), TermsOf(*without));
  EXPECT_EQ(replaced->get_value(kInlinkSlot), "");
}

TEST(DocumentMakerTest, HostileTextMakesADocument) {
  DocumentMaker maker = Maker();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string text = std::string(300'000, 'x') + all + std::string(10'000, '\xcc') + "\xf4\x8f\xbf\xbf";
  std::string url = "http://" + std::string(5000, 'a') + ".test/%" + std::string(100'000, '%');
  for (const std::string_view language : {"en", "ar", "zh-Hant", "xx", ""}) {
    const auto document = maker.Make(
        {.url = url, .title = text, .published = text, .language = language, .headings = text, .text = text}, {}, all);
    ASSERT_TRUE(document) << document.error().ToString();
    Xapian::WritableDatabase database("", Xapian::DB_BACKEND_INMEMORY);
    EXPECT_NO_THROW(database.add_document(*document));
    for (auto term = document->termlist_begin(); term != document->termlist_end(); ++term) {
      ASSERT_LE((*term).size(), 245U) << "longer than a database takes";
    }
  }
}

}  // namespace
}  // namespace portolan
