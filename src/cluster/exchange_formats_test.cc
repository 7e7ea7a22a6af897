// The bytes of reports, of datagrams with notices, and of an exchange's state: as documented, and whatever is wrong
// with them has a name.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "cluster/exchange_state.h"
#include "cluster/link_batch.h"
#include "cluster/notice_mail.h"
#include "cluster/shard_report.h"

namespace portolan {
namespace {

constexpr uint64_t kCluster = 0x1122334455667788;

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return out;
}

ShardReport SomeReport() {
  ShardReport report{.cluster = kCluster, .shard = 1, .epoch = 7, .pages = 300, .bytes = 70'000, .only_waits = true};
  report.kept.idle = true;
  report.kept.sent = {5, 0, 9};
  report.kept.taken = {{.epoch = 3, .number = 200}, {}, {.epoch = 1, .number = 1, .gaps = true}};
  return report;
}

NoticeMail SomeMail() {
  NoticeMail mail{.cluster = kCluster, .receiver = 3, .sender = 1, .epoch = 7};
  mail.notices.push_back(
      {AddressNotice::Kind::kWanted, Address::V4(0x7f000001), FirstSession(7), 1'000'000, 500'000'000});
  mail.notices.push_back({AddressNotice::Kind::kReturned, *Address::Parse("2001:db8::1"), FirstSession(7) + 1, 0, 9});
  return mail;
}

ExchangeState SomeState() {
  ExchangeState state{.cluster = kCluster, .shard = 1, .shards = 4, .position = {}, .outbox = {}};
  state.position.created_ns = 12;
  state.position.sequence = 34;
  LinkBatchWriter writer;
  EXPECT_TRUE(*writer.Add("ab"));
  state.outbox.emplace_back(3,
                            writer.Finish({.cluster = kCluster, .receiver = 3, .sender = 1, .epoch = 7, .number = 9}));
  return state;
}

TEST(ExchangeFormatsTest, GoldenBytesOfAReport) {
  EXPECT_EQ(Hex(SomeReport().Encode()),
            "504c5253"
            "01"
            "03"
            "0100"
            "1ef64ab8"
            "8877665544332211"
            "07"
            "ac02"
            "f0a204"
            "03"
            "0503c80100"
            "00000000"
            "09010101");
}

TEST(ExchangeFormatsTest, GoldenBytesOfNotices) {
  const auto datagrams = SomeMail().Encode(1000);
  ASSERT_EQ(datagrams.size(), 1U);
  EXPECT_EQ(Hex(datagrams[0]),
            "504c4e4d"
            "01"
            "00"
            "0300"
            "0100"
            "0200"
            "b5420dd8"
            "8877665544332211"
            "0700000000000000"
            "01"
            "7f000001"
            "0100000000070000"
            "40420f0000000000"
            "0065cd1d00000000"
            "14"
            "20010db8000000000000000000000001"
            "0200000000070000"
            "0000000000000000"
            "0900000000000000");
}

TEST(ExchangeFormatsTest, GoldenBytesOfAState) {
  const std::string bytes = SomeState().Encode();
  EXPECT_EQ(Hex(std::string_view(bytes).substr(0, 24 + 18 + 2)),
            "504c5853"
            "01000000"
            "a660e92c"
            "0100"
            "0400"
            "8877665544332211"
            "11"
            "0c00000000000000"
            "2200000000000000"
            "00"
            "03"
            "33");
}

TEST(ExchangeFormatsTest, ReadBackWhatWasWritten) {
  EXPECT_EQ(*ShardReport::Decode(SomeReport().Encode(), 3), SomeReport());
  EXPECT_EQ(*NoticeMail::Decode(SomeMail().Encode(1000)[0]), SomeMail());
  const auto state = ExchangeState::Decode(SomeState().Encode());
  ASSERT_TRUE(state) << state.error().ToString();
  EXPECT_EQ(state->position.sequence, 34U);
  EXPECT_EQ(state->outbox, SomeState().outbox);
}

TEST(ExchangeFormatsTest, ManyNoticesGoInSeveralDatagrams) {
  NoticeMail mail = SomeMail();
  for (int i = 0; i < 500; ++i) mail.notices.push_back(mail.notices[static_cast<size_t>(i % 2)]);
  NoticeMail back = SomeMail();
  back.notices.clear();
  for (const std::string& datagram : mail.Encode(1000)) {
    EXPECT_LE(datagram.size(), 1000U);
    const auto one = NoticeMail::Decode(datagram);
    ASSERT_TRUE(one) << one.error().ToString();
    back.notices.insert(back.notices.end(), one->notices.begin(), one->notices.end());
  }
  EXPECT_EQ(back, mail);
  mail.notices.clear();
  EXPECT_TRUE(mail.Encode(1000).empty());
}

TEST(ExchangeFormatsTest, ACrawlWithAnotherNumberOfShardsIsAnother) {
  EXPECT_EQ(ShardReport::Decode(SomeReport().Encode(), 4).error().code(), ErrorCode::kCorrupt);
}

// Each bit that is not as it was written, and each cut, is noticed; a later version is named as such.
TEST(ExchangeFormatsTest, WhatIsNotAsItWasWrittenIsRefused) {
  const auto decode = [](int kind, const std::string& bytes) -> Status {
    const auto status = [](const auto& result) { return result ? Status() : Status(std::unexpected(result.error())); };
    if (kind == 0) return status(ShardReport::Decode(bytes, 3));
    if (kind == 1) return status(NoticeMail::Decode(bytes));
    return status(ExchangeState::Decode(bytes));
  };
  const std::string whole[] = {SomeReport().Encode(), SomeMail().Encode(1000)[0], SomeState().Encode()};
  for (int kind = 0; kind < 3; ++kind) {
    const std::string& bytes = whole[kind];
    ASSERT_TRUE(decode(kind, bytes));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_FALSE(decode(kind, bytes.substr(0, cut))) << kind << " cut at " << cut;
    }
    EXPECT_FALSE(decode(kind, bytes + "x"));
    const size_t covered = kind == 1 ? 16 : 12;  // what the checksum covers begins here
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string bad = bytes;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      const Status status = decode(kind, bad);
      if (status && bit / 8 < covered) continue;  // flags, shards: another value that is valid
      ASSERT_FALSE(status) << kind << ", bit " << bit;
      const bool version = bit / 8 == 4 || (kind == 2 && bit / 8 < 8 && bit / 8 > 3);
      EXPECT_EQ(status.error().code(), version ? ErrorCode::kUnsupported : ErrorCode::kCorrupt) << kind << ": " << bit;
    }
  }
}

TEST(NoticeFilterTest, OnlyMailForThisShardOfTheNewestEpoch) {
  NoticeFilter filter(kCluster, 4, 3);
  NoticeMail mail = SomeMail();
  EXPECT_TRUE(filter.Accepts(mail));
  mail.epoch = 8;
  EXPECT_TRUE(filter.Accepts(mail));
  mail.epoch = 7;
  EXPECT_FALSE(filter.Accepts(mail)) << "its shard has another holder";
  mail.sender = 2;
  EXPECT_TRUE(filter.Accepts(mail));
  mail.receiver = 2;
  EXPECT_FALSE(filter.Accepts(mail));
  mail = SomeMail();
  mail.epoch = 9;
  mail.cluster = 1;
  EXPECT_FALSE(filter.Accepts(mail));
  mail = SomeMail();
  mail.sender = 4;
  EXPECT_FALSE(filter.Accepts(mail)) << "there is no such shard";
}

}  // namespace
}  // namespace portolan
