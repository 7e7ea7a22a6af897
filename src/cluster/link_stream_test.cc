// Links through the streams of a real nats-server that is killed, filled, purged and deleted.

#include "cluster/link_stream.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nats/nats.h>

#include <deque>
#include <thread>

#include "cluster/link_receiver.h"
#include "cluster/link_sender.h"
#include "cluster/names.h"
#include "cluster/nats_transport.h"
#include "cluster/testing/nats_server.h"
#include "io/rng.h"

namespace portolan {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kCluster = 77;

class LinkStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
    ASSERT_TRUE(server_.Start());
    connection_ = Connect();
    for (uint32_t shard = 0; shard < 2; ++shard) ASSERT_TRUE(CreateLinkStream(*connection_, "web", shard, stream_));
  }

  // Lives as long as the fixture, and longer than the transports that use it.
  NatsConnection* Connect() {
    auto connection = NatsConnection::Connect(
        {.url = server_.url(), .retry_ns = 50 * kMillisecond, .request_ns = 2 * kSecond}, Clock::Real());
    EXPECT_TRUE(connection) << connection.error().ToString();
    connections_.push_back(std::move(*connection));
    return connections_.back().get();
  }
  LinkSenderOptions SenderOptions(uint64_t epoch) const {
    return {.cluster = "web",
            .cluster_id = kCluster,
            .shards = 2,
            .sender = 1,
            .epoch = epoch,
            .ack_wait_ns = 300 * kMillisecond,
            .full_wait_ns = 20 * kMillisecond,
            .may_send = {}};
  }
  LinkTransport& Transport(NatsConnection& connection, uint32_t shard) {
    auto transport = NatsTransport::Open(connection, {.cluster = "web", .shards = 2, .shard = shard});
    EXPECT_TRUE(transport) << transport.error().ToString();
    transports_.push_back(std::move(*transport));
    return *transports_.back();
  }
  std::unique_ptr<LinkSender> Sender(NatsConnection& connection, uint64_t epoch) {
    auto sender = LinkSender::Create(Transport(connection, 1), SenderOptions(epoch));
    EXPECT_TRUE(sender) << sender.error().ToString();
    return std::move(*sender);
  }
  Result<std::unique_ptr<LinkReceiver>> Receiver(const LinkPosition& position = {}) {
    return LinkReceiver::Open(Transport(*connection_, 0), {.cluster = "web", .cluster_id = kCluster, .shard = 0},
                              position);
  }
  // One batch with one message.
  static void SendOne(LinkSender& sender, const std::string& message) {
    ASSERT_TRUE(sender.Send(0, message));
    sender.Flush(0);
  }
  static Status PumpUntilStored(LinkSender& sender, std::chrono::milliseconds limit = 10s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (true) {
      RETURN_IF_ERROR(sender.Pump());
      if (sender.AllStored()) return {};
      if (std::chrono::steady_clock::now() > end) return Fail(ErrorCode::kBusy, "not stored in time");
      std::this_thread::sleep_for(1ms);
    }
  }
  // Everything that comes until nothing has come for a moment.
  static Status TakeAll(LinkReceiver& receiver, std::vector<std::string>& messages, int quiet = 3) {
    for (int idle = 0; idle < quiet;) {
      const auto taken = receiver.Take([&](const LinkBatchReader& batch) {
        for (const std::string_view message : batch.messages()) messages.emplace_back(message);
      });
      if (!taken) return std::unexpected<Error>(taken.error());
      idle = *taken == 0 ? idle + 1 : 0;
      if (idle > 0) std::this_thread::sleep_for(20ms);
    }
    return {};
  }
  void Restart() {
    server_.Kill();
    ASSERT_TRUE(server_.Start());
  }
  void DeleteStream() {
    ASSERT_EQ(js_DeleteStream(connection_->jetstream(), LinkStreamName("web", 0).c_str(), nullptr, nullptr), NATS_OK);
  }

  LinkStreamOptions stream_;
  NatsServer server_;
  std::deque<std::unique_ptr<NatsConnection>> connections_;
  NatsConnection* connection_ = nullptr;
  std::deque<std::unique_ptr<NatsTransport>> transports_;  // of the senders and receivers
};

