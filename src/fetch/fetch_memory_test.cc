// Answers within a byte budget: whole bodies come through however little there is, and slow ones do not hold up others.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"
#include "io/byte_budget.h"

namespace portolan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string Head(size_t length) { return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", length); }

// "/12345": so many bytes, which say where they are. "/chunked12345": likewise, without saying beforehand how many.
// "/later…": likewise, a moment after the head. "/drip…": all but the last byte, which never comes, though something
// like it does.
std::string BodyOf(size_t length) {
  std::string body;
  body.reserve(length + 16);
  while (body.size() < length) body += fmt::format("{:015}\n", body.size());
  body.resize(length);
  return body;
}

void Serve(ScriptConnection& connection) {
  for (;;) {
    const std::string head = connection.ReadHead();
    if (head.empty()) return;
    const std::string path = head.substr(5, head.find(' ', 5) - 5);
    const size_t length = std::stoul(path.substr(path.find_first_of("0123456789")));
    const std::string body = BodyOf(length);
    if (path.starts_with("later")) {
      if (!connection.Send(Head(length))) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      if (!connection.Send(body)) return;
      continue;
    }
    if (path.starts_with("drip")) {
      if (!connection.Send(Head(2 * length)) || !connection.Send(body)) return;
      for (int i = 0; i < 400; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (!connection.Send("slow")) return;
      }
      return;
    }
    if (path.starts_with("chunked")) {
      if (!connection.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) return;
      for (size_t at = 0; at < length; at += 50'000) {
        const std::string_view piece = std::string_view(body).substr(at, 50'000);
        if (!connection.Send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece))) return;
      }
      if (!connection.Send("0\r\n\r\n")) return;
      continue;
    }
    if (!connection.Send(Head(length)) || !connection.Send(body)) return;
  }
}

