// Crawls with rules: what they exclude is not fetched, limits hold to the page and over a restart, delays are kept,
// block lists change while the crawl runs. Every URL has its line, and none is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "io/mem_env.h"
#include "rules/rule_file.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;

std::shared_ptr<const RuleSet> RulesFrom(const std::string& text) {
  return RuleSet::Create(ParseRuleFile(text, "r.toml").value()).value();
}

std::shared_ptr<const BlockList> BlockedNames(const std::string& text) {
  BlockList::Builder builder(1000);
  EXPECT_TRUE(builder.Add(text, "b.txt"));
  return builder.Finish();
}

class RulesCrawlTest : public testing::TestWithParam<bool> {
 protected:
  RulesCrawlTest() {
    WorldParams params = LoadProfile("demo").value();
    for (const auto& [key, value] : {std::pair{"domains", "20"}, {"pages", "1500"}, {"robots_rules", "0.5"}}) {
      EXPECT_TRUE(sim::SetParam(params, key, value)) << key;
    }
    world_ = World::Create(params, 5).value();
    judge_.emplace(*world_, Judge::Options{});
    ShardOptions& shard = options_.shard;
    shard.scope.mode = ScopeMode::kAny;
    shard.connections = 6;
    shard.frontier.memory = uint64_t{2} << 20;
    shard.frontier.back_queues = 8;
    shard.frontier.politeness.host_delay_ns = kSecond;
    shard.frontier.politeness.ip_delay_ns = kSecond / 10;
    shard.seen.memory = uint64_t{2} << 20;
    shard.gate.memory = uint64_t{2} << 20;
    shard.limits_memory = uint64_t{1} << 20;
    shard.admission.enabled = GetParam();
    shard.admission.star.memory = uint64_t{2} << 20;
    shard.admission.star.budget_function = "equal budget=4";
    shard.admission.beast.max_queues = 8;
    options_.shards = GetParam() ? 2 : 1;
    options_.log_dir = "log";
    options_.stop_grace_ns = int64_t{3600} * kSecond;  // so what is in flight can end
    options_.on_hit = [this](const Hit& hit) {
      const std::string host(hit.host);
      times_[host].push_back(hit.unix_ns);
      if (hit.path_and_query != "/robots.txt") urls_.push_back(host + std::string(hit.path_and_query));
    };
  }

  std::unique_ptr<VirtualCrawl> Open(VirtualTime& time) {
    return VirtualCrawl::Open(env_, *world_, time, *judge_, options_).value();
  }
  CrawlCounts CountsOf(VirtualCrawl& crawl) const { return crawl.driver().counts(); }
  uint64_t UniqueOf(VirtualCrawl& crawl) const {
    uint64_t unique = 0;
    for (uint32_t i = 0; i < options_.shards; ++i) unique += crawl.shard(i).seen().counts().unique;
    return unique;
  }
  CrawlCounts RunToEnd(VirtualTime& time, bool seed) {
    const auto crawl = Open(time);
    if (seed) {
      EXPECT_TRUE(crawl->Seed());
    }
    EXPECT_TRUE(crawl->Run(20'000'000));
    EXPECT_TRUE(crawl->Finish());
    EXPECT_EQ(CountsOf(*crawl).finished(), UniqueOf(*crawl)) << "none is lost";
    return CountsOf(*crawl);
  }
  // The two hosts from which most was fetched.
  std::vector<std::string> Busiest() const {
    std::vector<std::pair<size_t, std::string>> all;
    for (const auto& [host, times] : times_) all.emplace_back(times.size(), host);
    std::sort(all.rbegin(), all.rend());
    return {all.at(0).second, all.at(1).second};
  }
  // Lines of the log that have the text.
  uint64_t Lines(std::string_view with) {
    uint64_t count = 0;
    ForEachLine([&](std::string_view line) { count += line.find(with) != std::string_view::npos ? 1 : 0; });
    return count;
  }
  std::map<std::string, uint64_t> PagesByHost() {
    std::map<std::string, uint64_t> pages;
    ForEachLine([&](std::string_view line) {
      if (line.find("\"kind\":\"page\"") == line.npos || line.find("\"status\":2") == line.npos) return;
      const size_t begin = line.find("://", line.find("\"url\":")) + 3;
      ++pages[std::string(line.substr(begin, line.find_first_of("/:", begin) - begin))];
    });
    return pages;
  }
  template <typename Each>
  void ForEachLine(Each each) {
    const std::vector<std::string> names = env_.List(options_.log_dir).value();
    for (const std::string& name : names) {
      const std::string text = ReadWholeFile(env_, JoinPath(options_.log_dir, name)).value();
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        each(std::string_view(text).substr(at, end - at));
        at = end + 1;
      }
    }
  }

  std::unique_ptr<const World> world_;
  std::optional<Judge> judge_;
  MemEnv env_;
  VirtualCrawl::Options options_;
  std::map<std::string, std::vector<int64_t>> times_;  // of requests, by host
  std::vector<std::string> urls_;                      // without scheme
};

