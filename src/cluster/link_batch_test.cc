#include "cluster/link_batch.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cluster/batch_ledger.h"
#include "cluster/send_window.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return out;
}

TEST(LinkBatchTest, GoldenBytes) {
  LinkBatchWriter writer;
  ASSERT_TRUE(*writer.Add("ab"));
  ASSERT_TRUE(*writer.Add("c"));
  const std::string bytes = writer.Finish(
      {.cluster = 0x1122334455667788, .receiver = 3, .sender = 1, .epoch = 7, .number = 9, .messages = 0});
  EXPECT_EQ(Hex(bytes),
            "5054"
            "4c42"
            "01"
            "00"
            "0300"
            "0100"
            "0000"
            "02000000"
            "0700000000000000"
            "0900000000000000"
            "8877665544332211"
            "05000000"
            "e9536983"
            "0261620163");
}

TEST(LinkBatchTest, ReadsBackWhatItWrote) {
  LinkBatchWriter writer;
  LinkBatchReader reader;
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> messages;
    while (true) {
      std::string message(1 + rng.Below(200), static_cast<char>('a' + rng.Below(26)));
      if (!*writer.Add(message)) break;
      messages.push_back(std::move(message));
    }
    EXPECT_LE(writer.body_size(), kLinkBatchTarget);
    const std::string bytes = writer.Finish({.cluster = 5, .receiver = 1, .sender = 2, .epoch = 3, .number = 4});
    EXPECT_LT(bytes.size(), kLinkBatchTarget / 2);
    ASSERT_TRUE(reader.Decode(bytes));
    EXPECT_EQ(reader.header().messages, messages.size());
    EXPECT_EQ(reader.header().cluster, 5u);
    EXPECT_TRUE(std::ranges::equal(reader.messages(), messages));
  }
}

TEST(LinkBatchTest, AnEmptyBatchSaysThatAnEpochBegins) {
  LinkBatchWriter writer;
  LinkBatchReader reader;
  ASSERT_TRUE(reader.Decode(writer.Finish({.cluster = 5, .receiver = 1, .sender = 2, .epoch = 3, .number = 1})));
  EXPECT_EQ(reader.header().epoch, 3u);
  EXPECT_TRUE(reader.messages().empty());
}

TEST(LinkBatchTest, ALargeMessageHasABatchOfItsOwnAndALargerOneIsRefused) {
  LinkBatchWriter writer;
  ASSERT_TRUE(*writer.Add("small"));
  const std::string large(kLinkBatchTarget * 2, 'x');
  EXPECT_FALSE(*writer.Add(large));
  writer.Finish({.epoch = 1, .number = 1});
  EXPECT_TRUE(*writer.Add(large));
  EXPECT_EQ(writer.Add(std::string(kMaxLinkMessage + 1, 'x')).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.Add("").error().code(), ErrorCode::kInvalidArgument);
}

TEST(LinkBatchTest, AnyChangedByteIsNoticed) {
  LinkBatchWriter writer;
  LinkBatchReader reader;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(*writer.Add("https://example.org/page"));
  const std::string bytes = writer.Finish({.cluster = 5, .receiver = 1, .sender = 2, .epoch = 3, .number = 4});
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 1);
    EXPECT_FALSE(reader.Decode(broken)) << i;
    EXPECT_FALSE(reader.Decode(std::string_view(bytes).substr(0, i))) << i;
  }
}

TEST(LinkBatchTest, ALaterVersionIsUnsupported) {
  LinkBatchWriter writer;
  LinkBatchReader reader;
  std::string bytes = writer.Finish({.epoch = 3, .number = 4});
  bytes[4] = 2;
  EXPECT_EQ(reader.Decode(bytes).error().code(), ErrorCode::kUnsupported);
}

LinkBatchHeader Header(uint64_t epoch, uint64_t number, uint32_t sender = 1) {
  return {.cluster = 1, .receiver = 0, .sender = sender, .epoch = epoch, .number = number, .messages = 1};
}

TEST(BatchLedgerTest, EachBatchIsTakenOnceInAnyOrderWithinTheWindow) {
  BatchLedger ledger;
  BatchLedger::Lost lost;
  Rng rng(7);
  std::vector<uint64_t> order;
  for (uint64_t base = 1; base <= 2000; base += 100) {
    std::vector<uint64_t> part;
    for (uint64_t n = base; n < base + 100; ++n) part.insert(part.end(), 1 + rng.Below(3), n);
    for (size_t i = part.size(); i > 1; --i) std::swap(part[i - 1], part[rng.Below(i)]);
    order.insert(order.end(), part.begin(), part.end());
  }
  std::set<uint64_t> taken;
  for (const uint64_t number : order) {
    const BatchVerdict verdict = ledger.Judge(Header(1, number), lost);
    EXPECT_EQ(verdict, taken.insert(number).second ? BatchVerdict::kNew : BatchVerdict::kDuplicate);
    const auto again = BatchLedger::Decode(ledger.Encode());
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, ledger);
  }
  EXPECT_EQ(ledger.Describe(), "shard 1 after batch 2000 of epoch 1");
}