// Waits for one of the kind more.
size_t CountUntil(Fetcher& fetcher, size_t wanted, const std::function<bool(const FetchResponse&)>& is) {
  size_t found = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (found < wanted && std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) {
    for (const FetchResponse& response : fetcher.TakeAll()) found += is(response) ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return found;
}

FetchOptions Within(ByteBudget& budget) {
  FetchOptions options;
  options.budget = &budget;
  options.limits.max_body = kMiB;
  options.limits.max_wire_bytes = 2 * kMiB;
  return options;
}

TEST(FetchMemoryTest, ManyBodiesThatDoNotFitTogetherComeWhole) {
  ByteBudget budget(4 * kMiB);
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  constexpr size_t kFetches = 40;
  for (size_t i = 0; i < kFetches; ++i) fetcher.Send(server.Url(i % 2 == 0 ? "/900000" : "/chunked900000"));
  fetcher.WaitForCount(kFetches);
  const std::vector<FetchResponse> all = fetcher.TakeAll();
  ASSERT_EQ(all.size(), kFetches);
  const std::string body = BodyOf(900'000);
  for (const FetchResponse& response : all) {
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    EXPECT_TRUE(response.body == body) << response.body.size();
  }
  EXPECT_LE(budget.peak(), budget.total());
  EXPECT_EQ(budget.used(), 0U);
}

TEST(FetchMemoryTest, ABodyThatFitsNowhereElseIsTheElected) {
  ByteBudget budget(128 << 10);  // less than one of them
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  for (int i = 0; i < 5; ++i) fetcher.Send(server.Url("/1000000"));
  fetcher.WaitForCount(5);
  const std::vector<FetchResponse> all = fetcher.TakeAll();
  ASSERT_EQ(all.size(), 5U);
  for (const FetchResponse& response : all) EXPECT_EQ(response.body.size(), 1'000'000U);
  EXPECT_LE(budget.peak(), budget.total() + 2 * kMiB);
}

TEST(FetchMemoryTest, SmallPagesPassWhereLargeBodiesWait) {
  ByteBudget budget(8 * kMiB);
  const ScriptServer server(Serve);
  FetchOptions options = Within(budget);
  options.limits.max_body = options.limits.max_wire_bytes = 2 * kMiB;
  Fetcher fetcher(options);
  for (int i = 0; i < 20; ++i) fetcher.Send(server.Url("/drip900000"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < 50; ++i) fetcher.Send(server.Url("/5000"));
  EXPECT_EQ(CountUntil(fetcher, 50, [](const FetchResponse& response) { return response.body.size() == 5000; }), 50U);
  EXPECT_LE(budget.peak(), budget.total());
}

// A body of up to 128 KiB is small here: it does not wait until all slow ones are ended.
TEST(FetchMemoryTest, CommonPagesPassWhereLargeBodiesWait) {
  ByteBudget budget(32 * kMiB);
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  constexpr size_t kSlow = 60;
  for (size_t i = 0; i < kSlow; ++i) fetcher.Send(server.Url("/drip500000"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < 40; ++i) fetcher.Send(server.Url(i % 2 == 0 ? "/50000" : "/chunked50000"));
  size_t cut = 0;
  const size_t whole = CountUntil(fetcher, 40, [&](const FetchResponse& response) {
    cut += response.outcome == FetchOutcome::kSlowCut ? 1 : 0;
    return response.outcome == FetchOutcome::kAnswered && response.body.size() == 50'000;
  });
  EXPECT_EQ(whole, 40U);
  EXPECT_LT(cut, 8U) << "they waited for slow ones to be ended";
  EXPECT_LE(budget.peak(), budget.total());
}

TEST(FetchMemoryTest, BodiesThatTurnOutLargeComeWhole) {
  ByteBudget budget(16 * kMiB);
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  constexpr size_t kFetches = 80;
  for (size_t i = 0; i < kFetches; ++i) fetcher.Send(server.Url(i % 4 == 0 ? "/60000" : "/chunked900000"));
  fetcher.WaitForCount(kFetches);
  for (const FetchResponse& response : fetcher.TakeAll()) {
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    EXPECT_TRUE(response.body.size() == 60'000 || response.body.size() == 900'000) << response.body.size();
  }
  EXPECT_LE(budget.peak(), budget.total());
  EXPECT_EQ(budget.used(), 0U);
}

TEST(FetchMemoryTest, NoBodyIsElectedWhilePagesHoldWhatOthersNeedToBegin) {
  ByteBudget budget(8 * kMiB);
  ByteLease pages(budget);
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  pages.Grow(7 * kMiB);
  fetcher.Send(server.Url("/900000"));  // begins, because nothing else does
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(fetcher.count(), 0U);
  EXPECT_LT(budget.peak(), 7 * kMiB + (200 << 10));
  fetcher.Send(server.Url("/5000"));
  pages.Resize(4 * kMiB);
  fetcher.WaitForCount(2);
  for (const FetchResponse& response : fetcher.TakeAll()) EXPECT_EQ(response.outcome, FetchOutcome::kAnswered);
}

TEST(FetchMemoryTest, SlowBodiesAreEndedWhenOthersNeedTheirMemory) {
  ByteBudget budget(8 * kMiB);
  const ScriptServer server(Serve);
  FetchOptions options = Within(budget);
  options.limits.max_body = options.limits.max_wire_bytes = 2 * kMiB;
  Fetcher fetcher(options);
  for (int i = 0; i < 4; ++i) fetcher.Send(server.Url("/drip900000"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (int i = 0; i < 8; ++i) fetcher.Send(server.Url("/800000"));
  size_t cut = 0;
  const size_t whole = CountUntil(fetcher, 8, [&](const FetchResponse& response) {
    if (response.outcome == FetchOutcome::kSlowCut) {
      ++cut;
      EXPECT_GE(response.body.size(), 16'000U) << "what came is kept";
      EXPECT_EQ(response.status, 200);
    }
    return response.outcome == FetchOutcome::kAnswered;
  });
  EXPECT_EQ(whole, 8U);
  EXPECT_GT(cut, 0U);
  EXPECT_LE(budget.peak(), budget.total());
}

TEST(FetchMemoryTest, TimeThatOurOwnBoundTakesIsNotTheServers) {
  ByteBudget budget(2 * kMiB);
  ByteLease others(budget);
  const ScriptServer server(Serve);
  FetchOptions options = Within(budget);
  options.limits.total_ns = kSecond;
  options.limits.speed_window_ns = 500 * kMillisecond;
  Fetcher fetcher(options);
  for (int i = 0; i < 4; ++i) fetcher.Send(server.Url("/later700000"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  others.Grow(2 * kMiB);  // the bodies come and find nothing: one of them is elected, the others are not read
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(fetcher.count(), 0U);
  others.Release();
  fetcher.WaitForCount(4);
  for (const FetchResponse& response : fetcher.TakeAll()) {
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    EXPECT_EQ(response.body.size(), 700'000U);
  }
}

TEST(FetchMemoryTest, AnswersAreNotHandedOverWhileTheBudgetIsUsedUp) {
  ByteBudget budget(kMiB);
  ByteLease pages(budget);
  const ScriptServer server(Serve);
  Fetcher fetcher(Within(budget));
  pages.Grow(2 * kMiB);
  fetcher.Send(server.Url("/2000"));  // begins, because nothing else does
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(fetcher.count(), 0U);
  pages.Release();
  fetcher.WaitForCount(1);
}

TEST(FetchMemoryTest, StopEndsWhatWaits) {
  ByteBudget budget(kMiB);
  ByteLease pages(budget);
  const ScriptServer server(Serve);
  std::vector<FetchResponse> all;
  {
    Fetcher fetcher(Within(budget));
    pages.Grow(2 * kMiB);
    for (int i = 0; i < 20; ++i) fetcher.Send(server.Url("/200000"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    fetcher.loops().Stop();
    all = fetcher.TakeAll();
  }
  EXPECT_EQ(all.size(), 20U);
  all.clear();
  pages.Release();  // the loops are gone: nobody is told
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace portolan