TEST_P(RulesCrawlTest, ChangedRulesHoldForWhatWaits) {
  {
    VirtualTime time(kBegin);
    const auto crawl = Open(time);
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(900));
    crawl->RequestStop();
    ASSERT_TRUE(crawl->Run());
    ASSERT_TRUE(crawl->Finish());
  }
  const std::vector<std::string> busiest = Busiest();
  options_.shard.scope.rules =
      RulesFrom("rule = [{action='include', host='" + busiest[0] + "', pattern='[02468]$'}, {action='exclude', host='" +
                busiest[0] + "'}, {action='exclude', pattern='7$'}]");
  options_.shard.scope.blocked = BlockedNames(busiest[1] + "\n");
  urls_.clear();
  times_.clear();
  VirtualTime later(kBegin + 3600 * kSecond);
  const CrawlCounts counts = RunToEnd(later, false);
  EXPECT_GT(urls_.size(), 100U);
  uint64_t of_first = 0;
  for (const std::string& url : urls_) {
    EXPECT_FALSE(url.ends_with("7")) << url;
    if (!url.starts_with(busiest[0] + "/")) continue;
    ++of_first;
    EXPECT_NE(std::string("02468").find(url.back()), std::string::npos) << url;
  }
  EXPECT_GT(of_first, 0U);
  EXPECT_FALSE(times_.contains(busiest[1])) << "not even robots.txt";
  EXPECT_GT(counts.excluded, 10U);
  const uint64_t by_rule = Lines("\"outcome\":\"excluded_by_rule\"");
  EXPECT_GT(by_rule, 0U);
  EXPECT_EQ(Lines("\"rule\":\"rule 2 at r.toml:1\"") + Lines("\"rule\":\"rule 3 at r.toml:1\""), by_rule);
  EXPECT_EQ(by_rule + Lines("\"outcome\":\"blocked\""), counts.excluded);
  EXPECT_GE(counts.by_rule, by_rule);
}

TEST_P(RulesCrawlTest, LimitsHoldToThePageAndOverARestart) {
  options_.shard.scope.rules = RulesFrom("[[rule]]\naction='limit'\npages_per_host=9\npages_per_domain=14\n");
  options_.checkpoint_ns = 20 * kSecond;
  {
    VirtualTime time(kBegin);
    const auto crawl = Open(time);
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(700));
    crawl->RequestStop();
    ASSERT_TRUE(crawl->Run());
    ASSERT_TRUE(crawl->Finish());
    EXPECT_GT(CountsOf(*crawl).pages(), 20U);
  }
  VirtualTime later(kBegin + 3600 * kSecond);
  const CrawlCounts counts = RunToEnd(later, false);
  uint64_t full = 0;
  for (const auto& [host, pages] : PagesByHost()) {
    EXPECT_LE(pages, 9U) << host;
    full += pages == 9 ? 1 : 0;
  }
  EXPECT_GT(full, 5U) << "limits are used up, also beside fetches that fail";
  const uint64_t ended = Lines("\"outcome\":\"over_limit\"");
  EXPECT_GT(ended, 0U);
  EXPECT_EQ(ended, counts.excluded);
  EXPECT_GT(counts.over_limit, ended) << "links are not even followed";
}

