// Exchanges of shards that reach each other through a VirtualNats, driven by hand: what arrives, in which order, what a
// checkpoint holds, and how it ends when something is wrong.

#include "cluster/cluster_exchange.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/mem_env.h"
#include "sim/cluster/virtual_nats.h"

namespace portolan::sim {
namespace {

constexpr uint32_t kShards = 3;

class ClusterExchangeTest : public testing::Test {
 protected:
  explicit ClusterExchangeTest(uint64_t stream_bytes = uint64_t{64} << 20)
      : nats_(time_, {.shards = kShards, .stream_bytes = stream_bytes, .faulty = false}) {}

  struct Node {
    MemEnv env;
    std::unique_ptr<Manifest> manifest;
    std::unique_ptr<LinkTransport> transport;
    std::unique_ptr<ClusterExchange> exchange;
    uint64_t epoch = 0;
    bool held = true;
    int shard_wakes = 0;
  };

  void SetUp() override {
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      nodes_.push_back(std::make_unique<Node>());
      ASSERT_TRUE(Open(shard));
    }
  }

  Status Open(uint32_t shard) {
    Node& node = *nodes_[shard];
    node.exchange.reset();
    node.transport = nats_.Connect(shard, time_);
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(node.env, "state"));
    node.manifest = std::make_unique<Manifest>(std::move(manifest));
    ClusterExchangeOptions options = options_;
    options.cluster = "web";
    options.cluster_id = 7;
    options.shards = kShards;
    options.shard = shard;
    options.epoch = ++node.epoch;
    options.held = [&node] { return node.held; };
    options.wake_shard = [&node] { ++node.shard_wakes; };
    options.wake_driver = options.wake_worker = [] {};
    ASSIGN_OR_RETURN(node.exchange, ClusterExchange::Open(node.env, *node.manifest, *node.transport, options));
    return {};
  }

  ClusterExchange& At(uint32_t shard) { return *nodes_[shard]->exchange; }
  void Send(uint32_t from, uint32_t to, std::string_view message) { At(from).port(from).Send(to, message); }

  // Everybody works for a while.
  void Run(int64_t ns = 2 * kSecond) {
    const int64_t end_ns = time_.NowNs() + ns;
    while (time_.NowNs() < end_ns) {
      for (const auto& node : nodes_) node->exchange->Work();
      time_.RunUntil(time_.NowNs() + 10 * kMillisecond);
    }
  }

  std::vector<std::string> TakeAll(uint32_t shard) {
    std::vector<std::string> taken;
    while (const auto message = At(shard).Front(shard)) {
      taken.emplace_back(*message);
      At(shard).Pop(shard);
    }
    return taken;
  }

  // As the driver does; what had come is returned.
  std::vector<std::string> Commit(uint32_t shard, bool idle = true) {
    At(shard).TakeMail(shard);
    const std::vector<std::string> kept = TakeAll(shard);
    At(shard).BeginCheckpoint(idle);
    EXPECT_TRUE(nodes_[shard]->manifest->Commit(At(shard).Checkpointables()));
    return kept;
  }

  ClusterExchangeOptions options_;
  VirtualTime time_{1'780'000'000'000'000'000};
  VirtualNats nats_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_F(ClusterExchangeTest, MessagesArriveOnceInTheirOrderAndRaisesBeforeThem) {
  for (int i = 0; i < 1000; ++i) Send(0, 2, fmt::format("{}", i));
  At(0).port(0).Raise(2, 42);
  EXPECT_FALSE(At(0).Empty());
  At(0).Deliver(0);
  EXPECT_FALSE(At(0).Empty()) << "not stored yet";
  Run();
  At(0).TakeMail(0);  // batches that begin the epochs of others
  EXPECT_FALSE(At(0).Front(0));
  EXPECT_TRUE(At(0).Empty());
  EXPECT_FALSE(At(2).Empty());
  EXPECT_FALSE(At(2).Front(2)) << "nothing of a batch before its raises";
  EXPECT_EQ(At(2).TakeMail(2).raises, std::vector<uint64_t>{42});
  const auto taken = TakeAll(2);
  ASSERT_EQ(taken.size(), 1000U);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], std::to_string(i));
  EXPECT_TRUE(At(2).Empty());
  EXPECT_GT(nodes_[2]->shard_wakes, 0);
}

TEST_F(ClusterExchangeTest, NoticesAreMailWithTheirSender) {
  const AddressNotice notice{AddressNotice::Kind::kWanted, Address::V4(0x7f000001), FirstSession(1), 5, 6};
  At(1).port(1).Tell(0, notice);
  At(1).Deliver(1);
  Run();
  const auto mail = At(0).TakeMail(0);
  ASSERT_EQ(mail.notices.size(), 1U);
  EXPECT_EQ(mail.notices[0].shard, 1U);
  EXPECT_EQ(mail.notices[0].notice, notice);
}

