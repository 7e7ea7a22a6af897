// Exchanges of shards with their threads, on a real nats-server that is killed.

#include "cluster/cluster_exchange.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster/cluster_store.h"
#include "cluster/exchange_thread.h"
#include "cluster/nats_transport.h"
#include "cluster/node_exchange.h"
#include "cluster/testing/nats_server.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kShards = 3;
constexpr uint64_t kCluster = 77;

// One process with one shard: what it was given is in `taken`.
struct Node {
  MemEnv env;
  std::unique_ptr<Manifest> manifest;
  std::unique_ptr<NatsConnection> connection;
  std::unique_ptr<NatsTransport> transport;
  std::unique_ptr<ClusterExchange> exchange;
  std::unique_ptr<ExchangeThread> thread;
  uint64_t epoch = 0;
  std::multiset<std::string> taken;      // since the last commit
  std::multiset<std::string> committed;  // of all messages
  std::vector<AddressMail> notices;

  ~Node() { Kill(); }
  void Kill() {
    if (thread) thread->Stop();
    exchange.reset();
    thread.reset();
    transport.reset();
    connection.reset();
    taken.clear();
  }
};

class ClusterExchangeNatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
    ASSERT_TRUE(server_.Start());
    const auto connection = Connect();
    ASSERT_TRUE(ClusterStore::Create(*connection, "web", "", kCluster));
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      ASSERT_TRUE(CreateLinkStream(*connection, "web", shard, {}));
      nodes_.push_back(std::make_unique<Node>());
    }
    for (uint32_t shard = 0; shard < kShards; ++shard) Open(shard);
  }

  std::unique_ptr<NatsConnection> Connect() {
    auto connection = NatsConnection::Connect(
        {.url = server_.url(), .retry_ns = 50 * kMillisecond, .request_ns = 2 * kSecond}, Clock::Real());
    EXPECT_TRUE(connection) << connection.error().ToString();
    return std::move(*connection);
  }

  void Open(uint32_t shard) {
    Node& node = *nodes_[shard];
    node.Kill();
    node.connection = Connect();
    node.transport =
        std::move(*NatsTransport::Open(*node.connection, {.cluster = "web", .shards = kShards, .shard = shard}));
    node.manifest = std::make_unique<Manifest>(*Manifest::Open(node.env, "state"));
    node.thread = std::make_unique<ExchangeThread>();
    ClusterExchangeOptions options{.cluster = "web",
                                   .cluster_id = kCluster,
                                   .shards = kShards,
                                   .shard = shard,
                                   .epoch = ++node.epoch,
                                   .ack_wait_ns = 300 * kMillisecond,
                                   .full_wait_ns = 20 * kMillisecond,
                                   .report_ns = 100 * kMillisecond};
    options.wake_shard = options.wake_driver = [] {};
    options.wake_worker = [thread = node.thread.get()] { thread->Wake(); };
    auto opened = ClusterExchange::Open(node.env, *node.manifest, *node.transport, options);
    ASSERT_TRUE(opened) << opened.error().ToString();
    node.exchange = std::move(*opened);
    node.thread->Start(*node.exchange);
  }

  void Send(uint32_t from, uint32_t to, const std::string& message) {
    nodes_[from]->exchange->port(from).Send(to, message);
  }

  // A turn of that shard.
  void Turn(uint32_t shard) {
    Node& node = *nodes_[shard];
    const auto mail = node.exchange->TakeMail(shard);
    node.notices.insert(node.notices.end(), mail.notices.begin(), mail.notices.end());
    for (const uint64_t pld : mail.raises) node.taken.insert(fmt::format("raise {}", pld));
    while (const auto message = node.exchange->Front(shard)) {
      node.taken.emplace(*message);
      node.exchange->Pop(shard);
    }
    node.exchange->Deliver(shard);
  }
  void Commit(uint32_t shard) {
    Node& node = *nodes_[shard];
    Turn(shard);
    node.exchange->BeginCheckpoint(true);
    const Status committed = node.manifest->Commit(node.exchange->Checkpointables());
    ASSERT_TRUE(committed) << committed.error().ToString();
    node.committed.merge(node.taken);
  }

  template <typename Condition>
  bool Eventually(Condition condition, std::chrono::milliseconds limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      for (uint32_t shard = 0; shard < kShards; ++shard) Turn(shard);
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

  NatsServer server_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_F(ClusterExchangeNatsTest, MessagesRaisesAndNoticesArriveAndTheEndIsFound) {
  for (int i = 0; i < 5000; ++i) Send(0, static_cast<uint32_t>(1 + i % 2), fmt::format("https://example.org/{}", i));
  nodes_[1]->exchange->port(1).Raise(2, 42);
  nodes_[2]->exchange->port(2).Tell(0, {AddressNotice::Kind::kWanted, Address::V4(0x7f000001), 5, 6, 7});
  ASSERT_TRUE(Eventually([&] {
    return nodes_[1]->taken.size() == 2500 && nodes_[2]->taken.size() == 2501 && nodes_[0]->notices.size() == 1;
  }));
  EXPECT_EQ(nodes_[0]->notices[0].shard, 2U);
  EXPECT_TRUE(nodes_[2]->taken.contains("raise 42"));
  EXPECT_FALSE(nodes_[0]->exchange->elsewhere().done);
  ASSERT_TRUE(Eventually([&] {
    bool all = true;
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      if (nodes_[shard]->exchange->WantsCheckpoint(true)) Commit(shard);
      all = all && nodes_[shard]->exchange->elsewhere().done;
    }
    return all;
  }));
}

