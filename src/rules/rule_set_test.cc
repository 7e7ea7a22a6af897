#include "rules/rule_set.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <random>

#include "rules/rule_file.h"

namespace portolan {
namespace {

using testing::ElementsAre;

std::shared_ptr<const RuleSet> Make(std::string_view text) {
  auto rules = ParseRuleFile(text, "r.toml");
  EXPECT_TRUE(rules) << rules.error().message();
  auto set = RuleSet::Create(*std::move(rules));
  EXPECT_TRUE(set) << set.error().message();
  return *set;
}

std::string_view HostIn(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  const std::string_view host = url.substr(begin, url.find('/', begin) - begin);
  return host.substr(0, host.find(':'));
}

RuleUrl UrlOf(std::string_view url, uint32_t depth = 0, RuleKind kind = kRulePage) {
  return {.url = url, .host = HostIn(url), .depth = depth, .kind = kind};
}

// The number of the rule that decides about access; 0: none.
uint32_t Access(const RuleSet& set, std::string_view url, uint32_t depth = 0, RuleKind kind = kRulePage) {
  const Rule* rule = set.Judge(UrlOf(url, depth, kind)).access;
  return rule == nullptr ? 0 : rule->number;
}

TEST(RuleSetTest, FirstRuleThatHoldsDecides) {
  const auto set = Make(
      "rule = [{action='include', host='ok.a.org'}, {action='exclude', domain='a.org'},"
      "{action='include', prefix='https://b.org/x/'}, {action='exclude', prefix=['https://b.org/','http://c.org/y']},"
      "{action='exclude', extension=['zip','gz']}, {action='exclude', pattern='/cal(endar)?/[0-9]{4}'},"
      "{action='exclude', kind='requisite', min_depth=3}, {action='include', max_depth=1}]");
  EXPECT_EQ(Access(*set, "https://ok.a.org/"), 1U);
  EXPECT_EQ(Access(*set, "https://x.ok.a.org/"), 2U);
  EXPECT_EQ(Access(*set, "https://a.org/"), 2U);
  EXPECT_EQ(Access(*set, "https://aa.org/", 9), 0U);
  EXPECT_EQ(Access(*set, "https://b.org/x/y"), 3U);
  EXPECT_EQ(Access(*set, "https://b.org/xx"), 4U);
  EXPECT_EQ(Access(*set, "http://c.org/yes"), 4U);
  EXPECT_EQ(Access(*set, "http://c.org/x", 9), 0U);
  EXPECT_EQ(Access(*set, "http://d.org/a.ZIP?q=1"), 5U);
  EXPECT_EQ(Access(*set, "http://d.org/.zip", 9), 0U);
  EXPECT_EQ(Access(*set, "http://d.zip/", 9), 0U);
  EXPECT_EQ(Access(*set, "http://d.org/Cal/2024", 9), 0U);
  EXPECT_EQ(Access(*set, "http://d.org/cal/2024"), 6U);
  EXPECT_EQ(Access(*set, "http://d.org/calendar/2024", 1), 6U);
  EXPECT_EQ(Access(*set, "http://d.org/", 3, kRuleRequisite), 7U);
  EXPECT_EQ(Access(*set, "http://d.org/", 2, kRuleRequisite), 0U);
  EXPECT_EQ(Access(*set, "http://d.org/", 1), 8U);
}

TEST(RuleSetTest, EachKindOfActionHasItsOwnFirst) {
  const auto set = Make(
      "rule = [{action='exclude', host='x.org'}, {action='limit', host='a.org', pages_per_host=5},"
      "{action='limit', pages_per_host=100}, {action='rate', domain='a.org', delay='3s'},"
      "{action='priority', pattern='news', priority=0}, {action='priority', priority=6}]");
  const RuleVerdict verdict = set->Judge(UrlOf("https://a.org/news"));
  EXPECT_EQ(verdict.access, nullptr);
  EXPECT_EQ(verdict.limit->number, 2U);
  EXPECT_EQ(verdict.rate->number, 4U);
  EXPECT_EQ(verdict.priority->number, 5U);
  EXPECT_EQ(set->Judge(UrlOf("https://b.org/")).limit->number, 3U);
  EXPECT_EQ(set->Judge(UrlOf("https://b.org/")).priority->number, 6U);
  EXPECT_EQ(set->Judge(UrlOf("https://b.org/i.png", 0, kRuleRequisite)).limit, nullptr) << "limits are of pages";
  EXPECT_TRUE(set->Judge(UrlOf("https://x.org/")).Excludes());
}

TEST(RuleSetTest, WhatDependsOnTheAnswerIsDecidedByIt) {
  const auto set = Make(
      "rule = [{action='include', type='text/html', max_size='1K'}, {action='exclude', host='a.org'},"
      "{action='exclude', type='image/*'}]");
  EXPECT_TRUE(set->judges_answers());
  const RuleUrl a = UrlOf("http://a.org/");
  const RuleUrl b = UrlOf("http://b.org/");
  EXPECT_TRUE(set->Judge(a).depends);
  EXPECT_FALSE(set->Judge(a).Excludes()) << "its answer may be a small page";
  EXPECT_EQ(set->JudgeAnswer(a, {.size = 1024, .type = "text/html"})->number, 1U);
  EXPECT_EQ(set->JudgeAnswer(a, {.size = 1025, .type = "text/html"})->number, 2U);
  EXPECT_EQ(set->Judge(b).access, nullptr);
  EXPECT_EQ(set->JudgeAnswer(b, {.size = 9, .type = "image/png"})->number, 3U);
  EXPECT_EQ(set->JudgeAnswer(b, {.size = 9, .type = "imagex/png"}), nullptr);
}

TEST(RuleSetTest, WholeHostsAreKnown) {
  const auto set = Make(
      "rule = [{action='include', prefix='http://a.org/x/'}, {action='exclude', domain='a.org'},"
      "{action='exclude', host='b.org', extension='zip'}]");
  EXPECT_EQ(set->ExcludesHost("a.org"), nullptr) << "something of it may be included";
  EXPECT_EQ(set->ExcludesHost("b.org"), nullptr);
  const auto second = Make("rule = [{action='include', host='w.a.org'}, {action='exclude', domain='a.org'}]");
  EXPECT_EQ(second->ExcludesHost("a.org")->number, 2U);
  EXPECT_EQ(second->ExcludesHost("w.a.org"), nullptr);
  EXPECT_EQ(second->ExcludesHost("b.org"), nullptr);
}

// Against the definition, rule by rule.
TEST(RuleSetTest, IndexesAgreeWithTryingEachRule) {
  std::mt19937_64 random(7);
  const auto pick = [&](size_t n) { return random() % n; };
  const std::vector<std::string> labels = {"a", "b", "c", "dd", "e-e"};
  const std::vector<std::string> parts = {"x", "xy", "news", "cal", "2024", "i.png", "f.ZIP", "p.html"};
  const auto host = [&] {
    std::string out = "org";
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) out = labels[pick(labels.size())] + "." + out;
    return out;
  };
  const auto url = [&] {
    std::string out = "http://" + host();
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) out += "/" + parts[pick(parts.size())];
    return pick(3) == 0 ? out + "?q=" + parts[pick(parts.size())] : out;
  };
  const std::vector<std::string> patterns = {"news", "^http://a", "[0-9]{4}$", "x(y|/)", "\\.png", "q=", "a.*c", "/x/"};
  for (int round = 0; round < 40; ++round) {
    std::vector<Rule> rules;
    for (int i = 0; i < 30; ++i) {
      Rule rule;
      rule.action = pick(2) == 0 ? RuleAction::kInclude : RuleAction::kExclude;
      for (size_t n = pick(3); n > 0; --n) rule.hosts.push_back(host());
      if (pick(3) == 0) rule.domains.push_back(host());
      if (pick(4) == 0) rule.prefixes.push_back(url());
      if (pick(3) == 0) rule.patterns.push_back(patterns[pick(patterns.size())]);
      if (pick(4) == 0) rule.extensions.push_back(pick(2) == 0 ? "png" : "zip");
      if (pick(3) == 0) rule.depth.least = static_cast<uint32_t>(pick(4));
      if (ConditionsText(rule).empty()) continue;
      std::ranges::sort(rule.hosts);
      rules.push_back(rule);
      std::vector<Rule> numbered = rules;
      if (!RuleSet::Create(numbered)) rules.pop_back();
    }
    const auto set = RuleSet::Create(rules).value();
    for (int i = 0; i < 200; ++i) {
      const std::string text = url();
      const auto depth = static_cast<uint32_t>(pick(5));
      const std::string_view at = HostIn(text);
      uint32_t expected = 0;
      for (const Rule& rule : set->rules()) {
        const auto any = [](const Rule::Words& words, auto fits) {
          return words.empty() || std::ranges::any_of(words, fits);
        };
        const std::string path = text.substr(0, text.find('?'));
        const bool holds =
            any(rule.hosts, [&](auto& word) { return word == at; }) &&
            any(rule.domains, [&](auto& word) { return ("." + std::string(at)).ends_with("." + word); }) &&
            any(rule.prefixes, [&](auto& word) { return text.starts_with(word); }) &&
            any(rule.patterns, [&](auto& word) { return RE2::PartialMatch(text, word); }) &&
            any(rule.extensions,
                [&](auto& word) { return path.ends_with("." + word) || (word == "zip" && path.ends_with(".ZIP")); }) &&
            depth >= rule.depth.least;
        if (holds) {
          expected = rule.number;
          break;
        }
      }
      ASSERT_EQ(Access(*set, text, depth), expected) << text;
    }
  }
}

