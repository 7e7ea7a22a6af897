// A copy of a shard over a real nats-server.

#include "cluster/shard_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster/copy_server.h"
#include "cluster/testing/nats_server.h"
#include "io/mem_env.h"
#include "standby/copied_crawl.h"

namespace portolan {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kHistory = 77;

class ShardCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
    ASSERT_TRUE(server_.Start());
    crawl_ = CopiedCrawl::Open(held_).value();
    ours_ = Connect();
    theirs_ = Connect();
    Serve();
    copy_ = std::make_unique<ShardCopy>(
        *theirs_, there_,
        ShardCopyOptions{.cluster = "c",
                         .shard = 3,
                         .target = {.dir = "s", .places = TestPlaces(), .replace_own = false},
                         .interval_ns = 20 * kMillisecond});
  }
  std::unique_ptr<NatsConnection> Connect() {
    return NatsConnection::Connect({.url = server_.url(), .retry_ns = 50 * kMillisecond, .request_ns = kSecond}, clock_)
        .value();
  }
  void Serve() {
    copies_ = CopyServer::Start(*ours_, held_, clock_,
                                {.cluster = "c",
                                 .shard = 3,
                                 .source = {.places = TestPlaces(), .history = kHistory},
                                 .held = [this] { return ours_still_.load(); }})
                  .value();
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(crawl_->Step());
  }
  template <typename F>
  bool Eventually(F&& condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }
  bool UpToDate() {
    return Eventually(
        [&] { return copy_->state().sequence == crawl_->sequence() && copies_->have() == crawl_->sequence(); });
  }

  const Clock& clock_ = Clock::Real();
  NatsServer server_;
  MemEnv here_;
  HoldingEnv held_{here_};
  MemEnv there_;
  std::atomic<bool> ours_still_{true};
  std::unique_ptr<CopiedCrawl> crawl_;
  std::unique_ptr<NatsConnection> ours_;
  std::unique_ptr<NatsConnection> theirs_;
  std::unique_ptr<CopyServer> copies_;
  std::unique_ptr<ShardCopy> copy_;
};

TEST_F(ShardCopyTest, TheCopyFollowsAndCanBeTakenOver) {
  for (int i = 0; i < 4; ++i) {
    Steps(5);
    ASSERT_TRUE(UpToDate()) << copy_->state().trouble;
  }
  copy_->Stop();
  Steps(5);  // never given away
  EXPECT_EQ(ReadCopyMark(there_, "s").value(), (CopyMark{.whole = true, .history = kHistory}));
  EXPECT_EQ(JudgeCrawl(there_, "taken over"), 20);
}

TEST_F(ShardCopyTest, AServerThatWasAwayCostsTimeAndNothingElse) {
  Steps(5);
  ASSERT_TRUE(UpToDate());
  server_.Kill();
  Steps(10);
  ASSERT_TRUE(Eventually([&] { return !copy_->state().trouble.empty(); }));
  ASSERT_TRUE(server_.Start());
  EXPECT_TRUE(UpToDate()) << copy_->state().trouble;
  copy_->Stop();
  EXPECT_EQ(JudgeCrawl(there_, "copy"), 15);
}

TEST_F(ShardCopyTest, WhoHasLostTheShardIsNotAsked) {
  Steps(5);
  ASSERT_TRUE(UpToDate());
  ours_still_ = false;
  const uint64_t had = crawl_->sequence();
  Steps(5);
  ASSERT_TRUE(Eventually([&] { return !copy_->state().trouble.empty(); }));
  EXPECT_EQ(copy_->state().sequence, had);
}

TEST_F(ShardCopyTest, AHolderThatBeginsAgainIsFollowedOn) {
  Steps(7);
  ASSERT_TRUE(UpToDate());
  copies_.reset();
  crawl_.reset();
  ASSERT_TRUE(Eventually([&] { return !copy_->state().trouble.empty(); }));
  EXPECT_NE(copy_->state().trouble.find("shard 3"), std::string::npos) << copy_->state().trouble;
  crawl_ = CopiedCrawl::Open(held_).value();
  EXPECT_EQ(crawl_->items(), 5);
  Serve();
  Steps(5);
  EXPECT_TRUE(UpToDate()) << copy_->state().trouble;
}

}  // namespace
}  // namespace portolan
