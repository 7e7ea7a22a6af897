// An engine whose only shard is one of several: what it sends goes into an exchange that it is given, its directory
// stays that shard's, and it ends at once when the shard is taken from it. The web is one port on which nobody listens.

#include <gtest/gtest.h>

#include <atomic>

#include "crawl/engine.h"
#include "crawl/pay_level.h"
#include "crawl/seed_list.h"
#include "crawl/wiring.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr uint32_t kAll = 4;

// Counts what is sent, and brings nothing.
class Counting : public ShardExchange, public ExchangePort {
 public:
  explicit Counting(uint32_t shard) : shard_(shard) {}
  ExchangePort& port(uint32_t from) override {
    EXPECT_EQ(from, shard_);
    return *this;
  }
  void Deliver(uint32_t from) override { EXPECT_EQ(from, shard_); }
  Mail TakeMail(uint32_t to) override {
    EXPECT_EQ(to, shard_);
    return {};
  }
  std::optional<std::string_view> Front(uint32_t /*to*/) override { return std::nullopt; }
  void Pop(uint32_t /*to*/) override {}
  bool Empty() const override { return true; }

  bool HasRoom(uint32_t /*to*/) const override { return true; }
  void Send(uint32_t to, std::string_view /*message*/) override {
    EXPECT_NE(to, shard_);
    ++sent_[to];
  }
  void Raise(uint32_t /*to*/, uint64_t /*pld*/) override {}
  void Tell(uint32_t /*to*/, const AddressNotice& /*notice*/) override {}

  uint64_t sent(uint32_t to) const { return sent_[to]; }

 private:
  const uint32_t shard_;
  std::array<std::atomic<uint64_t>, kAll> sent_{};
};

class EngineAloneTest : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    config.memory.total.bytes = uint64_t{256} << 20;
    config.fetch.allow_private_addresses = true;
    config.fetch.connections = 4;
    config.fetch.outage_hosts = 0;
    config.scope.mode = ScopeMode::kAny;
    config.politeness.give_up_quickly = false;
    options_ = WireCrawl(config, "crawl", {}, "1").value();
    options_.control.clear();
    options_.key = HashKey::Known();
    options_.checkpoint_ns = 30'000'000;
    options_.show_ns = 10'000'000;
    ASSERT_TRUE(env_.CreateDirs("crawl"));
  }
  void SetAlone(uint32_t shard, std::function<bool()> may_act = {}) {
    options_.alone = AloneOptions{
        .place = {.shard = shard, .shards = kAll},
        .make_exchange = [this, shard](const AloneOptions::Parts&) -> Result<std::shared_ptr<ShardExchange>> {
          exchange_ = std::make_shared<Counting>(shard);
          return std::shared_ptr<ShardExchange>(exchange_);
        },
        .may_act = std::move(may_act)};
  }
  Result<CrawlProgress> RunUntil(Engine& engine, const std::function<bool(const CrawlProgress&)>& step) {
    int shown = 0;
    return engine.Run([&](const CrawlProgress& progress) {
      if (!step(progress) && ++shown < 2000) return;
      EXPECT_LT(shown, 2000) << progress.state;
      engine.RequestStop();
    });
  }

  MemEnv env_;
  EngineOptions options_;
  std::shared_ptr<Counting> exchange_;
};

uint32_t OwnerOf(const std::string& url) {
  auto domains = PayLevelDomains::Create(HashKey::Known()).value();
  return ShardOfDomain(domains.Key(url, HostKey(url, HashKey::Known())), kAll);
}

TEST_F(EngineAloneTest, KeepsItsOwnAndSendsTheRestToTheirShards) {
  SetAlone(2);
  auto engine = Engine::Open(env_, options_).value();
  std::vector<std::string> seeds;
  std::array<uint64_t, kAll> owned{};
  for (int i = 0; i < 40; ++i) {
    seeds.push_back("http://127.0.0." + std::to_string(i + 1) + ":1/");
    ++owned[OwnerOf(seeds.back())];
  }
  ASSERT_GT(owned[2], 0U);
  ASSERT_TRUE(engine->AddSeeds(seeds));
  const auto end = RunUntil(
      *engine, [&](const CrawlProgress& progress) { return progress.counts.seeds == 40 && progress.checkpoints > 1; });
  ASSERT_TRUE(end) << end.error().ToString();
  for (uint32_t to = 0; to < kAll; ++to) EXPECT_EQ(exchange_->sent(to), to == 2 ? 0 : owned[to]) << to;
  EXPECT_EQ(end->urls_seen, owned[2]);
  EXPECT_EQ(engine->shard().number(), 2U);
}

