// The time of a real nats-server, and the phases' clock that an exchange makes of it while the server is killed.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cluster/cluster_exchange.h"
#include "cluster/cluster_store.h"
#include "cluster/exchange_thread.h"
#include "cluster/nats_transport.h"
#include "cluster/testing/nats_server.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

class ServerTimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
    ASSERT_TRUE(server_.Start());
    connection_ = Connect();
    ASSERT_TRUE(ClusterStore::Create(*connection_, "web", "", 77));
    for (uint32_t shard = 0; shard < 2; ++shard) ASSERT_TRUE(CreateLinkStream(*connection_, "web", shard, {}));
    transport_ = NatsTransport::Open(*connection_, {.cluster = "web", .shards = 2, .shard = 1}).value();
  }
  std::unique_ptr<NatsConnection> Connect() const {
    return NatsConnection::Connect({.url = server_.url(), .retry_ns = 50 * kMillisecond, .request_ns = kSecond},
                                   Clock::Real())
        .value();
  }
  template <typename Condition>
  static bool Within(int64_t ns, Condition&& condition) {
    for (const int64_t end_ns = Clock::Real().NowNs() + ns; Clock::Real().NowNs() < end_ns;) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  NatsServer server_;
  std::unique_ptr<NatsConnection> connection_;
  std::unique_ptr<NatsTransport> transport_;
};

// The server runs on this machine, so its calendar is ours.
TEST_F(ServerTimeTest, IsBetweenTheQuestionAndTheAnswer) {
  const int64_t calendar_ns = Clock::Real().UnixNs() - Clock::Real().NowNs();
  for (int i = 0; i < 20; ++i) {
    const auto time = transport_->AskTime();
    ASSERT_TRUE(time) << time.error().ToString();
    EXPECT_LE(time->asked_ns, time->answered_ns);
    EXPECT_GE(time->server_ns - calendar_ns, time->asked_ns - kMillisecond);
    EXPECT_LE(time->server_ns - calendar_ns, time->answered_ns + kMillisecond);
  }
}

TEST_F(ServerTimeTest, ThePhasesClockIsLostWithTheServerAndFoundAgain) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "state").value();
  ExchangeThread thread;
  const auto nothing = [] {};
  const auto exchange =
      ClusterExchange::Open(
          env, manifest, *transport_,
          {.cluster = "web",
           .cluster_id = 77,
           .shards = 2,
           .shard = 1,
           .epoch = 1,
           .phase_clock = PhaseClockOptions{.allowed_ns = kSecond, .trust_ns = kSecond, .settle_ns = 0},
           .wake_shard = nothing,
           .wake_driver = nothing,
           .wake_worker = [&thread] { thread.Wake(); }})
          .value();
  struct Stop {
    ExchangeThread& thread;
    ~Stop() { thread.Stop(); }
  } const stop{thread};
  const auto good = [&] { return exchange->phase_time()->IsGood(Clock::Real().NowNs()); };
  EXPECT_FALSE(good());
  thread.Start(*exchange);
  ASSERT_TRUE(Within(20 * kSecond, good));
  const int64_t offset_ns = exchange->phase_time()->offset_ns;
  EXPECT_LE(std::abs(offset_ns - (Clock::Real().UnixNs() - Clock::Real().NowNs())), exchange->phase_time()->error_ns);
  server_.Kill();
  EXPECT_TRUE(Within(20 * kSecond, [&] { return !good(); }));
  ASSERT_TRUE(server_.Start());
  EXPECT_TRUE(Within(30 * kSecond, good));
  EXPECT_EQ(exchange->counters().clock_jumps, 0U);
}

}  // namespace
}  // namespace portolan
