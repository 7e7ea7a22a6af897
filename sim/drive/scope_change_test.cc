// A crawl is stopped, something is excluded, and it is resumed: excluded URLs are not fetched, even if queued.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;

VirtualCrawl::Options MakeOptions(bool budgets) {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 6;
  options.shard.frontier.memory = uint64_t{2} << 20;
  options.shard.frontier.back_queues = 8;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = uint64_t{2} << 20;
  options.shard.gate.memory = uint64_t{2} << 20;
  options.shard.admission.enabled = budgets;
  options.shard.admission.star.memory = uint64_t{2} << 20;
  options.shard.admission.star.budget_function = "equal budget=4";
  options.shard.admission.beast.max_queues = 8;
  options.log_dir = "log";
  return options;
}

class ScopeChangeTest : public testing::TestWithParam<bool> {};

TEST_P(ScopeChangeTest, WhatIsExcludedIsNotFetchedAnyMore) {
  WorldParams params = LoadProfile("demo").value();
  for (const auto& [key, value] : {std::pair{"domains", "20"}, {"pages", "1500"}, {"robots_rules", "0.5"}}) {
    ASSERT_TRUE(sim::SetParam(params, key, value)) << key;
  }
  const auto world = World::Create(params, 5).value();
  VirtualTime time(kBegin);
  Judge judge(*world, {});
  MemEnv env;
  VirtualCrawl::Options options = MakeOptions(GetParam());
  std::map<std::string, uint64_t> hits;                   // by host
  std::vector<std::string> urls;                          // every URL that was requested
  options.stop_grace_ns = int64_t{3600} * 1'000'000'000;  // so what is in flight can end
  options.on_hit = [&](const Hit& hit) {
    ++hits[std::string(hit.host)];
    urls.push_back(std::string(hit.tls ? "https://" : "http://") + std::string(hit.host) +
                   std::string(hit.path_and_query));
  };
  {
    const auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(900));
    crawl->RequestStop();
    ASSERT_TRUE(crawl->Run());
    ASSERT_TRUE(crawl->Finish());
    EXPECT_EQ(crawl->shard().counts().excluded, 0U);
  }
  // The two hosts with the most pages, one by its name and one by a pattern; and all other URLs that end in 7.
  ASSERT_GT(hits.size(), 4U);
  std::vector<std::pair<uint64_t, std::string>> busiest;
  for (const auto& [host, count] : hits) busiest.emplace_back(count, host);
  std::sort(busiest.rbegin(), busiest.rend());
  const std::string by_name = busiest[0].second;
  const std::string by_pattern = busiest[1].second;
  options.shard.scope.exclude_domains = {by_name};
  options.shard.scope.exclude_urls = {"*://" + by_pattern + "/*", "*7"};
  urls.clear();
  VirtualTime later(kBegin + 3600 * kSecond);  // another process, with its own time
  const auto crawl = VirtualCrawl::Open(env, *world, later, judge, options).value();
  ASSERT_TRUE(crawl->Run(20'000'000));
  ASSERT_TRUE(crawl->Finish());
  EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
  EXPECT_GT(urls.size(), 100U);
  for (const std::string& url : urls) {
    EXPECT_NE(HostOf(url), by_name) << url << ": not even robots.txt";
    EXPECT_NE(HostOf(url), by_pattern) << url;
    EXPECT_FALSE(url.ends_with("7")) << url;
  }
  const CrawlCounts& counts = crawl->shard().counts();
  EXPECT_GT(counts.excluded, 10U);
  EXPECT_EQ(counts.finished(), crawl->shard().seen().counts().unique) << "none is lost";
  // Each of them has its line in the log.
  uint64_t lines = 0;
  const std::vector<std::string> names = env.List("log").value();
  for (const std::string& name : names) {
    const std::string text = ReadWholeFile(env, JoinPath("log", name)).value();
    for (size_t at = 0; (at = text.find("\"outcome\":\"out_of_scope\"", at)) != std::string::npos; ++at) ++lines;
  }
  EXPECT_EQ(lines, counts.excluded);
}

INSTANTIATE_TEST_SUITE_P(Sim, ScopeChangeTest, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "WithBudgets" : "WithoutBudgets"; });

}  // namespace
}  // namespace portolan::sim
