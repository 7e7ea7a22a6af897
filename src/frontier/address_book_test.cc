// Leases of addresses: the book alone, and several frontiers that share addresses through it.

#include "frontier/address_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
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
  explicit AddressBookTest(const AddressBook::Terms& terms = {}) : book_(key_, terms) {}

  std::vector<AddressMail> Wanted(uint32_t shard, uint64_t session = 1, int64_t now_ns = 0, int64_t asked_ns = 0,
                                  int64_t free_in_ns = 0) {
    std::vector<AddressMail> out;
    book_.OnWanted(shard, {Kind::kWanted, address_, session, asked_ns, free_in_ns}, now_ns, out);
    return out;
  }
  std::vector<AddressMail> Returned(uint32_t shard, int64_t free_in_ns, int64_t now_ns, uint64_t session = 1) {
    std::vector<AddressMail> out;
    book_.OnReturned(shard, {Kind::kReturned, address_, session, 0, free_in_ns}, now_ns, out);
    return out;
  }
  static AddressMail Granted(uint32_t shard, uint64_t session = 1, int64_t asked_ns = 0, int64_t free_in_ns = 0) {
    return {shard, {Kind::kGranted, Address::V4(0x7f000001), session, asked_ns, free_in_ns}};
  }
  static AddressMail Recalled(uint32_t shard, uint64_t session = 1) {
    return {shard, {Kind::kRecalled, Address::V4(0x7f000001), session, 0, 0}};
  }
  static void ExpectMail(const std::vector<AddressMail>& out, const std::vector<AddressMail>& expected) {
    ASSERT_EQ(out.size(), expected.size());
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].shard, expected[i].shard) << i;
      EXPECT_EQ(out[i].notice, expected[i].notice)
          << i << ": kind " << static_cast<int>(out[i].notice.kind) << ", free in " << out[i].notice.free_in_ns;
    }
  }

  const HashKey key_ = HashKey::Known();
  const Address address_ = Address::V4(0x7f000001);
  AddressBook book_;
};

TEST_F(AddressBookTest, TheFirstHasItAtOnceAndTheOthersInTheirOrder) {
  ExpectMail(Wanted(2), {Granted(2)});
  ExpectMail(Wanted(0), {Recalled(2)});
  ExpectMail(Wanted(1), {});  // the holder knows already
  // Shard 1 still waits behind 0.
  ExpectMail(Returned(2, 600, 100), {Granted(0, 1, 0, 600), Recalled(0)});
  ExpectMail(Returned(0, 100, 800), {Granted(1, 1, 0, 100)});
}

TEST_F(AddressBookTest, AClockIsKeptUntilItHasPassedAndNoLonger) {
  Wanted(0);
  Returned(0, 400, 100);
  ExpectMail(Wanted(1, 1, 200), {Granted(1, 1, 0, 300)});
  Returned(1, 0, 1000);
  EXPECT_EQ(book_.size(), 0U);
}

// Leases of 1000, questions every 100, hits of at most 300.
class EndingLeasesTest : public AddressBookTest {
 protected:
  EndingLeasesTest() : AddressBookTest({.lease_ns = 1000, .retry_ns = 100, .after_ns = 300}) {}
  static constexpr int64_t kLent = 1015;  // as the owner counts it
};

TEST_F(EndingLeasesTest, ALeaseThatNobodyReturnsEndsByItselfAndTheLastHitHasItsTime) {
  ExpectMail(Wanted(0, 1, 50, 7), {Granted(0, 1, 7)});
  ExpectMail(Wanted(1, 1, 1000), {Recalled(0)});
  ExpectMail(Wanted(1, 1, 50 + kLent - 1), {Recalled(0)});  // told again: the first may be lost
  ExpectMail(Wanted(1, 1, 50 + kLent, 90), {Granted(1, 1, 90, 300)});
}

TEST_F(EndingLeasesTest, TheHolderGetsMoreTimeUntilAnotherWaits) {
  ExpectMail(Wanted(0, 1, 0, 0), {Granted(0)});
  ExpectMail(Wanted(0, 1, 500, 500), {Granted(0, 1, 500)});
  ExpectMail(Wanted(1, 1, 600), {Recalled(0)});
  ExpectMail(Wanted(1, 1, 900), {Recalled(0)});
  // The time of the last question before the other one came.
  ExpectMail(Wanted(0, 1, 1000, 1000), {Granted(0, 1, 500), Recalled(0)});
  ExpectMail(Wanted(1, 1, 500 + kLent - 1), {Recalled(0)});
  ExpectMail(Wanted(1, 1, 500 + kLent), {Granted(1, 1, 0, 300)});
}

TEST_F(EndingLeasesTest, ALostAnswerIsRepeated) {
  ExpectMail(Wanted(0, 1, 0, 0), {Granted(0)});
  ExpectMail(Wanted(0, 1, 100, 100), {Granted(0, 1, 100)});
}

