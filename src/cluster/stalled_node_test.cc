// A node that is stopped (SIGSTOP) long enough to lose its shard, and wakes up.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cluster/link_receiver.h"
#include "cluster/link_sender.h"
#include "cluster/nats_transport.h"
#include "cluster/shard_leases.h"
#include "cluster/testing/nats_server.h"
#include "io/child_process.h"
#include "io/child_program.h"

namespace portolan {
namespace {

using namespace std::chrono_literals;

class StalledNodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
    ASSERT_TRUE(server_.Start());
    connection_ = Connect();
    ASSERT_TRUE(ClusterStore::Create(*connection_, "web", "x", 7));
    for (uint32_t shard = 0; shard < 2; ++shard) ASSERT_TRUE(CreateLinkStream(*connection_, "web", shard, {}));
  }
  std::unique_ptr<NatsConnection> Connect() {
    return std::move(*NatsConnection::Connect({.url = server_.url(), .request_ns = 2 * kSecond}, Clock::Real()));
  }
  void StartNode(const std::string& kind) {
    auto started = ChildProcess::Start({.words = {ProgramBeside("cluster_stalled_node"), server_.url(), kind},
                                        .environment = {},
                                        .output = server_.dir() + "/node"});
    ASSERT_TRUE(started) << started.error().ToString();
    node_ = *std::move(started);
  }
  uint64_t Newest() { return ReadLinkStream(*connection_, "web", 0)->last; }
  template <typename F>
  static bool Eventually(F&& condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  // Starts the node, stops it, takes its shard over and sends from there.
  void StopAndTakeOver(const std::string& kind) {
    StartNode(kind);
    ASSERT_TRUE(Eventually([&] { return Newest() >= 5; }));
    node_->Signal(SIGSTOP);
    leases_connection_ = Connect();
    leases_ = std::make_unique<ShardLeases>(LeaseOptions{.shards = 2,
                                                         .capacity = 2,
                                                         .node = "heir",
                                                         .holder = 100,
                                                         .hold_ns = 600 * kMillisecond,
                                                         .renew_ns = 100 * kMillisecond,
                                                         .look_ns = 80 * kMillisecond,
                                                         .unchanged = 12},
                                            std::move(*ClusterStore::Open(*leases_connection_, "web")), Clock::Real());
    ASSERT_TRUE(Eventually([&] { return leases_->Held(1).has_value(); }));
    auto transport = NatsTransport::Open(*connection_, {.cluster = "web", .shards = 2, .shard = 1});
    ASSERT_TRUE(transport);
    auto sender = LinkSender::Create(
        **transport,
        {.cluster = "web", .cluster_id = 7, .shards = 2, .sender = 1, .epoch = *leases_->Held(1), .may_send = {}});
    ASSERT_TRUE(sender);
    ASSERT_TRUE((*sender)->Send(0, "heir"));
    (*sender)->Flush(0);
    ASSERT_TRUE(Eventually([&] { return (*sender)->Pump() && (*sender)->AllStored(); }));
  }

  std::vector<std::string> Received(uint64_t& refused) {
    auto transport = NatsTransport::Open(*connection_, {.cluster = "web", .shards = 2, .shard = 0});
    auto receiver = LinkReceiver::Open(**transport, {.cluster = "web", .cluster_id = 7, .shard = 0}, {});
    std::vector<std::string> got;
    for (int idle = 0; idle < 5;) {
      const auto taken = (*receiver)->Take([&](const LinkBatchReader& batch) {
        for (const std::string_view message : batch.messages()) got.emplace_back(message);
      });
      EXPECT_TRUE(taken) << taken.error().ToString();
      if (!taken) break;
      idle = *taken == 0 ? idle + 1 : 0;
      if (idle > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    refused = (*receiver)->old_epochs();
    return got;
  }

  NatsServer server_;
  std::unique_ptr<NatsConnection> connection_;
  std::unique_ptr<NatsConnection> leases_connection_;
  std::unique_ptr<ShardLeases> leases_;
  std::unique_ptr<ChildProcess> node_;
};

TEST_F(StalledNodeTest, WakesUpAndSendsNothingMore) {
  StopAndTakeOver("heeding");
  const uint64_t newest = Newest();
  node_->Signal(SIGCONT);
  ASSERT_TRUE(node_->Wait(10 * kSecond));
  EXPECT_FALSE(node_->Ended()->signalled);
  EXPECT_EQ(node_->Ended()->code, 7);
  // What it had handed to libnats before it was stopped may still have left it. It is refused.
  EXPECT_LE(Newest(), newest + 3);
  uint64_t refused = 0;
  const std::vector<std::string> got = Received(refused);
  EXPECT_EQ(got.back(), "heir");
  EXPECT_EQ(refused, Newest() - newest);
}

TEST_F(StalledNodeTest, WhatItSendsWithoutLookingIsRefused) {
  StopAndTakeOver("blind");
  const uint64_t newest = Newest();
  node_->Signal(SIGCONT);
  ASSERT_TRUE(Eventually([&] { return Newest() >= newest + 5; }));
  uint64_t refused = 0;
  const std::vector<std::string> got = Received(refused);
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got.back(), "heir") << "the last that is taken";
  EXPECT_EQ(std::ranges::count(got, "heir"), 1);
  EXPECT_GE(refused, 5u);
}

}  // namespace
}  // namespace portolan