TEST(PatternSetTest, FindsWhatEachPatternAloneFinds) {
  std::vector<std::string> patterns = {"/calendar/",
                                       "(?i)/LOGIN",
                                       "[?&]sid=[0-9a-f]{8}",
                                       "^https?://[^/]*\\.example\\.",
                                       "\\.js$",
                                       "a|b",
                                       "[0-9]{4}/[0-9]{2}",
                                       "print(er)?=1",
                                       "/x/y/z",
                                       "tag-[^/]+/feed",
                                       "^http:",
                                       ".*"};
  EXPECT_EQ(PatternSet::Create(patterns)->always(), patterns.size()) << "few are one set";
  for (int i = 0; i < 100; ++i) patterns.push_back(fmt::format("/(a{}|feed|x)[/?]", i));
  const auto set = PatternSet::Create(patterns).value();
  EXPECT_GT(set.always(), 0U) << "some of them need no text";
  EXPECT_LT(set.always(), patterns.size());
  for (const std::string url :
       {"http://w.example.org/calendar/2024/05", "https://w.example.org/Login?sid=0123abcd", "http://q.net/x/y/z.js",
        "https://q.net/tag-7/feed?printer=1", "https://q.net/?print=1", "", "http://q.net/1999/1"}) {
    std::vector<int> expected;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (RE2::PartialMatch(url, patterns[i])) expected.push_back(static_cast<int>(i));
    }
    std::vector<int> found;
    set.Find(url, found);
    EXPECT_EQ(found, expected) << url;
  }
}

