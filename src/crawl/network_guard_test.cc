#include "crawl/network_guard.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

class Asked : public FetchPort {
 public:
  void Fetch(FetchTask&&) override {}
  void Resolve(ResolveTask&& task) override { names.push_back(task.name); }
  std::vector<std::string> names;
};

class NetworkGuardTest : public testing::Test {
 protected:
  static uint64_t KeyOf(uint32_t host) { return Mix64(host); }

  // True: it was held.
  bool Fetch(uint32_t host, FetchOutcome outcome) {
    now_ns_ += kSecondNs;
    PageResult result;
    result.id = ++next_id_;
    result.outcome = outcome;
    result.status = 200;
    result.times.begin_ns = now_ns_ - kSecondNs / 2;
    result.times.end_ns = now_ns_;
    const Address address = Address::V4(0x01000000 + host);
    const bool doubtful = guard_.OnFetch(result, KeyOf(host), address, /*enough_hosts=*/true, now_ns_);
    if (doubtful) guard_.Hold(std::move(result), now_ns_);
    return doubtful;
  }
  void Answers(uint32_t hosts) {
    for (uint32_t host = 1; host <= hosts; ++host) EXPECT_FALSE(Fetch(host, FetchOutcome::kAnswered));
  }
  std::vector<FetchOutcome> TakeKnown(bool ending = false) {
    std::vector<FetchOutcome> outcomes;
    while (guard_.NextKnown(ending, now_ns_) != nullptr) outcomes.push_back(guard_.TakeKnown().outcome);
    return outcomes;
  }
  bool Resolved(uint32_t host, FetchOutcome outcome) {
    now_ns_ += kSecondNs;
    Resolution resolution;
    resolution.host = KeyOf(host);
    resolution.outcome = outcome;
    resolution.fresh = true;
    return guard_.OnResolved(resolution, true, now_ns_);
  }

  Asked port_;
  int64_t now_ns_ = 0;
  uint64_t next_id_ = 0;
  NetworkGuard guard_{OutageOptions{.hold_ns = 100 * kSecondNs}, 100, port_};
};

TEST_F(NetworkGuardTest, FailuresOfAnOutageGoBackUnharmedAndOneProbeGoesOut) {
  Answers(20);
  for (uint32_t host = 1; host <= 7; ++host) EXPECT_TRUE(Fetch(host, FetchOutcome::kConnectTimeout));
  EXPECT_TRUE(TakeKnown().empty()) << "no verdict yet";
  EXPECT_TRUE(guard_.MayFetch(now_ns_).fetch);
  EXPECT_TRUE(Fetch(8, FetchOutcome::kConnectTimeout));
  EXPECT_EQ(guard_.TakeNewOutages(), 1U);
  EXPECT_EQ(guard_.TakeNewOutages(), 0U);
  EXPECT_EQ(TakeKnown(), std::vector<FetchOutcome>(8, FetchOutcome::kNetworkDown));
  const NetworkGuard::Permit wait = guard_.MayFetch(now_ns_);
  EXPECT_FALSE(wait.fetch);
  now_ns_ = wait.again_ns;
  EXPECT_TRUE(guard_.MayFetch(now_ns_).fetch);
  EXPECT_TRUE(guard_.MayFetch(now_ns_).probe_only);
  guard_.ProbeBegan(++next_id_);
  EXPECT_FALSE(guard_.MayFetch(now_ns_ + 3600 * kSecondNs).fetch) << "one at a time";
  EXPECT_FALSE(Fetch(9, FetchOutcome::kAnswered));
  EXPECT_TRUE(guard_.MayFetch(now_ns_).fetch);
  EXPECT_FALSE(guard_.MayFetch(now_ns_).probe_only);
}

TEST_F(NetworkGuardTest, InnocentFailuresAreTakenAsTheyAre) {
  Answers(20);
  EXPECT_TRUE(Fetch(1, FetchOutcome::kConnectTimeout));
  EXPECT_NE(guard_.first_held(), nullptr);
  EXPECT_EQ(guard_.NextWake(/*room=*/true), now_ns_ + 100 * kSecondNs);
  EXPECT_EQ(guard_.NextWake(/*room=*/false), NetworkGuard::kNever) << "the end of a round wakes the shard then";
  EXPECT_FALSE(Fetch(2, FetchOutcome::kAnswered));
  EXPECT_EQ(TakeKnown(), std::vector<FetchOutcome>{FetchOutcome::kConnectTimeout});
  EXPECT_TRUE(Fetch(3, FetchOutcome::kConnectTimeout));
  now_ns_ += 100 * kSecondNs;
  EXPECT_EQ(TakeKnown(), std::vector<FetchOutcome>{FetchOutcome::kConnectTimeout}) << "its time is up";
  EXPECT_TRUE(Fetch(4, FetchOutcome::kConnectTimeout));
  EXPECT_EQ(TakeKnown(/*ending=*/true), std::vector<FetchOutcome>{FetchOutcome::kNetworkDown});
}

TEST_F(NetworkGuardTest, AShortageLowersTheConnectionsAndTimeRaisesThem) {
  now_ns_ = 1000 * kSecondNs;
  EXPECT_TRUE(guard_.OnShortage(40, now_ns_));
  EXPECT_FALSE(guard_.OnShortage(39, now_ns_)) << "the same one";
  EXPECT_EQ(guard_.connections(), 39U);
  EXPECT_FALSE(guard_.MayFetch(now_ns_).fetch);
  EXPECT_EQ(guard_.MayFetch(now_ns_).again_ns, now_ns_ + kSecondNs);
  now_ns_ += kSecondNs;
  EXPECT_TRUE(guard_.MayFetch(now_ns_).fetch);
  EXPECT_EQ(guard_.connections(), 39U);
  uint32_t before = 39;
  for (int i = 0; i < 20; ++i) {
    now_ns_ += 10 * kSecondNs;
    EXPECT_TRUE(guard_.MayFetch(now_ns_).fetch);
    EXPECT_GE(guard_.connections(), before);
    before = guard_.connections();
  }
  EXPECT_EQ(guard_.connections(), 100U);
}

TEST_F(NetworkGuardTest, NamesWaitForTheNetwork) {
  Answers(20);
  guard_.AskName(KeyOf(50), "a.example");
  EXPECT_EQ(port_.names, std::vector<std::string>{"a.example"});
  EXPECT_TRUE(Resolved(50, FetchOutcome::kAnswered));
  EXPECT_EQ(guard_.NameOf(KeyOf(50)), "a.example");
  guard_.Forget(KeyOf(50), false);
  EXPECT_FALSE(guard_.asks_names());
  EXPECT_FALSE(Resolved(50, FetchOutcome::kAnswered)) << "no host waits for it";
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  ASSERT_TRUE(guard_.outage().connections_down());
  port_.names.clear();
  guard_.AskName(KeyOf(51), "b.example");
  EXPECT_TRUE(port_.names.empty());
  EXPECT_TRUE(guard_.asks_names());
  Fetch(9, FetchOutcome::kAnswered);
  guard_.AskWaiting(now_ns_);
  EXPECT_EQ(port_.names, std::vector<std::string>{"b.example"});
}

}  // namespace
}  // namespace portolan