TEST_F(LinkStreamTest, BatchesArriveInOrderAndOnce) {
  auto sender = Sender(*connection_, 1);
  std::vector<std::string> sent;
  for (int i = 0; i < 20'000; ++i) {
    sent.push_back(fmt::format("https://example.org/{}", i));
    ASSERT_TRUE(sender->Send(0, sent.back()));
    ASSERT_TRUE(sender->Pump());
  }
  sender->Flush(0);
  ASSERT_TRUE(PumpUntilStored(*sender));
  EXPECT_EQ(sender->stored(0), sender->sent(0));
  auto receiver = Receiver();
  ASSERT_TRUE(receiver) << receiver.error().ToString();
  std::vector<std::string> got;
  const Status taken = TakeAll(**receiver, got);
  ASSERT_TRUE(taken) << taken.error().ToString();
  EXPECT_TRUE(got == sent);
  EXPECT_EQ((*receiver)->duplicates(), 0u);
}

TEST_F(LinkStreamTest, NothingStoredIsLostWhenTheServerIsKilledBetweenPublishAndAnswer) {
  auto sender = Sender(*connection_, 1);
  auto receiver = Receiver();
  ASSERT_TRUE(receiver);
  std::set<std::string> sent;
  std::vector<std::string> got;
  uint64_t unanswered = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string message = fmt::format("{}-{}-{}", round, i, std::string(2000, 'x'));
      sent.insert(message);
      SendOne(*sender, message);
      ASSERT_TRUE(sender->Pump());  // published, mostly not answered
    }
    unanswered += sender->sent(0) - sender->stored(0);
    Restart();
  }
  EXPECT_GT(unanswered, 0u) << "the server was killed too late to prove anything";
  const Status stored = PumpUntilStored(*sender);
  ASSERT_TRUE(stored) << stored.error().ToString();
  const Status taken = TakeAll(**receiver, got, 10);
  ASSERT_TRUE(taken) << taken.error().ToString();
  EXPECT_TRUE(std::set<std::string>(got.begin(), got.end()) == sent);
  EXPECT_EQ(got.size(), sent.size()) << "each batch once";
}

TEST_F(LinkStreamTest, AReaderWhoseConsumerSomebodyRemovesBeginsAgain) {
  auto sender = Sender(*connection_, 1);
  auto receiver = Receiver();
  ASSERT_TRUE(receiver);
  SendOne(*sender, "before");
  ASSERT_TRUE(PumpUntilStored(*sender));
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  jsConsumerNamesList* names = nullptr;
  ASSERT_EQ(js_ConsumerNames(&names, connection_->jetstream(), LinkStreamName("web", 0).c_str(), nullptr, nullptr),
            NATS_OK);
  ASSERT_EQ(names->Count, 1);
  ASSERT_EQ(
      js_DeleteConsumer(connection_->jetstream(), LinkStreamName("web", 0).c_str(), names->List[0], nullptr, nullptr),
      NATS_OK);
  jsConsumerNamesList_Destroy(names);
  for (int i = 0; i < 200; ++i) SendOne(*sender, fmt::format("after {}", i));  // more than one request
  ASSERT_TRUE(PumpUntilStored(*sender));
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (got.size() < 201 && std::chrono::steady_clock::now() < end) ASSERT_TRUE(TakeAll(**receiver, got));
  EXPECT_EQ(got.size(), 201u);
  EXPECT_EQ(got.back(), "after 199");
}

TEST_F(LinkStreamTest, ABatchThatIsInTheStreamTwiceIsTakenOnce) {
  auto sender = Sender(*connection_, 1);
  SendOne(*sender, "a");
  ASSERT_TRUE(PumpUntilStored(*sender));
  LinkBatchWriter writer;
  ASSERT_TRUE(*writer.Add("a"));
  const std::string again = writer.Finish({.cluster = kCluster, .receiver = 0, .sender = 1, .epoch = 1, .number = 2});
  ASSERT_EQ(js_Publish(nullptr, connection_->jetstream(), LinkSubject("web", 0).c_str(), again.data(),
                       static_cast<int>(again.size()), nullptr, nullptr),
            NATS_OK);
  auto receiver = Receiver();
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  EXPECT_EQ(got, std::vector<std::string>{"a"});
  EXPECT_EQ((*receiver)->duplicates(), 1u);
}

