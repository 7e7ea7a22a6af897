#include "crawl/page_limits.h"

#include <gtest/gtest.h>

#include "disk/manifest.h"
#include "flow/url_record.h"
#include "io/mem_env.h"
#include "rules/rule_file.h"

namespace portolan {
namespace {

std::shared_ptr<const RuleSet> LimitRules(const std::string& text) {
  return RuleSet::Create(ParseRuleFile(text, "r.toml").value()).value();
}

class PageLimitsTest : public testing::Test {
 protected:
  void Open(const std::string& text, uint64_t memory = uint64_t{1} << 20) {
    rules_ = LimitRules(text);
    manifest_.emplace(Manifest::Open(env_, "state").value());
    limits_ = PageLimits::Open(env_, *manifest_, *rules_, {.memory = memory}).value();
  }
  void Commit() { ASSERT_TRUE(manifest_->Commit(limits_->Checkpointables())); }
  const Rule& rule(size_t i = 0) const { return rules_->rules()[i]; }
  PageLimits::Claim Of(std::string_view url, size_t i = 0) {
    return limits_->ClaimOf(rule(i), url, HostKey(url, HashKey::Known()));
  }
  bool Reached(std::string_view url, bool or_began = false) { return limits_->Reached(rule(), Of(url), or_began); }
  void Fetch(std::string_view url, bool page = true) {
    const PageLimits::Claim claim = Of(url);
    limits_->Begin(claim);
    limits_->End(claim, page);
  }

  MemEnv env_;
  std::shared_ptr<const RuleSet> rules_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<PageLimits> limits_;
};

TEST_F(PageLimitsTest, HostsAndDomainsCountForThemselves) {
  Open("[[rule]]\naction='limit'\npages_per_host=2\npages_per_domain=3\n");
  Fetch("http://a.x.example/1");
  Fetch("http://a.x.example/2", /*page=*/false);
  EXPECT_FALSE(Reached("http://a.x.example/3"));
  Fetch("http://a.x.example/3");
  EXPECT_TRUE(Reached("http://a.x.example/4"));
  EXPECT_FALSE(Reached("http://b.x.example/"));
  Fetch("http://b.x.example/");
  EXPECT_TRUE(Reached("http://c.x.example/")) << "three pages of the domain";
  EXPECT_FALSE(Reached("http://x.test/"));
}

TEST_F(PageLimitsTest, WhatIsInFlightTakesAPageUntilItFails) {
  Open("[[rule]]\naction='limit'\npages_per_host=2\n");
  Fetch("http://a.example/1");
  const PageLimits::Claim claim = Of("http://a.example/2");
  limits_->Begin(claim);
  EXPECT_FALSE(Reached("http://a.example/3"));
  EXPECT_TRUE(Reached("http://a.example/3", /*or_began=*/true));
  limits_->End(claim, /*page=*/false);
  EXPECT_FALSE(Reached("http://a.example/3", /*or_began=*/true));
}

TEST_F(PageLimitsTest, CountsSurviveARestartWithOtherNumbersAndOtherRulesBeforeIt) {
  Open("[[rule]]\naction='limit'\nextension='pdf'\npages_per_host=2\n");
  Fetch("http://a.example/1.pdf");
  Fetch("http://a.example/2.pdf");
  const PageLimits::Claim open = Of("http://a.example/3.pdf");
  limits_->Begin(open);
  Commit();
  Open(
      "rule = [{action='limit', extension='zip', pages_per_host=2},"
      "{action='limit', extension='pdf', pages_per_host=3}]");
  const std::string url = "http://a.example/3.pdf";
  EXPECT_FALSE(limits_->Reached(rule(1), Of(url, 1), /*or_began=*/true)) << "what was in flight is fetched again";
  limits_->Begin(Of(url, 1));
  limits_->End(Of(url, 1), /*page=*/true);
  EXPECT_TRUE(limits_->Reached(rule(1), Of(url, 1), /*or_began=*/false));
  EXPECT_FALSE(limits_->Reached(rule(0), Of(url, 0), /*or_began=*/false)) << "each rule counts its own";
}

TEST_F(PageLimitsTest, AFullTableForgetsAndSaysSo) {
  Open("[[rule]]\naction='limit'\npages_per_host=1\n", /*memory=*/64 * 8);
  for (int i = 0; i < 1000; ++i) Fetch("http://h" + std::to_string(i) + ".example/");
  EXPECT_GT(limits_->forgotten(), 900U);
  EXPECT_TRUE(Reached("http://h999.example/"));
}

}  // namespace
}  // namespace portolan
