#include "search/user_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace portolan {
namespace {

using testing::HasSubstr;
using Filter = UserQuery::Filter;

// "a|b c -"d e" site:x after:…"
std::string Show(const std::string& text) {
  const auto query = UserQuery::Parse(text);
  if (!query) return query.error().message();
  std::string out;
  const auto piece = [](const UserQuery::Piece& p) { return p.phrase ? '"' + p.text + '"' : p.text; };
  for (const auto& either : query->wanted) {
    if (!out.empty()) out += ' ';
    for (const auto& p : either) out += (&p == either.data() ? "" : "|") + piece(p);
  }
  for (const auto& p : query->unwanted) out += " -" + piece(p);
  for (const Filter& filter : query->filters) {
    const char* const names[] = {"site", "lang", "type"};
    out += (filter.excluded ? " -" : " ") + std::string(names[static_cast<int>(filter.kind)]) + ":" + filter.value;
  }
  if (!query->after.empty()) out += " after:" + query->after;
  if (!query->before.empty()) out += " before:" + query->before;
  return out;
}

TEST(UserQueryTest, WordsPhrasesAndConditions) {
  EXPECT_EQ(Show("white  whale"), "white whale");
  EXPECT_EQ(Show("\"moby dick\" -film -\"a b\""), "\"moby dick\" -film -\"a b\"");
  EXPECT_EQ(Show("a OR b c OR d"), "a|b c|d");
  EXPECT_EQ(Show("x SITE:Example.org. lang:DE -type:Text/HTML"), "x site:example.org lang:de -type:text/html");
  EXPECT_EQ(Show("site:https://Bücher.example/path?x"), " site:xn--bcher-kva.example");
  EXPECT_EQ(Show("site:*.example.org site:example.org:8080"), " site:example.org site:example.org");
  EXPECT_EQ(Show("x after:2024 before:2025-02"), "x after:20240101 before:20250201");
  EXPECT_EQ(Show("白い　鯨"), "白い 鯨");
}

TEST(UserQueryTest, EverythingElseIsWords) {
  EXPECT_EQ(Show("OR a OR"), "a");
  EXPECT_EQ(Show("\"open quote"), "\"open quote\"");
  EXPECT_EQ(Show("“typed quotes” x"), "\"typed quotes\" x");
  EXPECT_EQ(Show("a - b a-b http://x.test foo:bar wh*le"), "a - b a-b http://x.test foo:bar wh*le");
  EXPECT_EQ(Show("a\"b c\"d"), "a \"b c\" d");
}

TEST(UserQueryTest, WhatCannotBeAskedIsRefusedWithAReason) {
  EXPECT_THAT(Show(""), HasSubstr("no word"));
  EXPECT_THAT(Show(" \"\" \t"), HasSubstr("no word"));
  EXPECT_THAT(Show("a\xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(Show("x after:yesterday"), HasSubstr("not a date"));
  EXPECT_THAT(Show("x after:2024-02-30"), HasSubstr("not a date"));
  EXPECT_THAT(Show("x site: y"), HasSubstr("needs a value"));
  EXPECT_THAT(Show("x lang:" + std::string(300, 'a')), HasSubstr("needs a value"));
  std::string many;
  for (size_t i = 0; i <= kMaxQueryWords; ++i) many += "w* ";
  EXPECT_THAT(Show(many), HasSubstr("more than 32 words"));
  EXPECT_THAT(Show('"' + many + '"'), HasSubstr("more than 32 words"));
  EXPECT_THAT(Show(std::string(5'000'000, 'a')), HasSubstr("5000000 bytes"));
  std::string sites;
  for (size_t i = 0; i <= kMaxQueryFilters; ++i) sites += "site:a.test ";
  EXPECT_THAT(Show(sites), HasSubstr("more than 16"));
}

}  // namespace
}  // namespace portolan