// What is in no stream when the process ends is in its checkpoint, and is sent by the next one.
TEST_F(ClusterExchangeTest, TheOutboxIsSentByTheNextProcess) {
  Run();
  Commit(0);
  Commit(2);
  nats_.Cut(0, time_.NowNs() + 5 * kSecond);
  Send(0, 2, "kept");
  At(0).Deliver(0);
  Run(kSecond);
  Commit(0);
  Send(0, 2, "after the checkpoint");
  At(0).Deliver(0);
  At(0).Work();
  EXPECT_EQ(Open(0).error().code(), ErrorCode::kClosed) << "cut off";
  nodes_[0]->transport = nats_.Connect(0, time_);
  time_.RunUntil(time_.NowNs() + 6 * kSecond);
  ASSERT_TRUE(Open(0));
  EXPECT_EQ(At(0).counters().resent, 1U);
  Run();
  At(2).TakeMail(2);
  EXPECT_EQ(TakeAll(2), std::vector<std::string>{"kept"});
}

// A part of a checkpoint during whose flush other threads go on.
class Meanwhile : public Checkpointable {
 public:
  explicit Meanwhile(std::function<void()> work) : work_(std::move(work)) {}
  Status Flush() override {
    work_();
    return {};
  }
  ManifestSection Describe() const override { return {.name = "meanwhile", .kind = "none"}; }
  Status Committed() override { return {}; }

 private:
  std::function<void()> work_;
};

class FullStreamTest : public ClusterExchangeTest {
 protected:
  FullStreamTest() : ClusterExchangeTest(/*stream_bytes=*/800) {}
};

// The outbox and the queues on disk are of one moment: a batch that the worker takes from a queue into the window while
// the checkpoint's parts are flushed is in one of them. Here it can be nowhere else, since its stream is full.
TEST_F(FullStreamTest, WhatMovesFromTheDiskIntoTheWindowDuringACheckpointIsInIt) {
  options_.out_bytes = 100;
  options_.window_bytes = 200;
  ASSERT_TRUE(Open(0));
  std::set<std::string> sent;
  nats_.Cut(0, time_.NowNs() + 2 * kSecond);
  for (int i = 0; i < 20; ++i) {
    const std::string message = fmt::format("{:064}", (i + 1) * 7'919'000'000'000);
    sent.insert(message);
    Send(0, 2, message);
    At(0).Deliver(0);
    At(0).Work();
    time_.RunUntil(time_.NowNs() + 50 * kMillisecond);  // each in a batch of its own
  }
  const uint64_t on_disk = At(0).counters().spill_bytes;
  time_.RunUntil(time_.NowNs() + 2 * kSecond);
  Meanwhile worker([&] {
    for (int i = 0; i < 100; ++i) {
      At(0).Work();
      time_.RunUntil(time_.NowNs() + 20 * kMillisecond);
    }
  });
  At(0).BeginCheckpoint(false);
  std::vector<Checkpointable*> parts = At(0).Checkpointables();
  ASSERT_EQ(parts.size(), kShards) << "the exchange, and a queue for each other shard";
  parts.insert(parts.begin() + 1, &worker);
  ASSERT_TRUE(nodes_[0]->manifest->Commit(parts));
  EXPECT_LT(At(0).counters().spill_bytes, on_disk) << "some came from the disk";
  EXPECT_GT(nats_.counts().full, 0U) << "and found no room in the stream";
  ASSERT_TRUE(Open(0));  // it dies
  std::set<std::string> taken;
  for (int i = 0; i < 60; ++i) {
    Run(kSecond);
    for (std::string& message : Commit(2, false)) taken.insert(std::move(message));  // which makes room
  }
  EXPECT_TRUE(taken == sent) << taken.size() << " of " << sent.size();
}

// A receiver that dies takes again what its checkpoint does not hold, and only that.
TEST_F(ClusterExchangeTest, ThePositionIsThatOfWhatTheShardWasGiven) {
  Send(0, 2, "first");
  At(0).Deliver(0);
  Run();
  At(2).TakeMail(2);
  Send(1, 2, "second");
  At(1).Deliver(1);
  Run();  // the second comes between the mail and the flush
  EXPECT_EQ(TakeAll(2), std::vector<std::string>{"first"});
  At(2).BeginCheckpoint(true);
  ASSERT_TRUE(nodes_[2]->manifest->Commit(At(2).Checkpointables()));
  Run();
  ASSERT_TRUE(Open(2));
  Run();
  At(2).TakeMail(2);
  EXPECT_EQ(TakeAll(2), std::vector<std::string>{"second"});
}

