#include "budget/url_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "flow/url_record.h"

namespace portolan {
namespace {

UrlShape Shape(std::string_view url) { return ShapeOf(url, HostKey(url, HashKey::Known()), 99, HashKey::Known()); }
std::string Whole(std::string_view url) { return ShapeWords(url, Shape(url), 0); }
std::string Abstract(std::string_view text) {
  std::string out;
  AppendAbstract(out, text);
  return out;
}

TEST(UrlShapeTest, NumbersAndTokensAreLeftOut) {
  EXPECT_EQ(Abstract("tulip-17.html"), "tulip-#.html");
  EXPECT_EQ(Abstract("2031-07-04"), "#-#-#");
  EXPECT_EQ(Abstract("s-00f3ab129"), "s-*");
  EXPECT_EQ(Abstract("deadbeefcafe"), "*");
  EXPECT_EQ(Abstract("harbour"), "harbour");
  EXPECT_EQ(Abstract("h2o"), "h#o");
  EXPECT_EQ(Abstract("x9k2m4qz81"), "*");
  EXPECT_EQ(Abstract("123456789012"), "#");
  EXPECT_EQ(Abstract(""), "");
}

TEST(UrlShapeTest, UrlsOfOneFormShareAGroup) {
  EXPECT_EQ(Whole("https://a.example/events/2031/07/04/"), "/events/#/#/#/");
  EXPECT_EQ(Shape("https://a.example/events/2031/07/04/").whole().key,
            Shape("https://a.example/events/1999/1/1/").whole().key);
  EXPECT_NE(Shape("https://a.example/events/1/").whole().key, Shape("https://b.example/events/1/").whole().key);
  EXPECT_EQ(Whole("https://a.example/list?size=2&colour=red"), "/list?colour&size");
  EXPECT_EQ(Whole("https://a.example/list?f=1&f=2&f=3"), "/list?f+");
  EXPECT_EQ(Whole("https://a.example/list;sid=0f1e2d3c4b?f=1"), "/list?;sid&f");
  EXPECT_EQ(ShapeWords("https://a.example/list;sid=1", Shape("https://a.example/list;sid=1"), 1), ";sid");
  EXPECT_EQ(Shape("https://a.example/list?f=1&f=2&f=3").whole().key,
            Shape("https://a.example/list?f=9&f=2").whole().key);
}

TEST(UrlShapeTest, SegmentsThatRepeatAreOne) {
  const std::string once = Whole("http://a.example/pub/mirror/pub/readme-1.html");
  EXPECT_EQ(once, "/pub/**/readme-#.html");
  EXPECT_EQ(Whole("http://a.example/pub/mirror/pub/mirror/pub/mirror/pub/readme-7.html"), once);
  EXPECT_EQ(Whole("http://a.example/pub/readme-7.html"), "/pub/readme-#.html");
  EXPECT_EQ(Whole("http://a.example/2031/07/2031/x"), "/#/#/#/x") << "numbers are not names";
}

TEST(UrlShapeTest, GroupsGoFromNarrowToWide) {
  const std::string_view url = "https://a.example/shop/eu/shoes/item-5?size=3&colour=red";
  const UrlShape shape = Shape(url);
  const ShapeLevel levels[] = {ShapeLevel::kWhole,     ShapeLevel::kName,      ShapeLevel::kName,
                               ShapeLevel::kPath,      ShapeLevel::kDirectory, ShapeLevel::kDirectory,
                               ShapeLevel::kDirectory, ShapeLevel::kHost,      ShapeLevel::kDomain};
  const std::string_view words[] = {"/shop/eu/shoes/item-#?colour&size",
                                    "?colour",
                                    "?size",
                                    "/shop/eu/shoes/item-#?",
                                    "/shop/eu/shoes/",
                                    "/shop/eu/",
                                    "/shop/",
                                    "a.example"};
  ASSERT_EQ(shape.count, std::size(levels));
  for (size_t i = 0; i < shape.count; ++i) {
    EXPECT_EQ(shape.groups[i].level, levels[i]) << i;
    if (i < std::size(words)) {
      EXPECT_EQ(ShapeWords(url, shape, i), words[i]);
    }
  }
  std::set<uint64_t> keys;
  for (const ShapeGroup& group : shape) keys.insert(group.key);
  EXPECT_EQ(keys.size(), shape.count);
}

TEST(UrlShapeTest, AnyUrlGivesAShape) {
  std::string deep = "https://a.example";
  for (int i = 0; i < 3000; ++i) deep += "/d" + std::string(1, static_cast<char>('a' + i % 26));
  std::string wide = "https://a.example/?";
  for (int i = 0; i < 500; ++i) wide += "&p" + std::string(static_cast<size_t>(i % 5), 'x') + "=1";
  const std::string urls[] = {deep,
                              wide,
                              "https://a.example/",
                              "https://a.example/?",
                              "https://a.example/?&&=&=1",
                              "https://a.example//////",
                              "https://a.example"};
  for (const std::string& url : urls) {
    const UrlShape shape = Shape(url);
    EXPECT_GE(shape.count, 3U) << url;
    EXPECT_EQ(shape.groups[shape.count - 1].level, ShapeLevel::kDomain);
    EXPECT_EQ(shape.groups[shape.count - 2].level, ShapeLevel::kHost);
    for (size_t i = 0; i < shape.count; ++i) ShapeWords(url, shape, i);
  }
}

}  // namespace
}  // namespace portolan
