#include "rules/rule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_set.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Complaint(std::string_view text) {
  const auto rules = ParseRuleFile(text, "r.toml");
  if (!rules) return rules.error().message();
  const auto set = RuleSet::Create(*rules);
  return set ? "" : set.error().message();
}

TEST(RuleFileTest, ReadsEveryKey) {
  const auto rules = ParseRuleFile(
      "# mine\n[[rule]]\naction = \"include\"\nhost = [\"WWW.Example.org\", \"b\\u00fccher.example\"]\nkind = "
      "\"page\"\n"
      "min_depth = 1\nmax_depth = 3\n"
      "[[rule]]\naction = 'exclude'\nextension = '.ZIP'\ntype = ['image/*']\nmin_size = \"1M\"\n"
      "[[rule]]\naction = 'limit'\ndomain = '*.example.org'\npages_per_host = 10\npages_per_domain = \"2K\"\n"
      "[[rule]]\naction = 'rate'\nprefix = 'https://EXAMPLE.org/a b'\ndelay = '1500ms'\n"
      "[[rule]]\naction = 'priority'\npattern = '/news/[0-9]+'\npriority = 7\n",
      "r.toml");
  ASSERT_TRUE(rules) << rules.error().message();
  ASSERT_EQ(rules->size(), 5U);
  const Rule& first = rules->front();
  EXPECT_THAT(first.hosts, ElementsAre("www.example.org", "xn--bcher-kva.example"));
  EXPECT_EQ(first.kinds, kRulePage);
  EXPECT_TRUE(first.depth.Has(1) && first.depth.Has(3) && !first.depth.Has(0) && !first.depth.Has(4));
  EXPECT_EQ(first.Name(), "rule 1 at r.toml:2");
  EXPECT_THAT(rules->at(1).extensions, ElementsAre("zip"));
  EXPECT_EQ(rules->at(1).size.least, uint64_t{1} << 20);
  EXPECT_TRUE(rules->at(1).WantsAnswer());
  EXPECT_THAT(rules->at(2).domains, ElementsAre("example.org"));
  EXPECT_EQ(rules->at(2).pages_per_domain, 2000U);
  EXPECT_THAT(rules->at(3).prefixes, ElementsAre("https://example.org/a%20b"));
  EXPECT_EQ(rules->at(3).delay_ns, 1'500'000'000);
  EXPECT_EQ(rules->at(4).priority, 7U);
  EXPECT_EQ(rules->at(4).line, 22U);
}

TEST(RuleFileTest, PrintedRulesAreReadBack) {
  const std::string text =
      "[[rule]]\naction = 'exclude'\npattern = [\"\\\\.zip$\", '\"']\ntype = 'a/b'\nkind = ['page', 'sitemap']\n"
      "max_size = 5\n[[rule]]\naction = 'rate'\ndelay = 2\n[[rule]]\naction = 'limit'\npages_per_host = 0\n"
      "pages_per_domain = 3\n[[rule]]\naction = 'priority'\npriority = 0\nmax_depth = 2\n";
  const auto rules = ParseRuleFile(text, "r.toml");
  ASSERT_TRUE(rules) << rules.error().message();
  const std::string printed = PrintRules(*rules);
  const auto again = ParseRuleFile("rule = " + printed, "again.toml");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(PrintRules(*again), printed);
}

TEST(RuleFileTest, MistakesNameFileLineAndWhatIsMeant) {
  const auto one = [](std::string_view line) {
    return Complaint("[[rule]]\naction = 'exclude'\n" + std::string(line));
  };
  EXPECT_EQ(one("hots = 'a.org'"), "r.toml:3: unknown key 'hots' in a rule: did you mean 'host'?");
  EXPECT_EQ(one("depth = 3"), "r.toml:3: unknown key 'depth' in a rule: write min_depth or max_depth");
  EXPECT_THAT(one("pattern = 'a(b'"), HasSubstr("r.toml:3: pattern: 'a(b' is not a regular expression: missing )"));
  EXPECT_THAT(one("pattern = '(?=a)'"), HasSubstr("r.toml:3: pattern: '(?=a)' is not a regular expression"));
  EXPECT_THAT(one("pattern = ''"), HasSubstr("is empty"));
  EXPECT_THAT(one("pattern = '((a{100}){100}){100}'"), HasSubstr("r.toml:3: pattern:"));
  EXPECT_THAT(one("pattern = 'caf\u00e9'"), HasSubstr("percent encoding"));
  EXPECT_THAT(one("host = 'http://a.org/'"), HasSubstr("r.toml:3: host: 'http://a.org/' is not a host name"));
  EXPECT_THAT(one("host = 'a.org:80'"), HasSubstr("is not a host name"));
  EXPECT_THAT(one("host = []"), HasSubstr("empty list"));
  EXPECT_THAT(one("host = 3"), HasSubstr("must be a string in quotes"));
  EXPECT_THAT(one("host = [\n'a.org',\n3]"), HasSubstr("r.toml:5: host"));
  EXPECT_THAT(one("domain = 'a b'"), HasSubstr("is not a domain"));
  EXPECT_THAT(one("prefix = 'a.org/x'"), HasSubstr("is not the beginning of an http or https URL"));
  EXPECT_THAT(one("type = 'html'"), HasSubstr("is not a type: write it like text/html"));
  EXPECT_THAT(one("kind = 'robots'"), HasSubstr("is not one of page, requisite, sitemap"));
  EXPECT_THAT(one("min_depth = 4\nmax_depth = 3"), HasSubstr("min_depth: 4 is above max_depth = 3"));
  EXPECT_THAT(one("max_size = 'big'"), HasSubstr("r.toml:3: max_size:"));
  EXPECT_THAT(one("delay = '3s'"), HasSubstr("delay: belongs to action = \"rate\", this rule has \"exclude\""));
  EXPECT_EQ(Complaint("[[rule]]\nhost = 'a.org'"),
            "r.toml:1: a rule needs an action: include, exclude, limit, rate or priority");
  EXPECT_THAT(Complaint("[[rule]]\naction = 'exlude'"), HasSubstr("r.toml:2: action: 'exlude' is not one of"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'exlude'"), HasSubstr("did you mean 'exclude'?"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'limit'"), HasSubstr("a limit needs pages_per_host or pages_per_domain"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'rate'"), HasSubstr("a rate needs a delay"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'rate'\ndelay = '0s'"), HasSubstr("r.toml:3: delay: must be a duration"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'priority'\npriority = 8"), HasSubstr("must be a number from 0 (first)"));
  EXPECT_THAT(Complaint("[[rule]]\naction = 'rate'\ndelay = 1\ntype = 'a/b'"), HasSubstr("known only after it"));
  EXPECT_THAT(Complaint("[[rules]]\n"), HasSubstr("r.toml:1: unknown key 'rules': a file of rules has only [[rule]]"));
  EXPECT_THAT(Complaint("rule = 5"), HasSubstr("rules must be a list of tables"));
  EXPECT_THAT(Complaint("[[rule]]\naction = "), HasSubstr("r.toml:2:"));
  EXPECT_THAT(Complaint("rule = [[[[[[[[[[[[[[[[[[[[[["), HasSubstr("nested"));
  EXPECT_EQ(Complaint(""), "");
}

TEST(RuleFileTest, ContradictionsAndRulesThatNeverDecideAreRefused) {
  const auto two = [](std::string_view first, std::string_view second) {
    return Complaint("rule = [\n{ " + std::string(first) + " },\n{ " + std::string(second) + " },\n]");
  };
  EXPECT_EQ(two("action = 'include', host = ['a.org', 'b.org']", "action = 'exclude', host = ['b.org', 'a.org']"),
            "r.toml:3: rule 2 contradicts rule 1 at r.toml:2: the same conditions, once include and once exclude; "
            "remove one of them");
  EXPECT_THAT(
      two("action = 'exclude', domain = 'a.org'", "action = 'include', host = 'x.a.org'"),
      HasSubstr("r.toml:3: rule 2 never decides anything: rule 1 at r.toml:2 (exclude) holds whenever it would"));
  EXPECT_THAT(two("action = 'exclude', prefix = 'http://a.org/x'", "action = 'include', prefix = 'http://a.org/xy'"),
              HasSubstr("never decides"));
  EXPECT_THAT(two("action = 'exclude', domain = 'a.org'", "action = 'include', prefix = 'http://w.a.org:81/xy'"),
              HasSubstr("never decides"));
  EXPECT_THAT(two("action = 'exclude'", "action = 'include', pattern = 'x'"), HasSubstr("never decides"));
  EXPECT_THAT(two("action = 'exclude', min_depth = 2", "action = 'exclude', min_depth = 3"), HasSubstr("never"));
  EXPECT_THAT(two("action = 'exclude', pattern = 'x'", "action = 'exclude', pattern = 'x'"), HasSubstr("repeats"));
  EXPECT_THAT(two("action = 'exclude', type = 'image/*'", "action = 'include', type = 'image/png', max_size = 9"),
              HasSubstr("never decides"));
  EXPECT_THAT(two("action = 'limit', pages_per_host = 9", "action = 'limit', host = 'a.org', pages_per_host = 1"),
              HasSubstr("never decides"));
  // These are fine.
  EXPECT_EQ(two("action = 'include', host = 'x.a.org'", "action = 'exclude', domain = 'a.org'"), "");
  EXPECT_EQ(two("action = 'exclude', domain = 'a.org'", "action = 'include', host = 'xa.org'"), "");
  EXPECT_EQ(two("action = 'exclude', host = 'a.org'", "action = 'include', domain = 'a.org'"), "");
  EXPECT_EQ(two("action = 'exclude', host = 'a.org', max_depth = 3", "action = 'include', host = 'a.org'"), "");
  EXPECT_EQ(two("action = 'exclude', kind = 'page'", "action = 'include', kind = ['page', 'sitemap']"), "");
  EXPECT_EQ(two("action = 'exclude', domain = 'a.org'", "action = 'rate', domain = 'a.org', delay = 1"), "");
  EXPECT_EQ(two("action = 'limit', kind = 'requisite', pages_per_host = 9", "action = 'limit', pages_per_host = 1"),
            "");
}

}  // namespace
}  // namespace portolan