TEST_F(LinkStreamTest, AReceiverGoesOnFromItsCheckpointAndTrimsWhatItHolds) {
  auto sender = Sender(*connection_, 1);
  for (int i = 0; i < 10; ++i) SendOne(*sender, fmt::format("first {}", i));
  ASSERT_TRUE(PumpUntilStored(*sender));
  std::string checkpoint;
  {
    auto receiver = Receiver();
    std::vector<std::string> got;
    ASSERT_TRUE(TakeAll(**receiver, got));
    EXPECT_EQ(got.size(), 10u);
    checkpoint = (*receiver)->position().Encode();
    const auto kept = LinkPosition::Decode(checkpoint);
    ASSERT_TRUE(kept);
    const Status trimmed = (*receiver)->Trim(kept->sequence);
    ASSERT_TRUE(trimmed) << trimmed.error().ToString();
    SendOne(*sender, "second");
    ASSERT_TRUE(PumpUntilStored(*sender));
    ASSERT_TRUE(TakeAll(**receiver, got));  // taken, but in no checkpoint
    EXPECT_EQ(got.size(), 11u);
  }
  const auto info = ReadLinkStream(*connection_, "web", 0);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->last - info->first, 1u) << "the last one that the checkpoint holds, and the one after it";
  Restart();
  auto connection = Connect();
  auto receiver = LinkReceiver::Open(Transport(*connection, 0), {.cluster = "web", .cluster_id = kCluster, .shard = 0},
                                     *LinkPosition::Decode(checkpoint));
  ASSERT_TRUE(receiver) << receiver.error().ToString();
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  EXPECT_EQ(got, std::vector<std::string>{"second"});
}

TEST_F(LinkStreamTest, WhoLostItsShardIsRefusedByReceivers) {
  auto other = Connect();
  auto old = Sender(*connection_, 1);
  SendOne(*old, "before");
  ASSERT_TRUE(PumpUntilStored(*old));
  // It stalls; its lease ends; another node claims the shard and begins.
  auto young = Sender(*other, 2);
  ASSERT_TRUE(PumpUntilStored(*young));
  // It wakes up between the question whether it may send and the sending.
  SendOne(*old, "from the past");
  ASSERT_TRUE(PumpUntilStored(*old));
  SendOne(*young, "after");
  ASSERT_TRUE(PumpUntilStored(*young));
  auto receiver = Receiver();
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  EXPECT_EQ(got, (std::vector<std::string>{"before", "after"}));
  EXPECT_EQ((*receiver)->old_epochs(), 1u);
}

TEST_F(LinkStreamTest, WhoKnowsThatItLostItsShardSendsNothing) {
  bool held = true;
  LinkSenderOptions options = SenderOptions(1);
  options.may_send = [&] { return held; };
  auto sender = LinkSender::Create(Transport(*connection_, 1), options);
  ASSERT_TRUE(sender);
  ASSERT_TRUE(PumpUntilStored(**sender));
  held = false;
  SendOne(**sender, "x");
  EXPECT_EQ((*sender)->Pump().error().code(), ErrorCode::kClosed);
  held = true;
  EXPECT_EQ((*sender)->Pump().error().code(), ErrorCode::kClosed) << "it does not come back";
  EXPECT_EQ(ReadLinkStream(*connection_, "web", 0)->last, 1u);
}

TEST_F(LinkStreamTest, ADeletedStreamIsLoudOnBothSidesAndSaysWhatMayBeLost) {
  auto sender = Sender(*connection_, 1);
  for (int i = 0; i < 3; ++i) SendOne(*sender, "x");
  ASSERT_TRUE(PumpUntilStored(*sender));
  auto receiver = Receiver();
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  DeleteStream();
  const Status taken = TakeAll(**receiver, got, 20);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(taken.error().message().find("shard 1 after batch 4 of epoch 1"), std::string::npos)
      << taken.error().ToString();
  SendOne(*sender, "y");
  const Status sent = PumpUntilStored(*sender);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(sent.error().message().find("batches up to 4 were stored"), std::string::npos) << sent.error().ToString();
  // Made anew: not the stream of the checkpoint.
  const LinkPosition position = (*receiver)->position();
  ASSERT_TRUE(CreateLinkStream(*connection_, "web", 0, stream_));
  const auto again = Receiver(position);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("made anew"), std::string::npos) << again.error().ToString();
}

TEST_F(LinkStreamTest, AStreamThatWasMadeAnewWhileSendingIsNoticed) {
  auto sender = Sender(*connection_, 1);
  for (int i = 0; i < 3; ++i) SendOne(*sender, "x");
  ASSERT_TRUE(PumpUntilStored(*sender));
  DeleteStream();
  ASSERT_TRUE(CreateLinkStream(*connection_, "web", 0, stream_));
  SendOne(*sender, "y");
  Status sent = PumpUntilStored(*sender);
  if (sent) sent = sender->Pump();
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().message().find("made anew"), std::string::npos) << sent.error().ToString();
}

