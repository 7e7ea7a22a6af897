// Leases of addresses: the book alone, and several frontiers that share addresses through it.

#include "frontier/address_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "disk/manifest.h"
#include "frontier/frontier.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using Kind = AddressNotice::Kind;

constexpr int64_t kMs = 1'000'000;

class AddressBookTest : public testing::Test {
 protected:
  std::vector<AddressMail> Wanted(uint32_t shard) {
    std::vector<AddressMail> out;
    book_.OnWanted(shard, address_, out);
    return out;
  }
  std::vector<AddressMail> Returned(uint32_t shard, int64_t free_ns, int64_t now_ns) {
    std::vector<AddressMail> out;
    book_.OnReturned(shard, address_, free_ns, now_ns, out);
    return out;
  }

  const HashKey key_ = HashKey::Known();
  const Address address_ = Address::V4(0x7f000001);
  AddressBook book_{key_};
};

TEST_F(AddressBookTest, TheFirstHasItAtOnceAndTheOthersInTheirOrder) {
  auto out = Wanted(2);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].shard, 2U);
  EXPECT_EQ(out[0].notice.kind, Kind::kGranted);

  out = Wanted(0);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].shard, 2U);
  EXPECT_EQ(out[0].notice.kind, Kind::kRecalled);
  EXPECT_TRUE(Wanted(1).empty()) << "the holder knows already";

  out = Returned(2, 700, 100);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].shard, 0U);
  EXPECT_EQ(out[0].notice.kind, Kind::kGranted);
  EXPECT_EQ(out[0].notice.free_ns, 700);
  EXPECT_EQ(out[1].shard, 0U);
  EXPECT_EQ(out[1].notice.kind, Kind::kRecalled) << "shard 1 still waits";

  out = Returned(0, 900, 800);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].shard, 1U);
  EXPECT_EQ(out[0].notice.free_ns, 900);
}

TEST_F(AddressBookTest, AClockIsKeptUntilItHasPassedAndNoLonger) {
  Wanted(0);
  Returned(0, 500, 100);
  auto out = Wanted(1);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].notice.free_ns, 500);
  Returned(1, 600, 1000);
  EXPECT_EQ(book_.size(), 0U);
}

// Several frontiers with hosts at a few addresses. Notices take a random time, in their order per pair.
class SharedAddressesTest : public testing::Test {
 protected:
  static constexpr uint32_t kShards = 3;
  static constexpr uint32_t kAddresses = 4;

  void SetUp() override {
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      envs_.push_back(std::make_unique<MemEnv>());
      auto manifest = Manifest::Open(*envs_.back(), "state");
      ASSERT_TRUE(manifest);
      FrontierOptions options;
      options.memory = 4 << 20;
      options.back_queues = 64;
      options.key = key_;
      options.shards = kShards;
      options.shard = shard;
      auto frontier = Frontier::Open(*envs_.back(), *manifest, options, 0, 0);
      ASSERT_TRUE(frontier);
      frontiers_.push_back(*std::move(frontier));
    }
  }

  void Add(uint32_t shard, int host, int urls) {
    const std::string name = "h" + std::to_string(host) + ".test";
    for (int i = 0; i < urls; ++i) {
      UrlRecord record;
      const std::string url = "http://" + name + "/" + std::to_string(i);
      record.url = url;
      ASSERT_TRUE(frontiers_[shard]->Add(record));
      ++urls_;
    }
  }

  struct Request {
    uint32_t shard;
    SlotId slot;
    Address address;
    int64_t end_ns;
  };

  void SendMail(uint32_t from) {
    for (const AddressMail& mail : frontiers_[from]->TakeAddressMail()) {
      ASSERT_NE(mail.shard, from);
      mail_[{from, mail.shard}].push_back({now_ns_ + static_cast<int64_t>(random_() % 20) * kMs, mail.notice});
    }
  }

  void Step() {
    for (auto& [way, notices] : mail_) {
      while (!notices.empty() && notices.front().first <= now_ns_) {
        const AddressNotice notice = notices.front().second;
        notices.pop_front();
        frontiers_[way.second]->OnAddressNotice(way.first, notice, now_ns_);
      }
    }
    for (size_t i = 0; i < requests_.size();) {
      if (requests_[i].end_ns > now_ns_) {
        ++i;
        continue;
      }
      const Request request = requests_[i];
      requests_.erase(requests_.begin() + static_cast<ptrdiff_t>(i));
      frontiers_[request.shard]->Finish(request.slot, {}, now_ns_);
      last_end_[request.address.ToString()] = now_ns_;
      ++fetched_;
    }
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      for (;;) {
        auto next = frontiers_[shard]->Next(now_ns_, now_ns_);
        ASSERT_TRUE(next);
        if (next->kind == Dispatch::Kind::kWait) break;
        if (next->kind == Dispatch::Kind::kResolve) {
          Resolution found;
          found.host = next->host;
          found.addresses = {Address::V4(0x7f000001 + static_cast<uint32_t>(next->host % kAddresses))};
          found.ttl_s = 1000;
          frontiers_[shard]->OnResolved(found, now_ns_);
        } else if (next->kind == Dispatch::Kind::kFetch) {
          OnHit(shard, *next);
        }
      }
      ASSERT_TRUE(frontiers_[shard]->CheckInvariants());
      SendMail(shard);
    }
    now_ns_ += 5 * kMs;
  }

  void OnHit(uint32_t shard, const Dispatch& dispatch) {
    const std::string address = dispatch.address.ToString();
    for (const Request& other : requests_) EXPECT_NE(other.address, dispatch.address) << "two at one time";
    if (const auto last = last_end_.find(address); last != last_end_.end()) {
      EXPECT_GE(now_ns_ - last->second, PolitenessOptions().ip_delay_ns) << address;
    }
    if (last_shard_[address] != shard) ++turns_;
    last_shard_[address] = shard;
    const int64_t took = static_cast<int64_t>(1 + random_() % 100) * kMs;
    requests_.push_back({shard, dispatch.slot, dispatch.address, now_ns_ + took});
  }

  const HashKey key_ = HashKey::Known();
  std::mt19937_64 random_{7};
  std::vector<std::unique_ptr<MemEnv>> envs_;
  std::vector<std::unique_ptr<Frontier>> frontiers_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::pair<int64_t, AddressNotice>>> mail_;
  std::vector<Request> requests_;
  std::map<std::string, int64_t> last_end_;
  std::map<std::string, uint32_t> last_shard_;
  int64_t now_ns_ = 1'000'000'000;
  int urls_ = 0;
  int fetched_ = 0;
  int turns_ = 0;
};

TEST_F(SharedAddressesTest, TheGapHoldsAcrossShardsAndEachHasItsTurn) {
  for (int host = 0; host < 30; ++host) Add(static_cast<uint32_t>(host) % kShards, host, 6);
  for (int step = 0; step < 100'000 && fetched_ < urls_; ++step) Step();
  EXPECT_EQ(fetched_, urls_);
  EXPECT_GT(turns_, urls_ / 3) << "shards took turns at the addresses";
  // At most one hit per address in tau_s, and not much less.
  const double least_s = 0.5 * urls_ / kAddresses;
  EXPECT_LT(static_cast<double>(now_ns_) * 1e-9, 4 * least_s);
}

}  // namespace
}  // namespace portolan
