#include "url/canonical.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "io/rng.h"
#include "url/query_names.h"

namespace portolan {
namespace {

using enum CanonicalRule;

std::string Canonical(std::string_view text, CanonicalRules rules = CanonicalRules::Default()) {
  auto url = Url::Parse(text);
  if (!url) return "fails";
  if (!Canonicalize(*url, rules)) return "not http";
  EXPECT_TRUE(url->CheckOffsets()) << text;
  return std::string(url->href());
}

TEST(CanonicalTest, ParsingGivesOneSpellingAlready) {
  EXPECT_EQ(Canonical("HTTP://EXAMPLE.com:80", CanonicalRules::None()), "http://example.com/");
  EXPECT_EQ(Canonical("https://b\xc3\xbc"
                      "cher.example:443/a/./b/../c/%2E%2e/d",
                      CanonicalRules::None()),
            "https://xn--bcher-kva.example/a/d");
}

TEST(CanonicalTest, DropFragment) {
  EXPECT_EQ(Canonical("http://a/b?c#d", kDropFragment), "http://a/b?c");
  EXPECT_EQ(Canonical("http://a/b#", kDropFragment), "http://a/b");
  EXPECT_EQ(Canonical("http://a/b?c#d", CanonicalRules::All().Without(kDropFragment)), "http://a/b?c#d");
}

TEST(CanonicalTest, NormalizeEscapes) {
  EXPECT_EQ(Canonical("http://a/%7euser/%66oo%2Ehtml"), "http://a/~user/foo.html");
  EXPECT_EQ(Canonical("http://a/%c3%a9?q=%e2%82%ac"), "http://a/%C3%A9?q=%E2%82%AC");
  EXPECT_EQ(Canonical("http://a/9%2f11?q=a%26b%3dc%2B%20d"), "http://a/9%2F11?q=a%26b%3Dc%2B%20d");
  EXPECT_EQ(Canonical("http://a/%7e", CanonicalRules::None()), "http://a/%7e");
  EXPECT_EQ(Canonical("http://%75ser:p%7ess@a/%41#%42", kNormalizeEscapes), "http://user:p~ss@a/A#B");
}

TEST(CanonicalTest, PercentSignThatBeginsNoEscapeIsEscaped) {
  EXPECT_EQ(Canonical("http://a/100%"), "http://a/100%25");
  EXPECT_EQ(Canonical("http://a/100%/x%2?y%zz=%4"), "http://a/100%25/x%252?y%25zz=%254");
  EXPECT_EQ(Canonical("http://a/%%36%31"), "http://a/%2561");
  EXPECT_EQ(Canonical("http://a/%2%35%%%41"), "http://a/%2525%25%25A");
  EXPECT_EQ(Canonical("http://%:%@a:1/%?%#%", kNormalizeEscapes), "http://%25:%25@a:1/%25?%25#%25");
}

TEST(CanonicalTest, DropEmptyQuery) {
  EXPECT_EQ(Canonical("http://a/b?", kDropEmptyQuery), "http://a/b");
  EXPECT_EQ(Canonical("http://a/b?#c", kDropEmptyQuery), "http://a/b#c");
  EXPECT_EQ(Canonical("http://a/b?"), "http://a/b?");
}

TEST(CanonicalTest, DropUserInfo) {
  EXPECT_EQ(Canonical("http://me:secret@a:81/b?c#d", kDropUserInfo), "http://a:81/b?c#d");
  EXPECT_EQ(Canonical("http://me@a/", kDropUserInfo), "http://a/");
  EXPECT_EQ(Canonical("http://me@a/", CanonicalRules::None()), "http://me@a/");
}

TEST(CanonicalTest, DropHostDot) {
  EXPECT_EQ(Canonical("http://example.com.:81/b", kDropHostDot), "http://example.com:81/b");
  EXPECT_EQ(Canonical("http://a../", kDropHostDot), "http://a../");
  EXPECT_EQ(Canonical("http://./", kDropHostDot), "http://./");
}

TEST(CanonicalTest, DropSessionIdsFromTheQuery) {
  EXPECT_EQ(Canonical("http://a/?a=1&jsessionid=0123&b=2", kDropSessionIds), "http://a/?a=1&b=2");
  EXPECT_EQ(Canonical("http://a/?PHPSESSID=9682993c8daa&x", kDropSessionIds), "http://a/?x");
  EXPECT_EQ(Canonical("http://a/?ASPSESSIONIDAQBSDSRT=EOHBLB&x", kDropSessionIds), "http://a/?x");
  EXPECT_EQ(Canonical("http://a/?CFID=1&CFTOKEN=2#f", kDropSessionIds), "http://a/#f");
  EXPECT_EQ(Canonical("http://a/?sid=9682993c8daa2c5497996114facdc805", kDropSessionIds), "http://a/");
  EXPECT_EQ(Canonical("http://a/?sid=17&s=books", kDropSessionIds), "http://a/?sid=17&s=books");
  EXPECT_EQ(Canonical("http://a/?utm_source=x", kDropSessionIds), "http://a/?utm_source=x");
}

TEST(CanonicalTest, DropSessionIdsFromThePath) {
  EXPECT_EQ(Canonical("http://a/b;jsessionid=E85F?q", kDropSessionIds), "http://a/b?q");
  EXPECT_EQ(Canonical("http://a/b;JSESSIONID=1;v=2/c;x;jsessionid=3", kDropSessionIds), "http://a/b;v=2/c;x");
  EXPECT_EQ(Canonical("http://a/(S(4hqa0555fwsecu455xqckv45))/m.aspx", kDropSessionIds), "http://a/m.aspx");
  EXPECT_EQ(Canonical("http://a/(4hqa0555fwsecu455xqckv45)/m.aspx", kDropSessionIds), "http://a/m.aspx");
  EXPECT_EQ(Canonical("http://a/(4hqa0555fwsecu455xqckv45);jsessionid=1/m", kDropSessionIds), "http://a/m");
  EXPECT_EQ(Canonical("http://a/wiki/C_(language);v=1", kDropSessionIds), "http://a/wiki/C_(language);v=1");
}

TEST(CanonicalTest, ASegmentThatWouldBecomeDotsKeepsItsSessionId) {
  EXPECT_EQ(Canonical("http://a/b/..;jsessionid=1/c", kDropSessionIds), "http://a/b/..;jsessionid=1/c");
  EXPECT_EQ(Canonical("http://a/b;jsessionid=1/%2e%2E;jsessionid=1/c", kDropSessionIds),
            "http://a/b/%2e%2E;jsessionid=1/c");
  EXPECT_EQ(Canonical("http://a/(4hqa0555fwsecu455xqckv45)/.;jsessionid=1", kDropSessionIds),
            "http://a/.;jsessionid=1");
}

TEST(CanonicalTest, DropTracking) {
  EXPECT_EQ(Canonical("http://a/?utm_source=x&id=7&UTM_Medium=y&fbclid=z", kDropTracking), "http://a/?id=7");
  EXPECT_EQ(Canonical("http://a/?gclid=1#f", kDropTracking), "http://a/#f");
  EXPECT_EQ(Canonical("http://a/?&gclid=1&", kDropTracking), "http://a/?&");
  EXPECT_EQ(Canonical("http://a/?q=utm_source", kDropTracking), "http://a/?q=utm_source");
  EXPECT_EQ(Canonical("http://a/?utm%5fsource=x", kDropTracking | kNormalizeEscapes), "http://a/");
}

TEST(CanonicalTest, SortQuery) {
  EXPECT_EQ(Canonical("http://a/?b=2&a=1&a=0#f", kSortQuery), "http://a/?a=0&a=1&b=2#f");
  EXPECT_EQ(Canonical("http://a/?a=1&", kSortQuery), "http://a/?&a=1");
  EXPECT_EQ(Canonical("http://a/?b;a", kSortQuery), "http://a/?b;a");
  std::string many = "http://a/?";
  for (int i = 999; i >= 100; --i) many += std::to_string(i) + "&";
  const std::string sorted = Canonical(many, kSortQuery);
  EXPECT_TRUE(sorted.starts_with("http://a/?&100&101&102&")) << sorted;
  EXPECT_EQ(sorted.size(), many.size());
}

TEST(CanonicalTest, DropIndexFile) {
  EXPECT_EQ(Canonical("http://a/b/index.html?q#f", kDropIndexFile), "http://a/b/?q#f");
  EXPECT_EQ(Canonical("http://a/Default.aspx", kDropIndexFile), "http://a/");
  EXPECT_EQ(Canonical("http://a/index.html/index.html", kDropIndexFile), "http://a/index.html/");
  EXPECT_EQ(Canonical("http://a/myindex.html", kDropIndexFile), "http://a/myindex.html");
  EXPECT_EQ(Canonical("http://a/index.html/", kDropIndexFile), "http://a/index.html/");
  EXPECT_EQ(Canonical("http://a/index.php;jsessionid=1", CanonicalRules::All()), "http://a/");
}

TEST(CanonicalTest, CollapseSlashes) {
  EXPECT_EQ(Canonical("http://a//b///c//?d//e#f//g", kCollapseSlashes), "http://a/b/c/?d//e#f//g");
  EXPECT_EQ(Canonical("http://a//", kCollapseSlashes), "http://a/");
  EXPECT_EQ(Canonical("http://a//b"), "http://a//b");
  EXPECT_EQ(Canonical("http://a//;jsessionid=1//index.html", CanonicalRules::All()), "http://a/");
}

TEST(CanonicalTest, OtherSchemesAreLeftAlone) {
  EXPECT_EQ(Canonical("ftp://a/%7e"), "not http");
  EXPECT_EQ(Canonical("mailto:a%7e"), "not http");
  EXPECT_EQ(Canonical("ws://a/"), "not http");
}

// Pieces that interact with the rules, put together at random.
std::string RandomUrl(Rng& rng) {
  static const char* const kPieces[] = {"%",
                                        "%2",
                                        "%25",
                                        "%2e",
                                        "%7E",
                                        "%c3%a9",
                                        ".",
                                        "..",
                                        "/",
                                        "//",
                                        "a",
                                        "B",
                                        "9",
                                        "index.html",
                                        ";",
                                        "jsessionid",
                                        "=",
                                        "(",
                                        ")",
                                        "S(",
                                        "4hqa0555fwsecu455xqckv45",
                                        "?",
                                        "&",
                                        "utm_source=",
                                        "sid=",
                                        "9682993c8daa2c5497996114facdc805",
                                        "#",
                                        "@",
                                        ":",
                                        "\xc3\xa9",
                                        " ",
                                        "'",
                                        "phpsessid",
                                        "index.php",
                                        "gclid",
                                        "%6asessionid",
                                        "0x7",
                                        "[",
                                        "|",
                                        "\\",
                                        "\t",
                                        "%00",
                                        "fbclid=1",
                                        ";jsessionid=",
                                        "/../",
                                        "/./"};
  std::string text = rng.Below(4) == 0 ? "https://u%7e:p@h.example.:81/" : "http://h.example/";
  for (uint64_t n = rng.Below(14); n > 0; --n) text += kPieces[rng.Below(std::size(kPieces))];
  return text;
}

TEST(CanonicalTest, CanonicalFormIsItsOwnForEverySetOfRules) {
  Rng rng(7);
  for (int i = 0; i < 300'000; ++i) {
    const std::string text = RandomUrl(rng);
    const auto rules = CanonicalRules::FromBits(static_cast<uint32_t>(rng.Below(1024)));
    auto url = Url::Parse(text);
    ASSERT_TRUE(url) << text;
    ASSERT_TRUE(Canonicalize(*url, rules));
    ASSERT_TRUE(url->CheckOffsets()) << text << " gives " << url->href();
    const auto parsed = Url::Parse(url->href());
    ASSERT_TRUE(parsed) << text << " gives " << url->href();
    ASSERT_TRUE(parsed->IdenticalTo(*url)) << text << " gives " << url->href() << " parses to " << parsed->href();
    Url again = *url;
    Canonicalize(again, rules);
    ASSERT_TRUE(again.IdenticalTo(*url)) << text << " gives " << url->href() << " and then " << again.href()
                                         << " under " << rules.bits();
  }
}

TEST(CanonicalTest, RulesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (uint32_t bit = 1; bit < CanonicalRules::All().bits(); bit <<= 1) {
    const auto rule = static_cast<CanonicalRule>(bit);
    names.insert(CanonicalRuleName(rule));
    EXPECT_EQ(ParseCanonicalRule(CanonicalRuleName(rule)), rule);
  }
  EXPECT_EQ(ParseCanonicalRule("sort"), std::nullopt);
  EXPECT_EQ(names.size(), 10U);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(CanonicalTest, DocumentNamesEveryRuleAndEveryParameter) {
  std::ifstream file("docs/canonical.md");
  ASSERT_TRUE(file) << "docs/canonical.md";
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  const auto documented = [&](std::string_view name) { return text.find("`" + std::string(name) + "`") != text.npos; };
  for (uint32_t bit = 1; bit < CanonicalRules::All().bits(); bit <<= 1) {
    const auto rule = static_cast<CanonicalRule>(bit);
    EXPECT_TRUE(documented(CanonicalRuleName(rule))) << CanonicalRuleName(rule);
  }
  for (const auto name : url_internal::SessionNames()) EXPECT_TRUE(documented(name)) << name;
  for (const auto name : url_internal::TrackingNames()) EXPECT_TRUE(documented(name)) << name;
  for (const auto name : url_internal::IndexFiles()) EXPECT_TRUE(documented(name)) << name;
}

}  // namespace
}  // namespace portolan