TEST(BatchLedgerTest, AnOlderEpochIsRefusedAndANewerOneBeginsAnew) {
  BatchLedger ledger;
  BatchLedger::Lost lost;
  EXPECT_EQ(ledger.Judge(Header(4, 1), lost), BatchVerdict::kNew);
  EXPECT_EQ(ledger.Judge(Header(5, 1), lost), BatchVerdict::kNew);
  EXPECT_EQ(ledger.Judge(Header(4, 2), lost), BatchVerdict::kOldEpoch);
  EXPECT_EQ(ledger.Judge(Header(5, 1), lost), BatchVerdict::kDuplicate);
  EXPECT_EQ(ledger.Judge(Header(4, 2, 2), lost), BatchVerdict::kNew);  // another sender
}

TEST(BatchLedgerTest, WhatIsMissingFurtherBackThanTheWindowIsLost) {
  BatchLedger ledger;
  BatchLedger::Lost lost;
  for (uint64_t n = 1; n <= 10; ++n) EXPECT_EQ(ledger.Judge(Header(1, n), lost), BatchVerdict::kNew);
  EXPECT_EQ(ledger.Judge(Header(1, 12), lost), BatchVerdict::kNew);  // 11 may come
  EXPECT_EQ(ledger.Judge(Header(1, 10 + kLinkWindow), lost), BatchVerdict::kNew);
  EXPECT_EQ(ledger.Judge(Header(1, 15 + kLinkWindow), lost), BatchVerdict::kLost);
  EXPECT_EQ(lost.sender, 1u);
  EXPECT_EQ(lost.first, 11u);
  EXPECT_EQ(lost.last, 15u);
  EXPECT_EQ(lost.count, 4u);  // 12 was there
  EXPECT_EQ(ledger.Judge(Header(1, 15 + kLinkWindow), lost), BatchVerdict::kDuplicate);
  EXPECT_EQ(ledger.Judge(Header(1, 100'000), lost), BatchVerdict::kLost);
}

TEST(BatchLedgerTest, BytesThatAreNoLedgerAreRefused) {
  BatchLedger ledger;
  BatchLedger::Lost lost;
  ledger.Judge(Header(4, 3), lost);
  const std::string bytes = ledger.Encode();
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_FALSE(BatchLedger::Decode(bytes.substr(0, i)));
  EXPECT_FALSE(BatchLedger::Decode(bytes + "x"));
}

TEST(SendWindowTest, StoredIsThePrefixThatIsAcknowledged) {
  SendWindow window(1000);
  for (int i = 0; i < 4; ++i) window.Add("batch");
  uint64_t number = 0;
  while (window.NextToSend(number) != nullptr) window.MarkSent(number);
  EXPECT_EQ(number, 4u);
  window.Stored(2);
  EXPECT_EQ(window.stored(), 0u);
  window.Stored(1);
  EXPECT_EQ(window.stored(), 2u);
  window.SendAgain(3);
  window.Stored(4);
  ASSERT_NE(window.NextToSend(number), nullptr);
  EXPECT_EQ(number, 3u);
  window.MarkSent(3);
  window.Stored(3);
  window.Stored(3);
  EXPECT_EQ(window.stored(), 4u);
  EXPECT_EQ(window.next_number(), 5u);
  EXPECT_EQ(window.bytes(), 0u);
}

TEST(SendWindowTest, HasABoundOfBytesAndOfBatches) {
  SendWindow window(100);
  window.Add(std::string(99, 'x'));
  EXPECT_TRUE(window.HasRoom());
  window.Add("xx");
  EXPECT_FALSE(window.HasRoom());
  SendWindow many(1 << 20);
  for (uint64_t i = 0; i < kLinkWindow; ++i) many.Add("x");
  EXPECT_FALSE(many.HasRoom());
  for (int i = 0; i < 9; ++i) many.Add("x");  // the rest of a page
  uint64_t number = 0;
  while (many.NextToSend(number) != nullptr) many.MarkSent(number);
  EXPECT_EQ(number, kLinkWindow) << "receivers take what is further back for lost";
  for (uint64_t i = 1; i <= 10; ++i) many.Stored(i);
  EXPECT_TRUE(many.HasRoom());
  while (many.NextToSend(number) != nullptr) many.MarkSent(number);
  EXPECT_EQ(number, kLinkWindow + 9);
}

}  // namespace
}  // namespace portolan
