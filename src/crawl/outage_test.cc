#include "crawl/outage.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

class OutageTest : public testing::Test {
 protected:
  // Hosts are numbers; each has an address of its own unless told otherwise.
  void Fetch(uint32_t host, FetchOutcome outcome) { FetchAt(host, host, outcome); }
  void FetchAt(uint32_t host, uint32_t address, FetchOutcome outcome) {
    now_ns_ += kSecondNs;
    outage_.OnFetch(KeyOf(host), Address::V4(0x01000000 + address), outcome, now_ns_, now_ns_);
  }
  void Name(uint32_t host, FetchOutcome outcome, bool fresh = true) {
    now_ns_ += kSecondNs;
    outage_.OnName(KeyOf(host), outcome, fresh, now_ns_);
  }
  void AnswerAll(uint32_t hosts) {
    for (uint32_t host = 1; host <= hosts; ++host) Fetch(host, FetchOutcome::kAnswered);
  }
  static uint64_t KeyOf(uint32_t host) { return Mix64(host); }

  int64_t now_ns_ = 0;
  Outage outage_{OutageOptions{}};
};

TEST_F(OutageTest, HostsThatAnsweredAndFailInARowAreOne) {
  AnswerAll(20);
  for (uint32_t host = 1; host <= 7; ++host) {
    Fetch(host, FetchOutcome::kConnectTimeout);
    EXPECT_FALSE(outage_.down());
    EXPECT_TRUE(outage_.connections_suspicious());
  }
  Fetch(8, FetchOutcome::kUnreachable);
  EXPECT_TRUE(outage_.connections_down());
  EXPECT_FALSE(outage_.names_down());
  EXPECT_EQ(outage_.what(), "no network");
  EXPECT_EQ(outage_.count(), 1U);
  Fetch(9, FetchOutcome::kReset);  // says nothing
  EXPECT_TRUE(outage_.down());
  Fetch(30, FetchOutcome::kTlsCertificate);  // whatever a server says
  EXPECT_FALSE(outage_.down());
  EXPECT_EQ(outage_.what(), "");
  EXPECT_FALSE(outage_.connections_suspicious());
}

