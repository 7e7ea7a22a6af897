// Answers that are damaged at random: each fetch ends exactly once, in an outcome that fits what is kept of it.

#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"
#include "http/headers.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::string GoodAnswer(Rng& rng) {
  std::string body(rng.Below(3000), 'b');
  switch (rng.Below(4)) {
    case 0:
      return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\nServer: x\r\n\r\n" + body;
    case 1:
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n";
    case 2:
      return "HTTP/1.0 404 Not Found\r\nContent-Type: text/html\r\n\r\n" + body;
    default:
      return "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n";
  }
}

std::string Damage(std::string bytes, Rng& rng) {
  const uint64_t times = rng.Below(4);
  for (uint64_t i = 0; i < times && !bytes.empty(); ++i) {
    const size_t at = rng.Below(rng.Chance(0.7) ? std::min<size_t>(bytes.size(), 60) : bytes.size());
    switch (rng.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(rng.Next());
        break;
      case 1:
        bytes.erase(at, 1 + rng.Below(10));
        break;
      case 2:
        bytes.insert(at, std::string(1 + rng.Below(5), static_cast<char>(rng.Next())));
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(at, rng.Below(80)));
        break;
    }
  }
  return bytes;
}

TEST(FetchRandomTest, DamagedAnswersEndInOutcomesThatFit) {
  std::atomic<uint64_t> seed = 1;
  ScriptServer server([&](ScriptConnection& connection) {
    if (connection.ReadHead().empty()) return;
    Rng rng(seed++);
    const std::string bytes = Damage(GoodAnswer(rng), rng);
    // In pieces, so that libcurl sees lines that are cut anywhere.
    const size_t cut = rng.Below(bytes.size() + 1);
    connection.Send(std::string_view(bytes).substr(0, cut));
    connection.Send(std::string_view(bytes).substr(cut));
    if (rng.Chance(0.2)) connection.Reset();
  });
  FetchOptions options;
  options.loops = 2;
  options.max_in_flight = 16;
  options.limits.max_body = 2500;
  options.limits.head.max_fields = 20;
  options.limits.total_ns = 20 * kSecond;
  Fetcher fetcher(options);
  constexpr size_t kFetches = 1500;
  for (size_t i = 0; i < kFetches; ++i) fetcher.Send(server.Url("/", "h" + std::to_string(i) + ".test"));
  fetcher.WaitForCount(kFetches);
  std::map<FetchOutcome, int> seen;
  for (const FetchResponse& response : fetcher.TakeAll()) {
    ++seen[response.outcome];
    SCOPED_TRACE(testing::Message() << FetchOutcomeName(response.outcome) << ": " << response.detail << "\n"
                                    << response.response_head);
    EXPECT_NE(response.outcome, FetchOutcome::kLocal);
    EXPECT_LE(response.body.size(), 2500U);
    EXPECT_GE(response.times.end_ns, response.times.begin_ns);
    if (HasAnswer(response.outcome)) {
      EXPECT_TRUE(response.response_head.ends_with("\n"));
      const ResponseHead head = ParseResponseHead(response.response_head);
      EXPECT_EQ(head.status, response.status) << "our own reader agrees";
      EXPECT_NE(response.version, HttpVersion::kUnknown);
    } else {
      EXPECT_EQ(response.response_head, "");
      EXPECT_EQ(response.body, "");
      EXPECT_EQ(response.status, 0);
    }
  }
  // The damage reaches the cases it is meant for.
  for (const FetchOutcome outcome : {FetchOutcome::kAnswered, FetchOutcome::kBodyCut, FetchOutcome::kDisconnected,
                                     FetchOutcome::kNotHttp, FetchOutcome::kReset}) {
    EXPECT_GT(seen[outcome], 0) << FetchOutcomeName(outcome);
  }
}

}  // namespace
}  // namespace portolan