TEST_F(EndingLeasesTest, ANewSessionOfTheSameProcessEndsTheOldOneWithItsClock) {
  ExpectMail(Wanted(0, 1, 0, 0), {Granted(0)});
  ExpectMail(Wanted(0, 2, 200, 200, 640), {Granted(0, 2, 200, 650)});  // by another clock
}

TEST_F(EndingLeasesTest, TheNextProcessOfAShardWaitsForTheLeaseOfTheOneBefore) {
  ExpectMail(Wanted(0, FirstSession(1), 0, 0), {Granted(0, FirstSession(1))});
  ExpectMail(Wanted(0, FirstSession(2), 500, 9), {Recalled(0, FirstSession(1))});
  ExpectMail(Wanted(0, FirstSession(2), kLent, 9), {Granted(0, FirstSession(2), 9, 300)});
}

TEST_F(EndingLeasesTest, NoticesOfSessionsThatAreOverDoNothing) {
  Wanted(0, 5, 0, 0);
  ExpectMail(Returned(0, 0, 10, 4), {});
  ExpectMail(Wanted(0, 4, 20), {});
  ExpectMail(Returned(1, 0, 30, 5), {});
  ExpectMail(Wanted(1, 1, 40), {Recalled(0, 5)});
  ExpectMail(Returned(0, 0, 50, 5), {Granted(1, 1, 0, 0)});
  ExpectMail(Returned(0, 0, 60, 5), {});
}

TEST_F(EndingLeasesTest, WhoStoppedAskingIsNotServed) {
  Wanted(0, 1, 0);
  Wanted(1, 1, 10);
  Wanted(2, 1, 250);
  ExpectMail(Returned(0, 0, 320), {Granted(2)});
}

TEST_F(EndingLeasesTest, AnOwnerThatBeganAnewIsQuietFirst) {
  book_.SetQuietUntil(2000);
  ExpectMail(Wanted(0, 1, 1000), {});
  ExpectMail(Wanted(1, 1, 1900), {});
  ExpectMail(Wanted(1, 1, 2000), {Granted(1)});  // shard 0 did not ask again
}

// Several frontiers with hosts at a few addresses. Notices take a random time, in their order per pair; or, between
// machines, in any order, and some are lost or come twice, clocks begin and run differently, and shards die.
class SharedAddressesTest : public testing::Test {
 protected:
  static constexpr uint32_t kShards = 3;
  static constexpr uint32_t kAddresses = 4;
  static constexpr int64_t kHold = 400 * kMs;

  explicit SharedAddressesTest(bool machines = false) : machines_(machines) {}

  void SetUp() override {
    frontiers_.resize(kShards);
    envs_.resize(kShards);
    left_.resize(kShards);
    for (uint32_t shard = 0; shard < kShards; ++shard) Open(shard);
  }

  // A new process, without the memory of the one before.
  void Open(uint32_t shard) {
    envs_[shard] = std::make_unique<MemEnv>();
    auto manifest = Manifest::Open(*envs_[shard], "state");
    ASSERT_TRUE(manifest);
    FrontierOptions options;
    options.memory = 4 << 20;
    options.back_queues = 64;
    options.key = key_;
    options.shards = kShards;
    options.shard = shard;
    options.politeness.ip_hold_max_ns = kHold;
    if (machines_) {
      options.lease_ns = 3'000 * kMs;
      options.lease_retry_ns = 300 * kMs;
      options.epoch = ++epochs_;
    }
    auto frontier = Frontier::Open(*envs_[shard], *manifest, options, Local(shard), 0);
    ASSERT_TRUE(frontier);
    frontiers_[shard] = *std::move(frontier);
    for (const std::string& url : left_[shard]) AddUrl(shard, url);
  }

  // What the clock of that machine says.
  int64_t Local(uint32_t shard) const {
    if (!machines_) return now_ns_;
    const int64_t speed = shard == 0 ? 1000 : shard == 1 ? 990 : 1005;
    return now_ns_ / 1000 * speed + static_cast<int64_t>(shard) * 77'000'000'000;
  }

  void AddUrl(uint32_t shard, const std::string& url) {
    UrlRecord record;
    record.url = url;
    ASSERT_TRUE(frontiers_[shard]->Add(record));
  }

  void Add(uint32_t shard, int host, int urls) {
    const std::string name = "h" + std::to_string(host) + ".test";
    for (int i = 0; i < urls; ++i) {
      const std::string url = "http://" + name + "/" + std::to_string(i);
      left_[shard].insert(url);
      AddUrl(shard, url);
      ++urls_;
    }
  }

  void Kill(uint32_t shard) {
    std::erase_if(requests_, [&](const Request& request) {
      if (request.shard == shard) last_end_[request.address.ToString()] = now_ns_;
      return request.shard == shard;
    });
    Open(shard);
  }