TEST_F(OutageTest, AnAnswerInBetweenTakesAllBack) {
  AnswerAll(20);
  for (int round = 0; round < 10; ++round) {
    for (uint32_t host = 1; host <= 7; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
    Fetch(20, FetchOutcome::kAnswered);
  }
  EXPECT_EQ(outage_.count(), 0U);
}

TEST_F(OutageTest, OneThatAnotherShardFoundIsBelievedUntilAnAnswerAndNotCounted) {
  outage_.Believe(true, false, now_ns_);
  EXPECT_TRUE(outage_.connections_down());
  EXPECT_FALSE(outage_.names_down());
  EXPECT_EQ(outage_.count(), 0U);
  EXPECT_FALSE(outage_.fetch_probes().MayProbe(now_ns_));
  EXPECT_TRUE(outage_.fetch_probes().MayProbe(now_ns_ + kSecondNs));
  Fetch(1, FetchOutcome::kAnswered);
  EXPECT_FALSE(outage_.down());
  outage_.Believe(false, true, now_ns_);
  EXPECT_TRUE(outage_.names_down());
  Name(2, FetchOutcome::kAnswered);
  EXPECT_FALSE(outage_.down());
  EXPECT_EQ(outage_.count(), 0U);
}

TEST_F(OutageTest, WithoutDetectionNoOtherShardIsBelieved) {
  Outage off({.hosts = 0});
  off.Believe(true, true, now_ns_);
  EXPECT_FALSE(off.down());
}

TEST_F(OutageTest, OneHostOrOneMachineIsNone) {
  AnswerAll(20);
  for (int i = 0; i < 100; ++i) Fetch(1, FetchOutcome::kConnectRefused);
  EXPECT_FALSE(outage_.down());
  // All hosts of a machine, and of its two neighbours.
  for (uint32_t host = 1; host <= 20; ++host) FetchAt(host, host % 3, FetchOutcome::kConnectTimeout);
  EXPECT_FALSE(outage_.down());
  FetchAt(5, 77, FetchOutcome::kConnectTimeout);
  EXPECT_TRUE(outage_.down());
}

// The end of every large crawl: hosts that never answered are tried once more.
TEST_F(OutageTest, DeadHostsAtTheEndAreNoSurprise) {
  AnswerAll(5);
  for (uint32_t host = 100; host < 1000; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  EXPECT_FALSE(outage_.down());
  EXPECT_FALSE(outage_.connections_suspicious());
  for (int round = 0; round < 3; ++round) {
    for (uint32_t host = 2000; host < 2007; ++host) {
      Name(host, FetchOutcome::kDnsFailed);
      outage_.OnNameGivenUp(KeyOf(host));
    }
  }
  EXPECT_FALSE(outage_.down());
}

TEST_F(OutageTest, WithoutANetworkFromTheStart) {
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kUnreachable);
  EXPECT_TRUE(outage_.down());
}

// Dead hosts whose names resolve are not an outage.
TEST_F(OutageTest, DeadHostsFromTheStartAreNoneWhereNamesResolve) {
  for (uint32_t host = 1; host <= 80; ++host) {
    Name(host, FetchOutcome::kAnswered);
    Fetch(host, FetchOutcome::kConnectRefused);
  }
  EXPECT_FALSE(outage_.down());
}

TEST_F(OutageTest, NamesThatFailFromTheStart) {
  for (uint32_t host = 1; host <= 7; ++host) Name(host, FetchOutcome::kDnsTimeout);
  Name(8, FetchOutcome::kDnsFailed, /*fresh=*/false);
  EXPECT_FALSE(outage_.down());
  Name(8, FetchOutcome::kDnsFailed);
  EXPECT_TRUE(outage_.names_down());
  EXPECT_EQ(outage_.what(), "no name server answers");
  Name(9, FetchOutcome::kAnswered, /*fresh=*/false);
  EXPECT_TRUE(outage_.down()) << "what was remembered proves nothing";
  Name(9, FetchOutcome::kDnsNotFound);
  EXPECT_FALSE(outage_.down());
}

TEST_F(OutageTest, TheWitnessDecidesAboutNames) {
  Name(50, FetchOutcome::kAnswered);
  outage_.SetWitness("fifty.test");
  // A zone whose servers are all broken.
  for (uint32_t host = 1; host <= 12; ++host) Name(host, FetchOutcome::kDnsFailed);
  EXPECT_FALSE(outage_.down());
  ASSERT_TRUE(outage_.TakeWitnessQuestion());
  EXPECT_FALSE(outage_.TakeWitnessQuestion()) << "once";
  EXPECT_TRUE(outage_.witness_asked());
  outage_.OnWitness(FetchOutcome::kAnswered, now_ns_);
  EXPECT_FALSE(outage_.down());
  EXPECT_FALSE(outage_.names_suspicious());
  // All of them.
  for (uint32_t host = 101; host <= 108; ++host) Name(host, FetchOutcome::kDnsFailed);
  ASSERT_TRUE(outage_.TakeWitnessQuestion());
  outage_.OnWitness(FetchOutcome::kDnsTimeout, now_ns_);
  EXPECT_TRUE(outage_.names_down());
}

TEST_F(OutageTest, WithoutNamesTwoHostsAreEnough) {
  AnswerAll(3);
  Fetch(1, FetchOutcome::kConnectTimeout);
  for (uint32_t host = 101; host <= 108; ++host) Name(host, FetchOutcome::kDnsTimeout);
  EXPECT_TRUE(outage_.names_down());
  EXPECT_FALSE(outage_.connections_down());
  Fetch(2, FetchOutcome::kConnectTimeout);
  EXPECT_TRUE(outage_.connections_down());
  EXPECT_EQ(outage_.count(), 1U);
}

TEST_F(OutageTest, AnswersOfBeforeTheVerdictDoNotEndIt) {
  AnswerAll(8);
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  ASSERT_TRUE(outage_.down());
  outage_.OnFetch(KeyOf(9), Address::V4(9), FetchOutcome::kAnswered, now_ns_ - 1, now_ns_ + 5);
  EXPECT_TRUE(outage_.down());
  outage_.OnFetch(KeyOf(9), Address::V4(9), FetchOutcome::kAnswered, now_ns_ + 1, now_ns_ + 5);
  EXPECT_FALSE(outage_.down());
}

// If all hosts refuse us, the crawl does not wait for ever, as long as name servers answer.
TEST_F(OutageTest, ItIsCalledOffWhenNamesStillResolveAfterAnHour) {
  AnswerAll(20);
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  Name(1, FetchOutcome::kAnswered);
  EXPECT_TRUE(outage_.down()) << "a name server's own memory may outlive the network for a while";
  now_ns_ += outage_.options().call_off_ns;
  Name(1, FetchOutcome::kAnswered);
  EXPECT_FALSE(outage_.down());
  for (uint32_t host = 1; host <= 20; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  EXPECT_FALSE(outage_.down()) << "not again before a server has answered";
  AnswerAll(8);
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  EXPECT_TRUE(outage_.down());
  EXPECT_EQ(outage_.count(), 2U);
}

TEST_F(OutageTest, ProbesComeOneAtATimeAndEverMoreSeldom) {
  AnswerAll(8);
  for (uint32_t host = 1; host <= 8; ++host) Fetch(host, FetchOutcome::kConnectTimeout);
  Outage::Probes& probes = outage_.fetch_probes();
  EXPECT_FALSE(probes.MayProbe(now_ns_));
  for (const int64_t wait_s : {1, 1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(probes.next_ns(), now_ns_ + wait_s * kSecondNs);
    now_ns_ = probes.next_ns();
    ASSERT_TRUE(probes.MayProbe(now_ns_));
    probes.Began();
    EXPECT_FALSE(probes.MayProbe(now_ns_ + 100 * kSecondNs)) << "one is out";
    now_ns_ += 15 * kSecondNs;
    probes.Ended(outage_.options(), now_ns_);
  }
}

TEST_F(OutageTest, CanBeTurnedOff) {
  Outage off(OutageOptions{.hosts = 0});
  for (uint32_t host = 1; host <= 100; ++host) {
    off.OnFetch(host, Address::V4(host), FetchOutcome::kUnreachable, 1, 1);
    off.OnName(host, FetchOutcome::kDnsFailed, true, 1);
  }
  EXPECT_FALSE(off.down());
}

TEST_F(OutageTest, EveryOutcomeHasASign) {
  for (int i = 0; i < kFetchOutcomes; ++i) {
    const auto outcome = static_cast<FetchOutcome>(i);
    const Outage::Sign sign = Outage::SignOf(outcome);
    if (FollowOf(outcome, 0).retry == Retry::kNow) {
      EXPECT_EQ(sign, Outage::Sign::kNothing) << FetchOutcomeName(outcome) << ": our own fault";
    }
    if (sign == Outage::Sign::kFailure) {
      EXPECT_FALSE(HasAnswer(outcome)) << FetchOutcomeName(outcome);
    }
  }
}

}  // namespace
}  // namespace portolan
