#include "crawl/scope.h"

#include <gtest/gtest.h>

#include "flow/url_record.h"
#include "rules/rule_file.h"

namespace portolan {
namespace {

bool In(Scope& scope, std::string_view url) { return scope.Contains(url, HostKey(url, HashKey::Known())); }

TEST(ScopeTest, DomainTakesAllHostsOfTheRegisteredDomain) {
  Scope scope = Scope::Create({.mode = ScopeMode::kDomain, .seeds = {"https://www.example.co.uk/a/b"}}).value();
  EXPECT_TRUE(In(scope, "https://www.example.co.uk/"));
  EXPECT_TRUE(In(scope, "http://shop.example.co.uk:8080/x"));
  EXPECT_TRUE(In(scope, "http://example.co.uk/x"));
  EXPECT_FALSE(In(scope, "http://other.co.uk/x"));
  EXPECT_FALSE(In(scope, "http://notexample.co.uk/x"));
}

TEST(ScopeTest, HostAndPrefixAreNarrower) {
  Scope host = Scope::Create({.mode = ScopeMode::kHost, .seeds = {"https://www.example.org/"}}).value();
  EXPECT_TRUE(In(host, "http://www.example.org/x"));
  EXPECT_FALSE(In(host, "http://shop.example.org/x"));

  Scope prefix =
      Scope::Create({.mode = ScopeMode::kPrefix, .seeds = {"https://www.example.org/docs/index.html?a=/b/"}}).value();
  EXPECT_TRUE(In(prefix, "https://www.example.org/docs/x/y"));
  EXPECT_FALSE(In(prefix, "https://www.example.org/blog/"));
  EXPECT_FALSE(In(prefix, "http://www.example.org/docs/x"));
}

TEST(ScopeTest, ListsAddAndTakeAway) {
  Scope scope = Scope::Create({.mode = ScopeMode::kHost,
                               .seeds = {"https://a.example/"},
                               .include_domains = {"friend.example"},
                               .exclude_domains = {"bad.friend.example"},
                               .exclude_urls = {"*.zip", "*/calendar/*"}})
                    .value();
  EXPECT_TRUE(In(scope, "http://x.friend.example/"));
  EXPECT_FALSE(In(scope, "http://bad.friend.example/"));
  EXPECT_FALSE(In(scope, "http://xfriend.example/"));
  EXPECT_FALSE(In(scope, "https://a.example/x.zip"));
  EXPECT_FALSE(In(scope, "https://a.example/calendar/2031/"));
  EXPECT_TRUE(In(scope, "https://a.example/x.zip.html"));
}

ScopeAnswer AnswerOf(Scope& scope, std::string_view url, bool seed = false) {
  UrlRecord record;
  record.url = url;
  return scope.Judge(record, HostKey(url, HashKey::Known()), seed).answer;
}

TEST(ScopeTest, RulesGoBeforeBlockListsAndThese) {
  ScopeOptions options{.mode = ScopeMode::kHost, .seeds = {"http://a.example/"}, .exclude_urls = {"*never*"}};
  options.rules = RuleSet::Create(ParseRuleFile("rule = [{action='include', host='friend.example'},"
                                                "{action='exclude', host='a.example', extension='zip'},"
                                                "{action='exclude', host='bad.example'}]",
                                                "r.toml")
                                      .value())
                      .value();
  BlockList::Builder builder(10);
  ASSERT_TRUE(builder.Add("friend.example\nblocked.example\n", "b.txt"));
  options.blocked = builder.Finish();
  Scope scope = Scope::Create(options).value();
  EXPECT_EQ(AnswerOf(scope, "http://a.example/x"), ScopeAnswer::kInside);
  EXPECT_EQ(AnswerOf(scope, "http://a.example/x.zip"), ScopeAnswer::kRule);
  EXPECT_EQ(AnswerOf(scope, "http://a.example/x.zip", /*seed=*/true), ScopeAnswer::kRule);
  EXPECT_EQ(AnswerOf(scope, "http://friend.example/"), ScopeAnswer::kInside) << "though it is on a list";
  EXPECT_EQ(AnswerOf(scope, "http://friend.example/never"), ScopeAnswer::kOutside);
  EXPECT_EQ(AnswerOf(scope, "http://other.example/"), ScopeAnswer::kOutside);
  EXPECT_EQ(AnswerOf(scope, "http://blocked.example/"), ScopeAnswer::kOutside);
  EXPECT_EQ(AnswerOf(scope, "http://blocked.example/", /*seed=*/true), ScopeAnswer::kBlocked);
  EXPECT_TRUE(scope.ExcludesOrigin("http://bad.example:81"));
  EXPECT_FALSE(scope.ExcludesOrigin("http://friend.example"));
  EXPECT_FALSE(scope.ExcludesOrigin("http://a.example"));
  scope.SetBlocked(nullptr);
  EXPECT_EQ(AnswerOf(scope, "http://blocked.example/", /*seed=*/true), ScopeAnswer::kInside);
}

TEST(ScopeTest, BlockedHostsAreKnownAgainWhenTheListChanges) {
  Scope scope = Scope::Create({.mode = ScopeMode::kAny}).value();
  EXPECT_EQ(AnswerOf(scope, "http://www.b.example/"), ScopeAnswer::kInside);
  BlockList::Builder builder(10);
  ASSERT_TRUE(builder.Add("b.example\n", "b.txt"));
  scope.SetBlocked(builder.Finish());
  EXPECT_EQ(AnswerOf(scope, "http://www.b.example/"), ScopeAnswer::kBlocked);
  EXPECT_TRUE(scope.ExcludesOrigin("http://www.b.example"));
  EXPECT_EQ(AnswerOf(scope, "http://a.example/"), ScopeAnswer::kInside);
}

TEST(ScopeTest, ExclusionsAreKnownWhateverTheModeSays) {
  const Scope scope = Scope::Create({.mode = ScopeMode::kHost,
                                     .seeds = {"https://a.example/"},
                                     .exclude_domains = {"bad.example"},
                                     .exclude_urls = {"*.zip", "https://b.example/*", "*/calendar/*"}})
                          .value();
  EXPECT_FALSE(scope.Excludes("https://a.example/"));
  EXPECT_FALSE(scope.Excludes("https://outside.example/")) << "out of scope, but not excluded";
  EXPECT_TRUE(scope.Excludes("https://www.bad.example/"));
  EXPECT_TRUE(scope.Excludes("https://a.example/x.zip"));
  EXPECT_TRUE(scope.ExcludesOrigin("https://www.bad.example"));
  EXPECT_TRUE(scope.ExcludesOrigin("http://bad.example:8080"));
  EXPECT_TRUE(scope.ExcludesOrigin("https://b.example"));
  EXPECT_FALSE(scope.ExcludesOrigin("http://b.example")) << "another scheme, another origin";
  EXPECT_FALSE(scope.ExcludesOrigin("https://a.example")) << "only some of it";
}

TEST(ScopeTest, AddressesAndSuffixesAreTheirOwnDomain) {
  Scope scope =
      Scope::Create({.mode = ScopeMode::kDomain, .seeds = {"http://127.0.0.1:8080/", "http://localhost/"}}).value();
  EXPECT_TRUE(In(scope, "http://127.0.0.1:8080/x"));
  EXPECT_TRUE(In(scope, "http://localhost/x"));
  EXPECT_FALSE(In(scope, "http://127.0.0.2:8080/x"));
}

TEST(ScopeTest, RequisitesAreAdmittedWhereverTheyAreUnlessExcluded) {
  ScopeOptions options{.mode = ScopeMode::kHost,
                       .seeds = {"https://a.example/"},
                       .exclude_domains = {"ads.example"},
                       .exclude_urls = {"*.mp4"}};
  const auto admits = [](Scope& scope, std::string_view url, uint8_t requisite) {
    return scope.Admits({.requisite = requisite, .url = url}, HostKey(url, HashKey::Known()));
  };
  Scope without = Scope::Create(options).value();
  EXPECT_TRUE(admits(without, "https://a.example/x", 0));
  EXPECT_TRUE(admits(without, "https://a.example/x", 1));
  EXPECT_FALSE(admits(without, "https://cdn.example/x", 1)) << "the setting was changed since";
  options.requisites = true;
  Scope scope = Scope::Create(options).value();
  EXPECT_TRUE(admits(scope, "https://cdn.example/x", 1));
  EXPECT_FALSE(admits(scope, "https://cdn.example/x", 0));
  EXPECT_FALSE(admits(scope, "https://x.ads.example/x", 1));
  EXPECT_FALSE(admits(scope, "https://cdn.example/x.mp4", 1));
}

TEST(ScopeTest, Globs) {
  EXPECT_TRUE(Scope::Matches("*", ""));
  EXPECT_TRUE(Scope::Matches("a*b*c", "aXXbYYc"));
  EXPECT_FALSE(Scope::Matches("a*b*c", "aXXbYY"));
  EXPECT_TRUE(Scope::Matches("*aab", "aaaaab"));
  EXPECT_FALSE(Scope::Matches("", "x"));
  EXPECT_TRUE(Scope::Matches("*/page?.html", "http://a/page7.html"));
  EXPECT_FALSE(Scope::Matches("*/page?.html", "http://a/page.html"));
}

}  // namespace
}  // namespace portolan
