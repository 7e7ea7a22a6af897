// Many hosts of which no two have the same robots.txt, and a gate that can keep the rules of a few in RAM: when a URL's
// turn has come, the shard does not wait for a disk to find out whether the URL may be fetched.

#include <gtest/gtest.h>

#include "io/mem_env.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

struct Reads {
  uint64_t dispatched = 0;
  uint64_t all = 0;
  uint64_t at_fetch = 0;
};

Reads CrawlManyHosts(uint64_t gate_memory, bool budgets) {
  Setting setting;
  setting.profile = "demo";
  setting.set = {{"domains", "3000"},    {"pages", "24000"},    {"robots_rules", "1"},   {"robots_own", "30"},
                 {"crawl_delay", "0.3"}, {"addresses", "3000"}, {"shared_address", "0"}, {"sitemaps", "0"}};
  setting.budgets = budgets;
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, true));
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.gate.memory = gate_memory;
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  const Status status = crawl->Run();
  EXPECT_TRUE(status) << status.error().ToString();
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  const Gate& gate = crawl->shard().gate();
  EXPECT_GT(gate.rules().bytes(), 5 * gate_memory / 4) << "a quarter of it is for rules, and they must not all fit";
  const Reads reads{crawl->shard().counts().fetches - crawl->shard().counts().robots, gate.rules_reads(),
                    gate.rules_reads_at_fetch()};
  std::printf("rules: %llu pages dispatched, %llu reads of rules, %llu of them at dispatch; %llu bytes of rules\n",
              static_cast<unsigned long long>(reads.dispatched), static_cast<unsigned long long>(reads.all),
              static_cast<unsigned long long>(reads.at_fetch), static_cast<unsigned long long>(gate.rules().bytes()));
  return reads;
}

TEST(RulesInRamTest, AtDispatchFewerThanOneUrlInAThousandReadsItsRules) {
  for (const bool budgets : {false, true}) {
    const Reads reads = CrawlManyHosts(uint64_t{4} << 20, budgets);
    EXPECT_GT(reads.dispatched, 15'000U);
    EXPECT_LT(reads.at_fetch * 1000, reads.dispatched);
  }
}

}  // namespace
}  // namespace portolan::sim
