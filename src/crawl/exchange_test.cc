#include "crawl/exchange.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "crawl/partition.h"

namespace portolan {
namespace {

std::vector<std::string> TakeAll(MemoryExchange& exchange, uint32_t to) {
  std::vector<std::string> messages;
  while (const auto message = exchange.Front(to)) {
    messages.emplace_back(*message);
    exchange.Pop(to);
  }
  return messages;
}

class ExchangeTest : public testing::Test {
 protected:
  MemoryExchange exchange_{{.shards = 3, .bytes = 100, .wake = [this](uint32_t shard) { ++woken_[shard]; }}};
  std::array<int, 3> woken_{};
};

TEST_F(ExchangeTest, MessagesArriveInOrderOnceTheyAreDelivered) {
  exchange_.port(0).Send(1, "a");
  exchange_.port(0).Send(1, "");
  exchange_.port(0).Send(1, "b");
  exchange_.port(0).Send(2, "c");
  EXPECT_FALSE(exchange_.Front(1));
  EXPECT_FALSE(exchange_.Empty());
  exchange_.Deliver(0);
  EXPECT_EQ(woken_, (std::array{0, 1, 1}));
  EXPECT_EQ(TakeAll(exchange_, 1), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_FALSE(exchange_.Empty());
  EXPECT_EQ(TakeAll(exchange_, 2), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(exchange_.Empty());
}

TEST_F(ExchangeTest, AMessageThatIsNotTakenIsThereAgain) {
  exchange_.port(0).Send(1, "a");
  exchange_.Deliver(0);
  EXPECT_EQ(exchange_.Front(1), "a");
  EXPECT_EQ(exchange_.Front(1), "a");
  EXPECT_FALSE(exchange_.Empty());
  exchange_.Pop(1);
  EXPECT_TRUE(exchange_.Empty());
}

TEST_F(ExchangeTest, RaisesAndNoticesDoNotWaitBehindMessages) {
  exchange_.port(0).Send(1, "a");
  exchange_.port(0).Raise(1, 77);
  exchange_.port(0).Tell(1, {.kind = AddressNotice::Kind::kWanted, .address = {}});
  exchange_.Deliver(0);
  const MemoryExchange::Mail mail = exchange_.TakeMail(1);
  EXPECT_EQ(mail.raises, std::vector<uint64_t>{77});
  ASSERT_EQ(mail.notices.size(), 1U);
  EXPECT_EQ(mail.notices[0].shard, 0U);
  EXPECT_TRUE(exchange_.TakeMail(1).raises.empty());
}

TEST_F(ExchangeTest, ARaiseIsOnItsWayUntilItIsTaken) {
  exchange_.port(0).Raise(1, 77);
  EXPECT_FALSE(exchange_.Empty());
  exchange_.Deliver(0);
  EXPECT_FALSE(exchange_.Empty());
  exchange_.TakeMail(1);
  EXPECT_TRUE(exchange_.Empty());
}

TEST_F(ExchangeTest, AFullReceiverHasNoRoomAndTellsWhenItHas) {
  exchange_.port(0).Send(1, std::string(99, 'x'));
  EXPECT_FALSE(exchange_.port(0).HasRoom(1));
  EXPECT_TRUE(exchange_.port(0).HasRoom(2));
  EXPECT_TRUE(exchange_.port(2).HasRoom(1)) << "it is not delivered yet";
  exchange_.Deliver(0);
  EXPECT_FALSE(exchange_.port(2).HasRoom(1));
  woken_ = {};
  TakeAll(exchange_, 1);
  EXPECT_EQ(woken_, (std::array{1, 0, 1}));
  EXPECT_TRUE(exchange_.port(2).HasRoom(1));
}

TEST(ExchangeThreadsTest, EachSendersOrderHoldsAndNothingIsLost) {
  constexpr uint32_t kSenders = 3;
  constexpr int kMessages = 20'000;
  std::atomic<int> wakes{0};
  MemoryExchange exchange({.shards = kSenders + 1, .bytes = 1000, .wake = [&](uint32_t) { ++wakes; }});
  std::vector<std::thread> senders;
  for (uint32_t from = 0; from < kSenders; ++from) {
    senders.emplace_back([&exchange, from] {
      ExchangePort& port = exchange.port(from);
      for (int i = 0; i < kMessages; ++i) {
        while (!port.HasRoom(kSenders)) std::this_thread::yield();
        port.Send(kSenders, std::to_string(from) + ":" + std::to_string(i));
        if (i % 7 == 0) exchange.Deliver(from);
      }
      exchange.Deliver(from);
    });
  }
  std::array<int, kSenders> next{};
  for (int taken = 0; taken < static_cast<int>(kSenders) * kMessages;) {
    const auto message = exchange.Front(kSenders);
    if (!message) {
      std::this_thread::yield();
      continue;
    }
    const uint32_t from = static_cast<uint32_t>((*message)[0] - '0');
    ASSERT_EQ(message->substr(2), std::to_string(next[from]++));
    exchange.Pop(kSenders);
    ++taken;
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_TRUE(exchange.Empty());
}

TEST(PartitionTest, DomainsAreSpreadEvenlyAndFetchesKnowTheirShard) {
  constexpr uint32_t kShards = 5;
  std::array<int, kShards> domains{};
  for (uint64_t i = 0; i < 100'000; ++i) ++domains[ShardOfDomain(i << 40, kShards)];
  for (const int count : domains) EXPECT_NEAR(count, 20'000, 600);
  EXPECT_EQ(ShardOfDomain(~uint64_t{0}, 1), 0U);
  EXPECT_EQ(ShardOfFetch(FirstFetchId(kMaxShards - 1) + 12345), kMaxShards - 1);
  EXPECT_EQ(ShardName(0, "seen"), "seen");
  EXPECT_EQ(ShardName(12, "seen"), "s12.seen");
}

}  // namespace
}  // namespace portolan
