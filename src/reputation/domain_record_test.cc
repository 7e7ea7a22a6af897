#include "reputation/domain_record.h"

#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"
#include "io/rng.h"

namespace portolan {
namespace {

using namespace std::string_view_literals;

const BudgetTable kTen = BudgetTable::Equal(10);

// The places of URLs one after the other, with the record stored between them as DRUM stores it.
struct Domain {
  std::optional<DomainRecord> stored;

  BucketPlace Url(uint32_t tick, uint16_t horizon, uint16_t price = 1, const BudgetTable& budgets = kTen) {
    const DomainRecord before = stored.value_or(DomainRecord());
    const BucketPlace place = PlaceInBucket(before, {tick, horizon, price}, budgets.BudgetOf(before.in_degree));
    Take(UrlTuple({tick, horizon, price}, true), budgets);
    EXPECT_EQ(stored->used, place.used) << "the round and the owner differ";
    EXPECT_EQ(stored->tick, place.tick);
    return place;
  }
  void Vouch() { Take(VouchTuple(), kTen); }
  void Link(const BudgetTable& budgets = kTen) { Take(InDegreeTuple(), budgets); }

 private:
  void Take(const DomainRecord& tuple, const BudgetTable& budgets) {
    if (stored) {
      CombineDomain(*stored, tuple, budgets);
    } else {
      stored = tuple;
    }
  }
};

TEST(DomainRecordTest, BytesAreThoseOfTheFormatPage) {
  const DomainRecord record{.in_degree = 0x01020304,
                            .passed = 0x11121314,
                            .used = 0x21222324,
                            .tick = 0x31323334,
                            .horizon = 0x4142,
                            .price = 0x5152,
                            .vouched = 0x61626364,
                            .fetched = 0x71727374,
                            .failed = 0x01020384};
  const std::string bytes = EncodeDomainRecord(record);
  EXPECT_EQ(bytes,
            "\x04\x03\x02\x01\x14\x13\x12\x11\x24\x23\x22\x21\x34\x33\x32\x31\x42\x41\x52\x51\x64\x63\x62\x61"
            "\x74\x73\x72\x71\x84\x03\x02\x01"sv);
  EXPECT_EQ(DecodeDomainRecord(bytes), record);
  const std::string zeros(32, '\0');
  const auto with = [&](size_t offset, char byte) { return std::string(zeros).replace(offset, 1, 1, byte); };
  EXPECT_EQ(EncodeDomainRecord(VouchTuple()), with(20, '\1'));
  EXPECT_EQ(EncodeDomainRecord(InDegreeTuple()), with(0, '\1'));
  EXPECT_EQ(EncodeDomainRecord(EndsTuple(2, 0)), with(24, '\2'));
  EXPECT_EQ(EncodeDomainRecord(EndsTuple(0, 3)), with(28, '\3'));
}

TEST(DomainRecordTest, AuxBytesAreThoseOfTheFormatPage) {
  StarAux aux{.url = {.tick = 7, .horizon = 16, .price = 1},
              .fresh = true,
              .pld = 0x0807060504030201,
              .pld_name = "example.org",
              .record = "record"};
  std::string bytes;
  EncodeStarAux(aux, bytes);
  EXPECT_EQ(bytes,
            "\x07\0\0\0\x10\0\x01\0\x01\x01\x02\x03\x04\x05\x06\x07\x08\x0b"
            "example.orgrecord"sv);
  EXPECT_EQ(DecodeStarAux(bytes), aux);
  aux.fresh = false;
  aux.pld = 0;
  aux.pld_name = {};
  EncodeStarAux(aux, bytes);
  EXPECT_EQ(bytes, "\x07\0\0\0\x10\0\x01\0\0record"sv);
  EXPECT_EQ(DecodeStarAux(bytes), aux);
}

TEST(DomainRecordTest, DamagedAuxIsRefused) {
  std::string bytes;
  EncodeStarAux({.url = {1, 2, 3}, .fresh = true, .pld = 5, .pld_name = "a.org", .record = ""}, bytes);
  ASSERT_TRUE(DecodeStarAux(bytes));
  std::string shortest;
  EncodeStarAux({.url = {1, 2, 3}, .fresh = false, .pld = 0, .pld_name = {}, .record = ""}, shortest);
  EXPECT_GT(shortest.size(), kVouchAuxSize) << "or it would be taken for a vouch";
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut(bytes, 0, length);
    EXPECT_FALSE(DecodeStarAux(cut)) << length;
  }
  bytes[8] = 2;
  EXPECT_FALSE(DecodeStarAux(bytes)) << "neither fresh nor not";
  bytes[8] = 1;
  bytes[6] = bytes[7] = 0;
  EXPECT_FALSE(DecodeStarAux(bytes)) << "no price";
}

TEST(BucketTest, EachQueueTakesABudgetOfUrls) {
  Domain domain;
  for (uint32_t i = 0; i < 40; ++i) {
    const BucketPlace place = domain.Url(3, 4);
    EXPECT_EQ(place.place, i / 10);
    EXPECT_FALSE(place.later);
  }
  for (int i = 0; i < 5; ++i) {
    const BucketPlace place = domain.Url(3, 4);
    EXPECT_TRUE(place.later);
    EXPECT_EQ(place.place, 4U);
  }
  EXPECT_EQ(domain.stored->used, 40U) << "what waits in Q_F takes no room";
  EXPECT_EQ(domain.stored->passed, 45U);
}

TEST(BucketTest, EveryTickLeaksTheBudget) {
  Domain domain;
  for (int i = 0; i < 40; ++i) domain.Url(3, 4);
  EXPECT_TRUE(domain.Url(3, 4).later);
  EXPECT_EQ(domain.Url(4, 4).place, 3U) << "the queue behind the others has come into reach, and is empty";
  for (int i = 0; i < 9; ++i) EXPECT_EQ(domain.Url(4, 4).place, 3U);
  EXPECT_TRUE(domain.Url(4, 4).later);
  EXPECT_EQ(domain.Url(6, 4).place, 2U);
  EXPECT_EQ(domain.Url(1000, 4).place, 0U);
  EXPECT_EQ(domain.stored->used, 1U);
  EXPECT_EQ(domain.Url(~uint32_t{0}, 4).place, 0U);
  EXPECT_EQ(domain.stored->used, 1U);
}

TEST(BucketTest, AUrlWithAnOldTickIsPlacedFromTheNewestTick) {
  Domain domain;
  for (int i = 0; i < 25; ++i) domain.Url(7, 8);
  const BucketPlace place = domain.Url(5, 8);
  EXPECT_EQ(place.tick, 7U);
  EXPECT_EQ(place.place, 2U);
  EXPECT_EQ(domain.stored->tick, 7U);
}

TEST(BucketTest, APriceTakesThatMuchRoom) {
  Domain domain;
  EXPECT_EQ(domain.Url(0, 4, 25).place, 0U);
  EXPECT_EQ(domain.Url(0, 4, 5).place, 2U);
  EXPECT_EQ(domain.Url(0, 4, 60'000).place, 3U) << "room for it begins there; it may reach beyond the horizon";
  EXPECT_TRUE(domain.Url(0, 4).later);
}

TEST(BucketTest, WithoutQueuesEverythingWaits) {
  Domain domain;
  EXPECT_TRUE(domain.Url(0, 0).later);
  EXPECT_EQ(domain.stored->used, 0U);
  EXPECT_TRUE(domain.Url(0, 0).later);
  EXPECT_EQ(domain.stored->used, 0U);
  EXPECT_EQ(domain.stored->passed, 2U);
}

TEST(BucketTest, RisingReputationMovesLaterUrlsForward) {
  const BudgetTable budgets =
      BudgetTable::Make({{.from = 0, .budget = 10, .rise = 0}, {.from = 3, .budget = 100, .rise = 0}}).value();
  Domain domain;
  for (int i = 0; i < 40; ++i) domain.Url(0, 4, 1, budgets);
  EXPECT_TRUE(domain.Url(0, 4, 1, budgets).later);
  domain.Link(budgets);
  domain.Link(budgets);
  EXPECT_TRUE(domain.Url(0, 4, 1, budgets).later);
  domain.Link(budgets);
  EXPECT_EQ(domain.stored->in_degree, 3U);
  const BucketPlace place = domain.Url(0, 4, 1, budgets);
  EXPECT_FALSE(place.later);
  EXPECT_EQ(place.place, 0U);
}

TEST(BucketTest, LinksBeforeTheFirstUrlChangeNothingInTheBucket) {
  Domain linked;
  linked.Link();
  linked.Link();
  EXPECT_EQ(linked.Url(9, 4).place, 0U);
  Domain plain;
  plain.Url(9, 4);
  EXPECT_EQ(linked.stored->used, plain.stored->used);
  EXPECT_EQ(linked.stored->tick, plain.stored->tick);
  EXPECT_EQ(linked.stored->in_degree, 2U);
}

TEST(DomainRecordTest, EndsAreCountedAndStayAtTheirLargestValue) {
  constexpr uint32_t kMost = ~uint32_t{0};
  DomainRecord record;
  record.passed = 10;
  record.used = 7;
  const DomainRecord before = record;
  CombineDomain(record, EndsTuple(1, 0), kTen);
  CombineDomain(record, EndsTuple(0, 3), kTen);
  EXPECT_EQ(record.fetched, 1U);
  EXPECT_EQ(record.failed, 3U);
  EXPECT_EQ(record.waiting(), 6U);
  CombineDomain(record, EndsTuple(7, 0), kTen);
  EXPECT_EQ(record.waiting(), 0U);
  CombineDomain(record, EndsTuple(kMost - 3, kMost), kTen);
  EXPECT_EQ(record.fetched, kMost);
  EXPECT_EQ(record.failed, kMost);
  EXPECT_EQ(record.waiting(), 0U);
  record.fetched = record.failed = 0;
  EXPECT_EQ(record, before) << "and nothing else changes";
}

TEST(BucketTest, VouchesBeforeTheFirstUrlChangeNothingButTheirCount) {
  Domain vouching;
  vouching.Vouch();
  vouching.Vouch();
  EXPECT_EQ(*vouching.stored, (DomainRecord{.in_degree = 0,
                                            .passed = 0,
                                            .used = 0,
                                            .tick = 0,
                                            .horizon = 0,
                                            .price = 0,
                                            .vouched = 2,
                                            .fetched = 0,
                                            .failed = 0}));
  EXPECT_EQ(vouching.Url(9, 4).place, 0U);
  Domain plain;
  plain.Url(9, 4);
  plain.stored->vouched = 2;
  EXPECT_EQ(*vouching.stored, *plain.stored);
}

TEST(BucketTest, CountsStayAtTheirLargestValue) {
  DomainRecord record{
      .in_degree = ~uint32_t{0}, .passed = ~uint32_t{0}, .used = 0, .tick = 0, .horizon = 0, .price = 0, .vouched = 0};
  CombineDomain(record, VouchTuple(), kTen);
  EXPECT_EQ(record.vouched, 1U);
  record.vouched = ~uint32_t{0};
  CombineDomain(record, VouchTuple(), kTen);
  EXPECT_EQ(record.vouched, ~uint32_t{0});
  CombineDomain(record, InDegreeTuple(), kTen);
  CombineDomain(record, UrlTuple({1, 4, 1}, true), kTen);
  EXPECT_EQ(record.in_degree, ~uint32_t{0});
  EXPECT_EQ(record.passed, ~uint32_t{0});
}

TEST(BucketTest, TheLargestNumbersDoNotOverflow) {
  const BudgetTable budgets = BudgetTable::Equal(kMaxBudget);
  Domain domain;
  uint64_t total = 0;
  while (true) {
    const BucketPlace place = domain.Url(0, 65'535, 65'535, budgets);
    if (place.later) break;
    ASSERT_EQ(place.place, total / kMaxBudget);
    total += 65'535;
    ASSERT_EQ(place.used, total);
  }
  EXPECT_EQ(total, uint64_t{65'535} * 65'535);
  // A damaged record may hold any values.
  const DomainRecord damaged{
      .in_degree = 0, .passed = 0, .used = ~uint32_t{0}, .tick = 0, .horizon = 0, .price = 0, .vouched = 0};
  EXPECT_EQ(PlaceInBucket(damaged, {0, 65'535, 65'535}, kMaxBudget).used, ~uint32_t{0});
}

// No queue gets more than a budget and one price, whatever comes and when.
TEST(BucketTest, NoQueueGetsMoreThanABudget) {
  Rng rng(11);
  for (int run = 0; run < 50; ++run) {
    Domain domain;
    const auto horizon = static_cast<uint16_t>(1 + rng.Below(20));
    std::map<uint64_t, uint64_t> queues;
    uint32_t tick = 0;
    for (int i = 0; i < 2000; ++i) {
      if (rng.Chance(0.02)) tick += static_cast<uint32_t>(rng.Below(4));
      const BucketPlace place = domain.Url(tick, horizon);
      if (place.later) continue;
      ASSERT_LT(place.place, horizon);
      ASSERT_LE(++queues[uint64_t{place.tick} + 1 + place.place], 10U);
    }
  }
}

}  // namespace
}  // namespace portolan