  struct Request {
    uint32_t shard;
    SlotId slot;
    Address address;
    int64_t end_ns;
    std::string url;
  };

  void SendMail(uint32_t from) {
    for (const AddressMail& mail : frontiers_[from]->TakeAddressMail(now_ns_)) {
      ASSERT_NE(mail.shard, from);
      ++notices_;
      const int copies = machines_ ? static_cast<int>(1 - (random_() % 8 == 0) + (random_() % 8 == 0)) : 1;
      for (int i = 0; i < copies; ++i) {
        // Now and then one is very late.
        const int64_t late = machines_ && random_() % 50 == 0 ? 5'000 : 20;
        mail_[{from, mail.shard}].push_back({now_ns_ + static_cast<int64_t>(random_() % late) * kMs, mail.notice});
      }
    }
  }

  void Step() {
    for (auto& [way, notices] : mail_) {
      for (size_t i = 0; i < notices.size();) {
        if (notices[i].first > now_ns_) {
          if (!machines_) break;  // in their order
          ++i;
          continue;
        }
        const AddressNotice notice = notices[i].second;
        notices.erase(notices.begin() + static_cast<ptrdiff_t>(i));
        frontiers_[way.second]->OnAddressNotice(way.first, notice, Local(way.second));
      }
    }
    for (size_t i = 0; i < requests_.size();) {
      if (requests_[i].end_ns > now_ns_) {
        ++i;
        continue;
      }
      const Request request = requests_[i];
      requests_.erase(requests_.begin() + static_cast<ptrdiff_t>(i));
      frontiers_[request.shard]->Finish(request.slot, {}, Local(request.shard));
      last_end_[request.address.ToString()] = now_ns_;
      left_[request.shard].erase(request.url);
      ++fetched_;
    }
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      for (;;) {
        auto next = frontiers_[shard]->Next(Local(shard), now_ns_);
        ASSERT_TRUE(next);
        if (next->kind == Dispatch::Kind::kWait) break;
        if (next->kind == Dispatch::Kind::kResolve) {
          Resolution found;
          found.host = next->host;
          found.addresses = {Address::V4(0x7f000001 + static_cast<uint32_t>(next->host % kAddresses))};
          found.ttl_s = 1000;
          frontiers_[shard]->OnResolved(found, Local(shard));
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
      // A clock that is fast shortens its own gaps.
      EXPECT_GE(now_ns_ - last->second, PolitenessOptions().ip_delay_ns / 1000 * (machines_ ? 990 : 1000)) << address;
    }
    if (last_shard_[address] != shard) ++turns_;
    last_shard_[address] = shard;
    const int64_t took = static_cast<int64_t>(1 + random_() % 100) * kMs;
    requests_.push_back({shard, dispatch.slot, dispatch.address, now_ns_ + took, std::string(dispatch.record.url)});
  }

  const bool machines_;
  const HashKey key_ = HashKey::Known();
  std::mt19937_64 random_{7};
  std::vector<std::set<std::string>> left_;  // by shard: URLs to be fetched
  uint64_t epochs_ = 0;
  int notices_ = 0;
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

TEST_F(SharedAddressesTest, AnAddressThatNobodyElseWantsCostsTwoNotices) {
  Add(0, 1, 40);
  Add(0, 2, 40);
  for (int step = 0; step < 100'000 && fetched_ < urls_; ++step) Step();
  EXPECT_EQ(fetched_, urls_);
  EXPECT_LE(notices_, 4) << "two addresses, of which this shard may own one";
}

class LossyLeasesTest : public SharedAddressesTest, public testing::WithParamInterface<int> {
 protected:
  LossyLeasesTest() : SharedAddressesTest(true) { random_.seed(static_cast<uint64_t>(GetParam())); }

  bool AllFetched() const {
    return std::ranges::all_of(left_, [](const auto& urls) { return urls.empty(); });
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, LossyLeasesTest, testing::Range(1, 9));

TEST_P(LossyLeasesTest, TheGapHoldsWhateverIsLostAndWhoeverDies) {
  for (int host = 0; host < 30; ++host) Add(static_cast<uint32_t>(host) % kShards, host, 8);
  int deaths = 0;
  for (int step = 0; step < 40'000 && !AllFetched(); ++step) {
    Step();
    if (HasFailure()) return;
    if (random_() % 2500 == 0 && deaths < 6) {
      Kill(static_cast<uint32_t>(random_() % kShards));
      ++deaths;
    }
  }
  EXPECT_TRUE(AllFetched()) << fetched_ << " of " << urls_;
  EXPECT_GT(turns_, urls_ / 10) << "shards took turns at the addresses";
}

}  // namespace
}  // namespace portolan