TEST_F(LinkStreamTest, PurgedAndRemovedMessagesAreLoud) {
  auto sender = Sender(*connection_, 1);
  for (int i = 0; i < 6; ++i) SendOne(*sender, fmt::format("{}", i));
  ASSERT_TRUE(PumpUntilStored(*sender));  // messages 1 to 7
  auto receiver = Receiver();
  ASSERT_TRUE(receiver);
  const LinkPosition begin = (*receiver)->position();
  ASSERT_EQ(js_EraseMsg(connection_->jetstream(), LinkStreamName("web", 0).c_str(), 4, nullptr, nullptr), NATS_OK);
  std::vector<std::string> got;
  const Status removed = TakeAll(**receiver, got);
  ASSERT_FALSE(removed);
  EXPECT_EQ(got.size(), 2u);
  EXPECT_NE(removed.error().message().find("has no messages 4 to 4"), std::string::npos) << removed.error().ToString();
  ASSERT_EQ(js_PurgeStream(connection_->jetstream(), LinkStreamName("web", 0).c_str(), nullptr, nullptr), NATS_OK);
  const auto purged = Receiver(begin);
  ASSERT_FALSE(purged);
  EXPECT_NE(purged.error().message().find("messages 1 to 7 are gone"), std::string::npos) << purged.error().ToString();
}

TEST_F(LinkStreamTest, AFullStreamPushesBackAndGoesOnWhenItIsTrimmed) {
  DeleteStream();
  ASSERT_TRUE(CreateLinkStream(*connection_, "web", 0, {.max_bytes = 64 * 1024}));
  LinkSenderOptions options = SenderOptions(1);
  options.window_bytes = 32 * 1024;
  auto created = LinkSender::Create(Transport(*connection_, 1), options);
  ASSERT_TRUE(created);
  LinkSender& sender = **created;
  Rng rng(3);
  std::vector<std::string> sent;
  const auto random = [&] {
    std::string message(4000, ' ');
    for (char& c : message) c = static_cast<char>(rng.Next());
    return message;
  };
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (sender.flow(0) != LinkFlow::kFull || sender.HasRoom(0)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    if (sender.HasRoom(0)) {
      sent.push_back(random());
      SendOne(sender, sent.back());
    }
    ASSERT_TRUE(sender.Pump());
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_LE(ReadLinkStream(*connection_, "web", 0)->bytes, 64u * 1024);
  EXPECT_LT(sender.stored(0), sender.sent(0));
  auto receiver = Receiver();
  std::vector<std::string> got;
  for (int i = 0; i < 200 && got.size() < sent.size(); ++i) {
    ASSERT_TRUE(TakeAll(**receiver, got, 1));
    ASSERT_TRUE((*receiver)->Trim((*receiver)->position().sequence));
    ASSERT_TRUE(sender.Pump());
  }
  EXPECT_EQ(got.size(), sent.size());
  EXPECT_TRUE(std::set<std::string>(got.begin(), got.end()) == std::set<std::string>(sent.begin(), sent.end()));
  ASSERT_TRUE(PumpUntilStored(sender));
}

TEST_F(LinkStreamTest, WhatIsNoBatchOfThisClusterIsSkippedAndCounted) {
  const std::string subject = LinkSubject("web", 0);
  ASSERT_EQ(js_Publish(nullptr, connection_->jetstream(), subject.c_str(), "hello", 5, nullptr, nullptr), NATS_OK);
  LinkBatchWriter writer;
  const std::string other = writer.Finish({.cluster = 1, .receiver = 0, .sender = 1, .epoch = 9, .number = 1});
  ASSERT_EQ(js_Publish(nullptr, connection_->jetstream(), subject.c_str(), other.data(), static_cast<int>(other.size()),
                       nullptr, nullptr),
            NATS_OK);
  auto sender = Sender(*connection_, 1);
  SendOne(*sender, "a");
  ASSERT_TRUE(PumpUntilStored(*sender));
  auto receiver = Receiver();
  std::vector<std::string> got;
  ASSERT_TRUE(TakeAll(**receiver, got));
  EXPECT_EQ(got, std::vector<std::string>{"a"});
  EXPECT_EQ((*receiver)->foreign(), 2u);
}

TEST_F(LinkStreamTest, AMissingStreamIsAnErrorAtStart) {
  DeleteStream();
  EXPECT_EQ(LinkSender::Create(Transport(*connection_, 1), SenderOptions(1)).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Receiver().error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace portolan