TEST_F(ClusterExchangeTest, TheEndIsFoundByAllWhenAllHaveCommittedIt) {
  Send(0, 2, "work");
  At(0).Deliver(0);
  Run();
  for (uint32_t shard = 0; shard < kShards; ++shard) EXPECT_TRUE(At(shard).WantsCheckpoint(true));
  EXPECT_FALSE(At(0).WantsCheckpoint(false));
  Commit(0);
  Commit(1);
  EXPECT_EQ(Commit(2, /*idle=*/false), std::vector<std::string>{"work"});
  Run();
  for (uint32_t shard = 0; shard < kShards; ++shard) EXPECT_FALSE(At(shard).elsewhere().done) << shard;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    At(shard).TakeMail(shard);
    TakeAll(shard);
    if (At(shard).WantsCheckpoint(true)) Commit(shard);
  }
  Run();
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    EXPECT_TRUE(At(shard).elsewhere().done) << shard;
    EXPECT_FALSE(At(shard).WantsCheckpoint(true)) << shard;
  }
}

TEST_F(ClusterExchangeTest, CountsAndWaitsAreKnownToAll) {
  At(0).Note({.only_waits = true, .pages = 10, .bytes = 100});
  At(1).Note({.only_waits = true, .pages = 5, .bytes = 7});
  Run(3 * kSecond);
  EXPECT_EQ(At(2).elsewhere().pages, 15U);
  EXPECT_EQ(At(2).elsewhere().bytes, 107U);
  EXPECT_EQ(At(0).elsewhere().pages, 5U);
  EXPECT_FALSE(At(2).elsewhere().only_waits);
  At(2).Note({.only_waits = true});
  Run(3 * kSecond);
  EXPECT_TRUE(At(2).elsewhere().only_waits);
}

TEST_F(ClusterExchangeTest, WhoLostItsShardSendsNothingMore) {
  Run();
  const uint64_t stored = nats_.counts().stored;
  nodes_[0]->held = false;
  Send(0, 2, "late");
  At(0).port(0).Tell(2, {});
  At(0).Deliver(0);
  Run();
  EXPECT_EQ(At(0).status().error().code(), ErrorCode::kClosed);
  EXPECT_EQ(nats_.counts().stored, stored);
  EXPECT_TRUE(At(2).TakeMail(2).notices.empty());
  EXPECT_TRUE(At(1).status());
}

TEST_F(ClusterExchangeTest, AStreamThatWasMadeAnewEndsItsUsersLoudly) {
  Send(0, 2, "lost");
  At(0).Deliver(0);
  Run();
  nats_.MakeAnew(2);
  nats_.Cut(0, time_.NowNs() + kSecond);
  nats_.Cut(2, time_.NowNs() + kSecond);
  Run(3 * kSecond);
  for (const uint32_t shard : {0U, 2U}) {
    const Status status = At(shard).status();
    ASSERT_FALSE(status) << shard;
    EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt);
    EXPECT_NE(status.error().message().find("stream portolan-web-shard-2 was deleted and made anew"), std::string::npos)
        << status.error().message();
  }
}

TEST_F(ClusterExchangeTest, WithoutRoomItSaysSoAndWakesTheShardWhenThereIsSome) {
  options_.out_bytes = 100;
  options_.window_bytes = 200;
  options_.spill_bytes = 400;
  ASSERT_TRUE(Open(0));
  nats_.Cut(0, time_.NowNs() + 10 * kSecond);
  uint64_t sent = 0;
  while (At(0).port(0).HasRoom(2) && sent < 1000) {
    Send(0, 2, fmt::format("{:064}", sent++ * 7'919'000'000'000));
    At(0).Deliver(0);
    At(0).Work();
    time_.RunUntil(time_.NowNs() + 50 * kMillisecond);  // each in a batch of its own
  }
  EXPECT_LT(sent, 30U);
  EXPECT_GT(At(0).counters().spilled, 0U);
  EXPECT_NE(At(0).Trouble().find("away"), std::string::npos);
  const int wakes = nodes_[0]->shard_wakes;
  Run(15 * kSecond);
  EXPECT_GT(nodes_[0]->shard_wakes, wakes);
  EXPECT_TRUE(At(0).port(0).HasRoom(2));
  At(2).TakeMail(2);
  EXPECT_EQ(TakeAll(2).size(), sent);
}

TEST_F(ClusterExchangeTest, AnotherShardsDirectoryIsRefused) {
  Commit(0);
  nodes_[1]->exchange.reset();
  nodes_[0]->exchange.reset();
  auto left = nodes_[0]->env.CrashedCopy(CrashMode::kKeepAll);
  ClusterExchangeOptions options;
  options.cluster = "web";
  options.cluster_id = 7;
  options.shards = kShards;
  options.shard = 1;
  options.epoch = 9;
  options.wake_shard = options.wake_driver = options.wake_worker = [] {};
  const Manifest manifest = *Manifest::Open(*left, "state");
  const auto opened = ClusterExchange::Open(*left, manifest, *nodes_[1]->transport, options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(Open(0));
  ASSERT_TRUE(Open(1));
}

}  // namespace
}  // namespace portolan::sim