TEST_F(EngineAloneTest, ALinkThatWasSentLatelyIsNotSentAgain) {
  SetAlone(2);
  auto engine = Engine::Open(env_, options_).value();
  std::vector<std::string> seeds;
  uint64_t of_others = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string seed = "http://127.0.0." + std::to_string(i + 1) + ":1/";
    of_others += OwnerOf(seed) == 2 ? 0 : 1;
    for (int again = 0; again < 3; ++again) seeds.push_back(seed);
  }
  ASSERT_TRUE(engine->AddSeeds(seeds));
  const auto end = RunUntil(
      *engine, [&](const CrawlProgress& progress) { return progress.counts.seeds == 120 && progress.checkpoints > 1; });
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(exchange_->sent(0) + exchange_->sent(1) + exchange_->sent(3), of_others);
}

TEST_F(EngineAloneTest, ADirectoryStaysThatOfItsShard) {
  SetAlone(2);
  {
    auto engine = Engine::Open(env_, options_).value();
    ASSERT_TRUE(engine->AddSeeds({"http://127.0.0.1:1/"}));
    ASSERT_TRUE(RunUntil(*engine, [](const CrawlProgress& progress) { return progress.checkpoints > 1; }));
  }
  const Manifest manifest = Manifest::Read(env_, options_.state_dir).value();
  EXPECT_EQ(Shard::CountIn(manifest).value(), 1U);
  EXPECT_EQ(Shard::AloneIn(manifest).value(), (Shard::Place{.shard = 2, .shards = kAll}));
  for (const ManifestSection& section : manifest.sections()) {
    EXPECT_FALSE(section.name.starts_with("s2.")) << section.name << ": names are plain";
  }
  SetAlone(1);
  const auto other = Engine::Open(env_, options_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message(), "crawl/state: holds shard 2 of a crawl with 4, not shard 1 of a crawl with 4");
  options_.alone.reset();
  const auto whole = Engine::Open(env_, options_);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message(), "crawl/state: holds shard 2 of a crawl with 4, not a whole crawl");
  SetAlone(2);
  EXPECT_TRUE(Engine::Open(env_, options_));
}

TEST_F(EngineAloneTest, AShardThatIsTakenAwayEndsAtOnceAndWithoutACheckpoint) {
  std::atomic<int> asked{0};
  SetAlone(0, [&] { return ++asked <= 3; });
  options_.checkpoint_ns = 3600'000'000'000;
  auto engine = Engine::Open(env_, options_).value();
  std::vector<std::string> seeds;
  for (int i = 0; i < 60; ++i) seeds.push_back("http://127.0.0." + std::to_string(i + 1) + ":1/");
  ASSERT_TRUE(engine->AddSeeds(seeds));
  int shown = 0;
  const auto end = engine->Run([&](const CrawlProgress&) {
    if (++shown > 1000) engine->RequestStop();
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kClosed) << end.error().ToString();
  EXPECT_EQ(asked, 4);  // not again
  engine.reset();
  // What the last checkpoint knows, which was the first one, is all there is.
  const Manifest manifest = Manifest::Read(env_, options_.state_dir).value();
  EXPECT_FALSE(manifest.Find("shard", "shard").value()->numbers.contains("fetches"));
}

TEST_F(EngineAloneTest, APauseThatIsAskedForHoldsUntilItIsTakenBack) {
  SetAlone(0);
  auto engine = Engine::Open(env_, options_).value();
  std::vector<std::string> seeds;
  for (int i = 0; i < 40; ++i) seeds.push_back("http://127.0.0." + std::to_string(i + 1) + ":1/");
  ASSERT_TRUE(engine->AddSeeds(seeds));
  engine->RequestPause(true);
  int shown = 0;
  uint64_t while_paused = 0;
  const auto end = RunUntil(*engine, [&](const CrawlProgress& progress) {
    if (++shown < 15) {
      EXPECT_EQ(progress.state, "paused: as it was asked to");
      while_paused = progress.counts.fetches + progress.in_flight;
    }
    if (shown == 15) engine->RequestPause(false);
    return shown > 15 && progress.counts.fetches > 0;
  });
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(while_paused, 0U);
}

}  // namespace
}  // namespace portolan
