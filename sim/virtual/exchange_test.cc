#include "sim/virtual/exchange.h"

#include <gtest/gtest.h>

#include <string>

#include "io/clock.h"

namespace portolan::sim {
namespace {

Exchange Healthy(WireFault fault, uint64_t fault_at = 0, int64_t delay_ns = 0) {
  Exchange exchange;
  exchange.task.url = "https://h.test/a?b";
  exchange.requested = true;
  exchange.tls = true;
  exchange.begin_ns = 5;
  exchange.first_byte_ns = 100 * kMillisecond;
  exchange.took_ns = 200 * kMillisecond;
  exchange.body_bytes = 1000;
  exchange.answer = Answer{.headers = {{"Content-Type", "text/html"}}, .body = std::string(1000, 'x')};
  exchange.answer->fault = fault;
  exchange.answer->fault_at = fault_at;
  exchange.answer->delay_ns = delay_ns;
  return exchange;
}

struct Case {
  WireFault fault;
  uint64_t fault_at;
  int64_t delay_ns;
  FetchOutcome outcome;
  int status;
  uint64_t body_bytes;
  int64_t took_ns;
};

TEST(ExchangeTest, EachFaultOfTheWireHasItsOutcome) {
  constexpr int64_t kHealthy = 200 * kMillisecond;
  constexpr int64_t kFirst = 100 * kMillisecond;
  const FetchLimits limits;
  const Case cases[] = {
      {WireFault::kNone, 0, 0, FetchOutcome::kAnswered, 200, 1000, kHealthy},
      {WireFault::kReset, 0, 0, FetchOutcome::kReset, 0, 0, kFirst},
      {WireFault::kEmptyReply, 0, 0, FetchOutcome::kEmptyReply, 0, 0, kFirst},
      {WireFault::kResetInBody, 300, 0, FetchOutcome::kDisconnected, 200, 300, kHealthy},
      {WireFault::kCloseEarly, 300, 0, FetchOutcome::kDisconnected, 200, 300, kHealthy},
      {WireFault::kLongLength, 0, 0, FetchOutcome::kDisconnected, 200, 1000, kHealthy},
      {WireFault::kShortLength, 300, 0, FetchOutcome::kAnswered, 200, 300, kHealthy},
      {WireFault::kSlowFirstByte, 0, 2 * kSecond, FetchOutcome::kAnswered, 200, 1000, 2 * kSecond + kHealthy},
      {WireFault::kSlowFirstByte, 0, 25 * kSecond, FetchOutcome::kFirstByteTimeout, 0, 0, limits.first_byte_ns},
      {WireFault::kTarpit, 0, kSecond, FetchOutcome::kTimeCut, 200, 0, limits.total_ns},
      {WireFault::kTarpit, 0, kMillisecond, FetchOutcome::kAnswered, 200, 1000, kFirst + 1300 * kMillisecond},
      {WireFault::kEndless, 0, 0, FetchOutcome::kBodyCut, 200, limits.body_bytes, kHealthy},
      {WireFault::kHeaderFlood, 4 << 20, 0, FetchOutcome::kHeadTooLarge, 0, 0, kHealthy},
      {WireFault::kHeaderFlood, 1000, 0, FetchOutcome::kAnswered, 200, 1000, kHealthy},
      {WireFault::kGarbage, 0, 0, FetchOutcome::kNotHttp, 0, 0, kHealthy},
      {WireFault::kHttp09, 0, 0, FetchOutcome::kNotHttp, 0, 0, kHealthy},
      {WireFault::kBadChunks, 0, 0, FetchOutcome::kBadFraming, 0, 0, kHealthy},
  };
  for (const Case& c : cases) {
    Exchange exchange = Healthy(c.fault, c.fault_at, c.delay_ns);
    ApplyWireFault(limits, exchange);
    const auto name = WireFaultName(c.fault);
    EXPECT_EQ(exchange.outcome, c.outcome) << name;
    EXPECT_EQ(exchange.status, c.status) << name;
    EXPECT_EQ(exchange.body_bytes, c.body_bytes) << name;
    EXPECT_EQ(exchange.took_ns, c.took_ns) << name;
    EXPECT_LE(exchange.first_byte_ns, exchange.took_ns) << name;
  }
}

TEST(ExchangeTest, LimitsCutHealthyAnswers) {
  Exchange large = Healthy(WireFault::kNone);
  ApplyWireFault({.body_bytes = 400}, large);
  EXPECT_EQ(large.outcome, FetchOutcome::kBodyCut);
  EXPECT_EQ(large.answer->body.size(), 400U);
  Exchange slow = Healthy(WireFault::kNone);
  ApplyWireFault({.total_ns = 150 * kMillisecond}, slow);
  EXPECT_EQ(slow.outcome, FetchOutcome::kTimeCut);
  EXPECT_EQ(slow.took_ns, 150 * kMillisecond);
}

TEST(ExchangeTest, ResponseHasTheBytes) {
  Exchange exchange = Healthy(WireFault::kNone);
  ApplyWireFault({}, exchange);
  const FetchResponse response = MakeFetchResponse(std::move(exchange), "agent/1");
  EXPECT_EQ(response.request_head, "GET /a?b HTTP/1.1\r\nHost: h.test\r\nUser-Agent: agent/1\r\n\r\n");
  EXPECT_EQ(response.response_head, "HTTP/1.1 200 \r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(response.body, std::string(1000, 'x'));
  EXPECT_EQ(response.times.end_ns, 5 + 200 * kMillisecond);
  EXPECT_EQ(response.tls_version, "tls/1.3");

  Exchange reset = Healthy(WireFault::kReset);
  ApplyWireFault({}, reset);
  const FetchResponse nothing = MakeFetchResponse(std::move(reset), "agent/1");
  EXPECT_EQ(nothing.response_head, "");
  EXPECT_EQ(nothing.body, "");
  EXPECT_EQ(nothing.times.first_byte_ns, 0);
}

}  // namespace
}  // namespace portolan::sim