TEST_P(RulesCrawlTest, RatesSlowDownOneHostAndPrioritiesChangeTheOrder) {
  VirtualTime time(kBegin);
  RunToEnd(time, true);
  const std::string slow = Busiest()[0];
  const auto gaps = [&] {
    int64_t least = INT64_MAX;
    const std::vector<int64_t>& times = times_[slow];
    for (size_t i = 2; i < times.size(); ++i) least = std::min(least, times[i] - times[i - 1]);
    return least;
  };
  EXPECT_LT(gaps(), 20 * kSecond);
  const std::vector<std::string> before = std::exchange(urls_, {});
  times_.clear();
  options_.state_dir = "state2";
  options_.log_dir = "log2";
  options_.shard.scope.rules = RulesFrom("rule = [{action='rate', host='" + slow +
                                         "', delay='20s'}, {action='priority', pattern='[13579]$', priority=7},"
                                         "{action='priority', priority=0}]");
  judge_.emplace(*world_, Judge::Options{});
  VirtualTime second(kBegin);
  RunToEnd(second, true);
  EXPECT_GE(gaps(), 20 * kSecond);
  EXPECT_GT(times_[slow].size(), 5U);
  // How early a URL is asked for, on average, by its last digit.
  const auto place_of = [](const std::vector<std::string>& urls, std::string_view ends) {
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < urls.size(); ++i) {
      if (ends.find(urls[i].back()) == std::string_view::npos) continue;
      sum += static_cast<double>(i);
      ++count;
    }
    return sum / count;
  };
  const double odd_before = place_of(before, "13579") / place_of(before, "02468");
  EXPECT_GT(place_of(urls_, "13579") / place_of(urls_, "02468"), odd_before) << "the odd ones come later";
}

TEST_P(RulesCrawlTest, AnswersAreDroppedByTheirType) {
  options_.shard.scope.rules =
      RulesFrom("rule = [{action='include', max_size='4K'}, {action='exclude', type='text/*'}]");
  VirtualTime time(kBegin);
  const CrawlCounts counts = RunToEnd(time, true);
  EXPECT_EQ(Lines("\"dropped\":true"), counts.dropped);
  EXPECT_EQ(Lines("\"rule\":\"rule 2 at r.toml:1\""), counts.dropped);
  EXPECT_GT(counts.dropped, 0U);
}

TEST_P(RulesCrawlTest, ABlockListThatChangesHoldsFromThenOn) {
  VirtualTime time(kBegin);
  const auto crawl = Open(time);
  ASSERT_TRUE(crawl->Seed());
  ASSERT_TRUE(crawl->Run(900));
  const std::vector<std::string> busiest = Busiest();
  crawl->driver().SetBlockList(BlockedNames(busiest[0] + "\n" + busiest[1] + "\n"));
  uint64_t in_flight = 0;
  for (uint32_t i = 0; i < options_.shards; ++i) in_flight += crawl->shard(i).in_flight();
  const size_t before = times_[busiest[0]].size() + times_[busiest[1]].size();
  ASSERT_TRUE(crawl->Run(20'000'000));
  ASSERT_TRUE(crawl->Finish());
  EXPECT_LE(times_[busiest[0]].size() + times_[busiest[1]].size(), before + in_flight);
  EXPECT_GT(CountsOf(*crawl).blocked, 0U);
  EXPECT_EQ(Lines("\"outcome\":\"blocked\""), CountsOf(*crawl).excluded);
  EXPECT_EQ(CountsOf(*crawl).finished(), UniqueOf(*crawl)) << "none is lost";
}

INSTANTIATE_TEST_SUITE_P(Sim, RulesCrawlTest, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "BudgetsAndTwoShards" : "OneShard"; });

}  // namespace
}  // namespace portolan::sim
