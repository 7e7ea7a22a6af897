#include "crawl/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crawl/progress.h"
#include "crawl/shard_share.h"

namespace portolan {
namespace {

using testing::HasSubstr;

TEST(CanonicalSeedTest, TakesWhatPeopleType) {
  const Config config;
  EXPECT_EQ(CanonicalSeed("https://Example.ORG", config).value(), "https://example.org/");
  EXPECT_EQ(CanonicalSeed("example.org/a b", config).has_value(), false);
  EXPECT_EQ(CanonicalSeed("example.org", config).value(), "http://example.org/");
  EXPECT_EQ(CanonicalSeed("example.org:8080/x#y", config).value(), "http://example.org:8080/x");
  EXPECT_EQ(CanonicalSeed("http://me:word@example.org/#y", config).value(), "http://example.org/");
  EXPECT_EQ(CanonicalSeed("http://127.0.0.1:99/", config).value(), "http://127.0.0.1:99/");
}

TEST(CanonicalSeedTest, SaysWhyNot) {
  const Config config;
  for (const char* text : {"", "hello", "mailto:a@b.example", "ftp://a.example/", "http://", "javascript:alert(1)"}) {
    const auto seed = CanonicalSeed(text, config);
    ASSERT_FALSE(seed) << text << " became " << *seed;
    EXPECT_EQ(seed.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(seed.error().message(), HasSubstr("'" + std::string(text) + "'"));
  }
}

TEST(CanonicalSeedTest, PortsThatBrowsersRefuseAreNamed) {
  const auto seed = CanonicalSeed("http://h:25/", Config());
  ASSERT_FALSE(seed);
  EXPECT_EQ(seed.error().message(), "'http://h:25/' is not crawlable (bad port)");
}

TEST(WireCrawlTest, DividesMemoryAndNeverHandsOutMore) {
  for (const uint64_t memory : {uint64_t{256} << 20, uint64_t{1} << 30, uint64_t{8} << 30}) {
    Config config;
    config.memory.total.bytes = memory;
    const EngineOptions options = WireCrawl(config, "d", {"http://a.example/"}, "1").value();
    // The frontier counts twice: it may be copied while a checkpoint is written.
    const uint64_t sum = options.shard.seen.memory + options.shard.gate.memory + 2 * options.shard.frontier.memory +
                         options.answer_bytes + options.fetch.loops * 3 * options.page.decode.max_output +
                         options.outputs.warc.files.index_memory;
    EXPECT_LE(sum, memory);
    EXPECT_GE(sum, memory / 2);
    EXPECT_GE(options.shard.frontier.back_queues, 1U);
  }
}

TEST(WireCrawlTest, RefusesWhatCannotWork) {
  Config config;
  config.memory.total.bytes = 1 << 20;
  EXPECT_THAT(WireCrawl(config, "d", {}, "1").error().message(), HasSubstr("memory.total"));
  const Config web = ForProfile(Profile::kWeb);
  EXPECT_THAT(WireCrawl(web, "d", {}, "1").error().message(), HasSubstr("contact_url"));
}

TEST(WireCrawlTest, TheWebProfileHasIrlbotsFigures) {
  Config config = ForProfile(Profile::kWeb);
  config.politeness.contact_url = "https://a.example/bot";
  const EngineOptions options = WireCrawl(config, "d", {}, "1").value();
  EXPECT_EQ(options.shard.frontier.politeness.host_delay_ns, 40'000'000'000);
  EXPECT_EQ(options.shard.frontier.politeness.ip_delay_ns, 1'000'000'000);
  EXPECT_EQ(options.shard.scope.mode, ScopeMode::kAny);
  EXPECT_THAT(options.fetch.user_agent, HasSubstr("+https://a.example/bot"));
}

TEST(WireCrawlTest, SecretsGoWithTheSeedsTheyAreFor) {
  Config config;
  EXPECT_TRUE(WireCrawl(config, "d", {"http://a.example/"}, "1")->fetch.for_seeds.seeds.empty());
  config.fetch.login = "me:word";
  config.fetch.cookies = {"a=b"};
  config.fetch.headers = {"X-Key: 1"};
  config.fetch.accept_language = "de";
  const FetchOptions fetch = WireCrawl(config, "d", {"http://a.example/"}, "1")->fetch;
  EXPECT_EQ(fetch.for_seeds.seeds, std::vector<std::string>{"http://a.example/"});
  EXPECT_EQ(fetch.for_seeds.headers, config.fetch.headers);
  EXPECT_EQ(fetch.for_seeds.cookies, config.fetch.cookies);
  EXPECT_EQ(fetch.for_seeds.login, "me:word");
  EXPECT_EQ(fetch.accept_language, "de");
}

TEST(WireCrawlTest, DepthHasALimitUnlessItIsNone) {
  Config config;
  config.crawl.max_depth = 0;
  EXPECT_TRUE(WireCrawl(config, "d", {}, "1")->shard.depth_limited);
  EXPECT_EQ(WireCrawl(config, "d", {}, "1")->shard.max_depth, 0);
  config.crawl.max_depth.reset();
  EXPECT_FALSE(WireCrawl(config, "d", {}, "1")->shard.depth_limited);
}

TEST(WireCrawlTest, ManyFetchThreadsGetMoreShards) {
  Config config;
  config.memory.total = Gibi(16);
  for (const auto& [loops, shards] : {std::pair{1, 1U}, {6, 1U}, {7, 2U}, {12, 2U}, {13, 3U}}) {
    config.fetch.loops = static_cast<uint64_t>(loops);
    EXPECT_EQ(WireCrawl(config, "d", {}, "1")->shards, shards) << loops;
  }
  config.memory.total = Gibi(1);  // for four threads
  EXPECT_EQ(WireCrawl(config, "d", {}, "1")->shards, 1U);
  config.crawl.shards = 5;
  EXPECT_EQ(WireCrawl(config, "d", {}, "1")->shards, 5U);
  config.crawl.shards = 9;
  EXPECT_THAT(WireCrawl(config, "d", {}, "1").error().message(), HasSubstr("crawl.shards: 9 shards need 1152M"));
}

TEST(WireCrawlTest, SharesOfAllShardsAreTheWhole) {
  Config config;
  config.budget.enabled = true;
  config.fetch.connections = 1000;
  config.crawl.shards = 3;
  const EngineOptions options = WireCrawl(config, "d", {}, "1").value();
  EXPECT_LE(options.answer_bytes + 3 * options.exchange_bytes, WireCrawl(Config(), "d", {}, "1")->answer_bytes);
  uint32_t connections = 0;
  uint64_t seen = 0;
  uint64_t frontier = 0;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    const ShardOptions share = ShareOf(options.shard, shard, 3);
    EXPECT_EQ(share.shard, shard);
    EXPECT_EQ(share.shards, 3U);
    connections += share.connections;
    seen += share.seen.memory;
    frontier += share.frontier.memory;
    EXPECT_LE(share.frontier.back_queues, share.frontier.max_hosts);
  }
  EXPECT_EQ(connections, 1000U);
  EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(options.shard.seen.memory), 3);
  EXPECT_NEAR(static_cast<double>(frontier), static_cast<double>(options.shard.frontier.memory), 3);
}

TEST(SetConfigTest, OneSettingByItsName) {
  Config config;
  ASSERT_TRUE(SetConfig(config, "fetch.http2", "false"));
  EXPECT_FALSE(config.fetch.http2);
  ASSERT_TRUE(SetConfig(config, "politeness.host_delay", "2s"));
  EXPECT_EQ(config.politeness.host_delay, std::chrono::seconds(2));
  ASSERT_TRUE(SetConfig(config, "fetch.dns_servers", "[\"127.0.0.1:53\"]"));
  EXPECT_EQ(config.fetch.dns_servers.size(), 1U);
  EXPECT_THAT(SetConfig(config, "fetch.htp2", "false").error().message(), HasSubstr("did you mean 'fetch.http2'?"));
  EXPECT_THAT(SetConfig(config, "fetch.http2", "maybe").error().message(), HasSubstr("fetch.http2"));
}

TEST(ProgressTest, RatesAndTheTimeLeft) {
  CrawlProgress before;
  CrawlProgress after;
  after.session_seconds = 10;
  after.counts.done[0] = 500;
  after.counts.wire_bytes = 1000;
  after.goal_pages = 1500;
  const CrawlRates rates = RatesBetween(before, after);
  EXPECT_DOUBLE_EQ(rates.pages_per_s, 50);
  EXPECT_DOUBLE_EQ(rates.eta_s, 20);
  EXPECT_DOUBLE_EQ(RatesBetween(after, after).eta_s, -1);
  after.max_bytes = 1100;
  EXPECT_DOUBLE_EQ(RatesBetween(before, after).eta_s, 1);
}

}  // namespace
}  // namespace portolan