TEST(PatternSetTest, APatternThatIsTooLargeBesideTheOthersIsNamed) {
  std::string pattern;
  for (int i = 0; i < 9; ++i) pattern += "[a-z]{900}y";
  const std::string large = fmt::format("[[rule]]\naction='exclude'\npattern='{}'\n", pattern);
  EXPECT_TRUE(RuleSet::Create(ParseRuleFile(large, "r.toml").value()));
  std::string text;
  for (int i = 0; i < 3000; ++i) text += fmt::format("[[rule]]\naction='exclude'\npattern='x{}y'\n", i);
  const auto set = RuleSet::Create(ParseRuleFile(text + large, "r.toml").value());
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message(), testing::StartsWith("r.toml:9001: pattern: '[a-z]{900}y"));
  EXPECT_THAT(set.error().message(), testing::HasSubstr("is too large to be one of 3001 patterns"));
}

TEST(PrefixTableTest, FindsAllPrefixes) {
  PrefixTable table;
  uint32_t number = 0;
  for (const char* prefix : {"ab", "a", "abc", "abd", "b", "abcde", "zz"}) table.Add(prefix, number++);
  table.Finish();
  const auto of = [&](std::string_view text) {
    std::vector<uint32_t> found;
    table.Each(text, [&](uint32_t value) { found.push_back(value); });
    std::ranges::sort(found);
    return found;
  };
  EXPECT_THAT(of("abcdx"), ElementsAre(0, 1, 2));
  EXPECT_THAT(of("abcde"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(of("abz"), ElementsAre(0, 1));
  EXPECT_THAT(of("z"), ElementsAre());
  EXPECT_THAT(of("zzz"), ElementsAre(6));
  EXPECT_THAT(of(""), ElementsAre());
}

}  // namespace
}  // namespace portolan
