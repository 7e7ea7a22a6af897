// The forecast for several machines (plan/cluster_plan.h), beside what shards in virtual time really exchange.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "cluster/link_batch.h"
#include "crawl/crossing.h"
#include "io/mem_env.h"
#include "plan/cluster_plan.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

struct Exchanged {
  uint64_t pages = 0;
  uint64_t offered = 0;   // links that were followed
  uint64_t external = 0;  // of them those that lead to another domain
  uint64_t links = 0;     // that were sent to another shard
  uint64_t wire_bytes = 0;
};

// A crawl whose shards pack what they send as those of a cluster do.
Exchanged CrawlWith(uint32_t shards) {
  Setting setting;
  setting.profile = "web2007";
  setting.set = {{"domains", "1000"}, {"pages", "6000"}, {"max_pages_per_host", "400"}};
  setting.host_delay_ns = kSecond / 10;
  setting.ip_delay_ns = kSecond / 100;
  setting.budgets = true;
  setting.memory = uint64_t{256} << 20;
  setting.shards = shards;
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.sent_share = 0;  // the model counts each link
  Exchanged exchanged;
  std::map<std::pair<uint32_t, uint32_t>, LinkBatchWriter> batches;
  const auto pack = [&](uint32_t from, uint32_t to, LinkBatchWriter& batch) {
    exchanged.wire_bytes +=
        batch.Finish({.cluster = 1, .receiver = to, .sender = from, .epoch = 1, .number = 1}).size();
  };
  options.on_message = [&](uint32_t from, uint32_t to, std::string_view message) {
    if (DecodeCrossing(message)->kind != Crossing::Kind::kLink) return;
    ++exchanged.links;
    LinkBatchWriter& batch = batches[{from, to}];
    if (batch.Add(message).value()) return;
    pack(from, to, batch);
    EXPECT_TRUE(batch.Add(message).value());
  };
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  EXPECT_TRUE(crawl->Run(20'000'000));
  EXPECT_EQ(crawl->driver().state(), "done");
  for (auto& [pair, batch] : batches) pack(pair.first, pair.second, batch);
  exchanged.pages = crawl->driver().counts().pages();
  exchanged.offered = crawl->driver().counts().offered;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    exchanged.external += crawl->shard(shard).admission()->star().counts().edges_offered;
  }
  return exchanged;
}

TEST(ClusterPlanCrawlTest, LinksAndBytesAreThoseThatShardsExchange) {
  for (const uint32_t shards : {2U, 5U, 16U}) {
    SCOPED_TRACE(shards);
    const Exchanged measured = CrawlWith(shards);
    ClusterInput input;
    input.nodes = shards;
    input.crawl.pages = static_cast<double>(measured.pages);
    input.crawl.links_per_page = static_cast<double>(measured.offered) / static_cast<double>(measured.pages);
    input.external = static_cast<double>(measured.external) / static_cast<double>(measured.offered);
    const auto plan = MakeClusterPlan(input);
    ASSERT_TRUE(plan) << plan.error().message();
    EXPECT_NEAR(static_cast<double>(measured.links) / plan->exchanged_links, 1, 0.05);
    // The world's URLs are shorter than those of `bench cluster`, and compress better.
    const double link_bytes = static_cast<double>(measured.wire_bytes) / static_cast<double>(measured.links);
    EXPECT_LE(link_bytes, input.link_bytes);
    EXPECT_GE(link_bytes, input.link_bytes / 2);
  }
}

}  // namespace
}  // namespace portolan::sim
