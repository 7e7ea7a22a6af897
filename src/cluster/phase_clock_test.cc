#include "cluster/phase_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "io/clock.h"

namespace portolan {
namespace {

constexpr int64_t kUnix = 1'780'000'000 * kSecond;
constexpr PhaseClockOptions kOptions{.allowed_ns = kSecond, .trust_ns = 30 * kSecond, .settle_ns = 60 * kSecond};

// The server's time is steady time + kUnix, until somebody sets it. An answer takes `there` and `back`.
struct Server {
  int64_t unix_ns = kUnix;
  ServerTime Answer(int64_t answered_ns, int64_t there_ns, int64_t back_ns) const {
    return {answered_ns - there_ns - back_ns, answered_ns, unix_ns + answered_ns - back_ns};
  }
};

// Asks as often as it is wanted, until it is good.
int64_t RunUntilGood(PhaseClock& clock, const Server& server, int64_t now_ns) {
  const int64_t end_ns = now_ns + 1000 * kSecond;
  while (!clock.Read(now_ns).IsGood(now_ns) && now_ns < end_ns) {
    clock.Add(server.Answer(now_ns, kMillisecond, kMillisecond));
    now_ns = clock.NextAsk(now_ns);
  }
  EXPECT_LT(now_ns, end_ns);
  return now_ns;
}

TEST(PhaseClockTest, IsUnknownBeforeTheFirstAnswerAndNotGoodUntilOthersMustHaveSeenAJump) {
  PhaseClock clock(kOptions);
  EXPECT_EQ(clock.Read(0), PhaseTime::Unknown());
  EXPECT_FALSE(PhaseTime::Unknown().IsGood(0));
  const Server server;
  clock.Add(server.Answer(kSecond, kMillisecond, kMillisecond));
  const PhaseTime time = clock.Read(kSecond);
  EXPECT_GE(time.from_ns, kSecond + kOptions.trust_ns + kOptions.settle_ns);
  EXPECT_FALSE(time.IsGood(kSecond));
  EXPECT_LE(RunUntilGood(clock, server, 2 * kSecond), time.from_ns + kOptions.trust_ns / PhaseClock::kAsksInTrust);
}

TEST(PhaseClockTest, AnAsymmetricAnswerIsWrongByNoMoreThanItsError) {
  for (const auto& [there, back] : {std::pair{0, 900}, {900, 0}, {1, 1}, {700, 3}, {0, 0}}) {
    PhaseClock clock(kOptions);
    clock.Add(Server().Answer(10 * kSecond, there * kMillisecond, back * kMillisecond));
    const PhaseTime time = clock.Read(10 * kSecond);
    EXPECT_LE(std::abs(time.offset_ns - kUnix), time.error_ns) << there << " " << back;
    EXPECT_GE(time.error_ns, (there + back) * kMillisecond / 2);
  }
}

TEST(PhaseClockTest, AnAnswerThatCameTooLateIsNotUsed) {
  PhaseClock clock(kOptions);
  clock.Add(Server().Answer(10 * kSecond, 1900 * kMillisecond, 100 * kMillisecond));  // an error of 1 s and more
  EXPECT_EQ(clock.Read(10 * kSecond), PhaseTime::Unknown());
  clock.Add(Server().Answer(11 * kSecond, 10 * kMillisecond, kMillisecond));
  clock.Add(Server().Answer(12 * kSecond, 0, 1800 * kMillisecond));
  EXPECT_LT(clock.Read(12 * kSecond).error_ns, 50 * kMillisecond) << "the better one counts";
}

TEST(PhaseClockTest, WithoutAnswersTheErrorGrowsAndTheClockIsGoodNoLongerThanItIsTrusted) {
  PhaseClock clock(kOptions);
  int64_t now = RunUntilGood(clock, Server(), 0);
  const PhaseTime time = clock.Read(now);
  EXPECT_LE(time.until_ns, now + kOptions.trust_ns);
  EXPECT_GT(clock.Read(now + 10 * kSecond).error_ns, time.error_ns + 100 * kMillisecond);
  EXPECT_FALSE(clock.Read(now + kOptions.trust_ns).IsGood(now + kOptions.trust_ns));
  // Back after long, it may have missed a jump.
  now += 300 * kSecond;
  clock.Add(Server().Answer(now, kMillisecond, kMillisecond));
  EXPECT_FALSE(clock.Read(now).IsGood(now));
  EXPECT_EQ(clock.jumps(), 0U);
}

TEST(PhaseClockTest, ATrustThatDriftWouldBreakIsShortened) {
  PhaseClock clock({.allowed_ns = 100 * kMillisecond, .trust_ns = 30 * kSecond, .settle_ns = 0});
  const int64_t now = RunUntilGood(clock, Server(), 0);
  const PhaseTime time = clock.Read(now);
  EXPECT_LE(time.until_ns - now, 3200 * kMillisecond);
  EXPECT_LE(clock.Read(time.until_ns - 1).error_ns, 100 * kMillisecond);
}

TEST(PhaseClockTest, AJumpOfTheServersClockStopsUntilNobodyGoesByTheOldTime) {
  for (const int64_t step : {300 * kSecond, -3600 * kSecond, 3 * kSecond}) {
    PhaseClock clock(kOptions);
    Server server;
    int64_t now = RunUntilGood(clock, server, 0);
    server.unix_ns += step;
    now += kSecond;
    clock.Add(server.Answer(now, kMillisecond, kMillisecond));
    EXPECT_EQ(clock.jumps(), 1U);
    const PhaseTime time = clock.Read(now);
    EXPECT_FALSE(time.IsGood(now));
    EXPECT_GE(time.from_ns, now + kOptions.trust_ns + kOptions.settle_ns);
    now = RunUntilGood(clock, server, now);
    EXPECT_LE(std::abs(clock.Read(now).offset_ns - server.unix_ns), clock.Read(now).error_ns);
    EXPECT_EQ(clock.jumps(), 1U);
  }
}

TEST(PhaseClockTest, ALateAnswerThatFitsNothingIsAJumpToo) {
  PhaseClock clock(kOptions);
  Server server;
  const int64_t now = RunUntilGood(clock, server, 0) + kSecond;
  server.unix_ns += 60 * kSecond;
  clock.Add(server.Answer(now, 3 * kSecond, 3 * kSecond));
  EXPECT_EQ(clock.jumps(), 1U);
  EXPECT_FALSE(clock.Read(now).IsGood(now));
}

TEST(PhaseClockTest, NonsenseIsIgnored) {
  PhaseClock clock(kOptions);
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const ServerTime& answer : {ServerTime{10, 5, kUnix}, {5, 10, 0}, {5, 10, -kUnix}, {5, 10, most}}) {
    clock.Add(answer);
    EXPECT_EQ(clock.Read(10), PhaseTime::Unknown());
  }
}

// What the gap is reckoned with: nodes whose clocks are good differ by no more than four times the allowed error,
// whatever the ways to the server take, however their clocks drift, and while the server's clock is set.
TEST(PhaseClockTest, GoodClocksOfNodesDifferByFourErrorsAtMost) {
  int64_t most = 0;
  uint64_t compared = 0;
  uint64_t jumps = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    struct Node {
      PhaseClock clock{kOptions};
      int64_t drift_ppm = 0;
      int64_t ask_ns = 0;
      int64_t away_until_ns = 0;
      int64_t At(int64_t now_ns) const { return now_ns + now_ns / 1'000'000 * drift_ppm; }
    };
    std::vector<Node> nodes(4);
    for (Node& node : nodes) node.drift_ppm = below(15'000) - 7'500;  // 1.5 % apart
    int64_t unix_ns = kUnix;
    for (int64_t now = 10 * kSecond; now < 3600 * kSecond; now += 250 * kMillisecond) {
      if (below(2400) == 0) unix_ns += (below(3) == 0 ? below(600) * kSecond : below(2500) * kMillisecond) - kSecond;
      for (Node& node : nodes) {
        if (below(1200) == 0) node.away_until_ns = now + below(60) * kSecond;
        const int64_t mine = node.At(now);
        if (mine < node.ask_ns || now < node.away_until_ns) continue;
        node.ask_ns = node.clock.NextAsk(mine);
        const int64_t worst = below(10) == 0 ? 3 * kSecond : 100 * kMillisecond;
        const int64_t there = below(worst);
        const int64_t back = below(worst);
        node.clock.Add({node.At(now - there - back), mine, unix_ns + now - back});
      }
      int64_t low = std::numeric_limits<int64_t>::max();
      int64_t high = std::numeric_limits<int64_t>::min();
      for (const Node& node : nodes) {
        const int64_t mine = node.At(now);
        const PhaseTime time = node.clock.Read(mine);
        if (!time.IsGood(mine)) continue;
        EXPECT_LE(time.error_ns, kOptions.allowed_ns);
        low = std::min(low, mine + time.offset_ns);
        high = std::max(high, mine + time.offset_ns);
        ++compared;
      }
      if (high > low) most = std::max(most, high - low);
    }
    for (const Node& node : nodes) jumps += node.clock.jumps();
  }
  EXPECT_LE(most, 4 * kOptions.allowed_ns);
  EXPECT_GT(most, kOptions.allowed_ns / 2) << "the test gets near it";
  EXPECT_GT(compared, 500'000U);
  EXPECT_GT(jumps, 40U);
}

}  // namespace
}  // namespace portolan