// Every message is in a committed state of its receiver in the end, whoever was killed in between: what a sender had
// not committed is sent again by whoever sent it.
TEST_F(ClusterExchangeNatsTest, NothingIsLostWhenProcessesAndTheServerAreKilled) {
  std::set<std::string> all;
  std::vector<std::pair<uint32_t, std::string>> since_commit;  // of shard 0
  int number = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 300; ++i) {
      const auto to = static_cast<uint32_t>(1 + i % 2);
      const std::string message = fmt::format("{}-{}", number++, std::string(200, 'x'));
      all.insert(message);
      since_commit.emplace_back(to, message);
      Send(0, to, message);
    }
    Turn(0);
    if (round % 4 == 1) server_.Kill();
    if (round % 2 == 0) {
      Commit(0);
      since_commit.clear();
    }
    Turn(1);
    Turn(2);
    const bool started = round % 4 != 1 || server_.Start();
    ASSERT_TRUE(started);
    if (round % 3 == 0) Commit(1);
    if (round % 3 == 2) {
      Open(0);
      for (const auto& [to, message] : since_commit) Send(0, to, message);
    }
    if (round % 5 == 4) Open(1);
  }
  ASSERT_TRUE(Eventually([&] {
    std::set<std::string> got;
    for (const uint32_t shard : {1U, 2U}) {
      Commit(shard);
      got.insert(nodes_[shard]->committed.begin(), nodes_[shard]->committed.end());
    }
    return got == all;
  }));
  for (const auto& node : nodes_) EXPECT_TRUE(node->exchange->status()) << node->exchange->status().error().ToString();
  EXPECT_GT(nodes_[0]->epoch, 3U);
}

// Who looks at an exchange may hold it a moment longer than its engine: nothing calls the engine then.
TEST_F(ClusterExchangeNatsTest, NothingWakesAnEngineThatIsGone) {
  Node& node = *nodes_[0];
  node.Kill();
  std::atomic<uint64_t> wakes = 0;
  NodeExchangeOptions options{.nats = {.url = server_.url()},
                              .exchange = {.cluster = "web",
                                           .cluster_id = kCluster,
                                           .shards = kShards,
                                           .shard = 0,
                                           .epoch = 2,
                                           .report_ns = kMillisecond}};
  auto opened = OpenNodeExchange(node.env, *node.manifest, options, {[&] { ++wakes; }, [&] { ++wakes; }});
  ASSERT_TRUE(opened) << opened.error().ToString();
  const std::shared_ptr<ClusterExchange> looking = opened->view.lock();
  ASSERT_TRUE(looking);
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (wakes == 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_GT(wakes, 0U);
  opened->engine.reset();
  const uint64_t before = wakes;
  Send(1, 0, "late");
  nodes_[1]->exchange->Deliver(1);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(wakes, before);
  EXPECT_EQ(looking->counters().messages_taken, 0U);
}

}  // namespace
}  // namespace portolan
