#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "sim/hits/hit_log_reader.h"
#include "sim/hits/hit_log_writer.h"

namespace portolan::sim {
namespace {

const HitLogHeader kHeader = {.profile = "small", .seed = ~uint64_t{0}, .parameters = "a = 1\nb = \"50%\"\t"};

std::string Bytes(Env& env, const std::string& path) { return ReadWholeFile(env, path).value_or("unreadable"); }

TEST(HitLogTest, GoldenLines) {
  MemEnv env;
  auto writer = HitLogWriter::Create(env, "log", {.profile = "small", .seed = 7, .parameters = "x = 1"});
  ASSERT_TRUE(writer.has_value()) << writer.error().ToString();
  (*writer)->OnOpen(10, 3, "127.0.0.9", 8080);
  (*writer)->OnHit({.unix_ns = 11,
                    .end_ns = 15,
                    .connection = 3,
                    .address = "127.0.0.9",
                    .host = "a.test",
                    .tls = true,
                    .http2 = true,
                    .method = "GET",
                    .path_and_query = "/a%20b?c d\t\n\xc3\xa4\x7f",
                    .user_agent = "Bot/1.0 (+x)",
                    .status = 200,
                    .bytes = 1234});
  (*writer)->OnClose(16, 3);
  (*writer)->OnDns(-5, "a.test", "AAAA", -1);
  ASSERT_TRUE((*writer)->Close().has_value());
  EXPECT_EQ(Bytes(env, "log"),
            "W\t2\tsmall\t7\tx%20=%201\n"
            "O\t10\t3\t127.0.0.9\t8080\n"
            "H\t11\t3\t127.0.0.9\ta.test\t1\tGET\t/a%2520b?c%20d%09%0A\xc3\xa4%7F\t200\t1234\t15\tBot/1.0%20(+x)\t2\n"
            "C\t16\t3\n"
            "D\t-5\ta.test\tAAAA\t-1\n");
}

TEST(HitLogTest, AnyBytesAreReadBackAsTheyWereReported) {
  MemEnv env;
  Rng rng(1);
  const auto word = [&](size_t most) {
    std::string text(rng.Below(most), ' ');
    for (char& c : text) c = static_cast<char>(rng.Below(256));
    return text;
  };
  std::vector<std::vector<std::string>> texts;
  {
    auto writer = HitLogWriter::Create(env, "log", kHeader);
    ASSERT_TRUE(writer.has_value());
    for (uint64_t i = 0; i < 3000; ++i) {
      texts.push_back({word(20), word(30), word(6), word(900), word(40)});
      const auto& t = texts.back();
      (*writer)->OnHit({.unix_ns = static_cast<int64_t>(i),
                        .end_ns = 5,
                        .connection = i,
                        .address = t[0],
                        .host = t[1],
                        .tls = i % 2 == 1,
                        .method = t[2],
                        .path_and_query = t[3],
                        .user_agent = t[4],
                        .status = 404,
                        .bytes = i * i});
    }
  }
  auto reader = HitLogReader::Open(env, "log");
  ASSERT_TRUE(reader.has_value()) << reader.error().ToString();
  EXPECT_EQ((*reader)->header(), kHeader);
  for (uint64_t i = 0; i < texts.size(); ++i) {
    const auto event = (*reader)->Next();
    ASSERT_TRUE(event.has_value()) << event.error().ToString();
    ASSERT_NE(*event, nullptr);
    const Hit& hit = (*event)->hit;
    EXPECT_EQ((*event)->kind, HitEventKind::kHit);
    EXPECT_EQ(hit.unix_ns, static_cast<int64_t>(i));
    EXPECT_EQ(hit.connection, i);
    EXPECT_EQ(hit.address, texts[i][0]);
    EXPECT_EQ(hit.host, texts[i][1]);
    EXPECT_EQ(hit.tls, i % 2 == 1);
    EXPECT_EQ(hit.method, texts[i][2]);
    EXPECT_EQ(hit.path_and_query, texts[i][3]);
    EXPECT_EQ(hit.user_agent, texts[i][4]);
    EXPECT_EQ(hit.status, 404);
    EXPECT_EQ(hit.bytes, i * i);
  }
  EXPECT_EQ((*reader)->Next().value(), nullptr);
  EXPECT_FALSE((*reader)->cut());
}

TEST(HitLogTest, EveryKindOfEventIsReadBack) {
  MemEnv env;
  {
    auto writer = HitLogWriter::Create(env, "log", kHeader);
    ASSERT_TRUE(writer.has_value());
    (*writer)->OnOpen(1, 2, "::1", 65535);
    (*writer)->OnClose(3, 2);
    (*writer)->OnDns(4, "x y", "TYPE65", 3);
  }
  auto reader = HitLogReader::Open(env, "log");
  ASSERT_TRUE(reader.has_value());
  HitEvent event = **(*reader)->Next();
  EXPECT_EQ(event.kind, HitEventKind::kOpen);
  EXPECT_EQ(event.unix_ns, 1);
  EXPECT_EQ(event.connection, 2);
  EXPECT_EQ(event.address, "::1");
  EXPECT_EQ(event.port, 65535);
  event = **(*reader)->Next();
  EXPECT_EQ(event.kind, HitEventKind::kClose);
  EXPECT_EQ(event.connection, 2);
  event = **(*reader)->Next();
  EXPECT_EQ(event.kind, HitEventKind::kDns);
  EXPECT_EQ(event.name, "x y");
  EXPECT_EQ(event.type, "TYPE65");
  EXPECT_EQ(event.rcode, 3);
}

TEST(HitLogTest, EventsOfAllThreadsArriveWhole) {
  MemEnv env;
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 20'000;
  {
    auto writer = HitLogWriter::Create(env, "log", kHeader);
    ASSERT_TRUE(writer.has_value());
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const std::string path(100, static_cast<char>('a' + t));
        for (uint64_t i = 0; i < kEach; ++i) (*writer)->OnHit({.connection = t, .path_and_query = path, .bytes = i});
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  auto reader = HitLogReader::Open(env, "log");
  ASSERT_TRUE(reader.has_value());
  std::vector<uint64_t> next(kThreads);
  for (;;) {
    const auto event = (*reader)->Next();
    ASSERT_TRUE(event.has_value()) << event.error().ToString();
    if (*event == nullptr) break;
    const uint64_t t = (*event)->connection;
    ASSERT_LT(t, kThreads);
    EXPECT_EQ((*event)->hit.bytes, next[t]++);
    EXPECT_EQ((*event)->hit.path_and_query, std::string(100, static_cast<char>('a' + t)));
  }
  EXPECT_EQ(next, std::vector<uint64_t>(kThreads, kEach));
}

TEST(HitLogTest, ReachesTheFileByItselfWithinTheFlushTime) {
  MemEnv env;
  auto writer = HitLogWriter::Create(env, "log", kHeader);
  ASSERT_TRUE(writer.has_value());
  const size_t before = Bytes(env, "log").size();
  EXPECT_GT(before, 0U);  // the first line is there at once
  (*writer)->OnClose(1, 1);
  const int64_t start = Clock::Real().NowNs();
  while (Bytes(env, "log").size() == before && Clock::Real().NowNs() - start < 20 * kSecond) std::this_thread::yield();
  EXPECT_GT(Bytes(env, "log").size(), before);
}

TEST(HitLogTest, CutLastLineIsLeftOutAndSaid) {
  MemEnv env;
  std::string text;
  AppendHeaderLine(kHeader, text);
  AppendCloseLine(1, 1, text);
  const size_t whole = text.size();
  AppendCloseLine(2, 2, text);
  for (size_t size = whole; size < text.size(); ++size) {
    ASSERT_TRUE(ReplaceFile(env, "log", text.substr(0, size)).has_value());
    auto reader = HitLogReader::Open(env, "log");
    ASSERT_TRUE(reader.has_value());
    EXPECT_NE((*reader)->Next().value(), nullptr);
    EXPECT_EQ((*reader)->Next().value(), nullptr);
    EXPECT_EQ((*reader)->cut(), size != whole);
  }
}

TEST(HitLogTest, GarbageIsNamedByItsLine) {
  MemEnv env;
  for (const std::string_view bad :
       {"", "X\t1\t2", "C\t1", "C\tx\t2", "C\t1\t2\t3", "C\t1\t%4", "D\t1\t%zz\tA\t0",
        "H\t1\t2\ta\tb\t2\tG\t/\t1\t1\t1\t\t1", "H\t1\t2\ta\tb\t1\tG\t/\t1\t1\t1\t\t3",
        "H\t1\t2\ta\tb\t1\tG\t/\t1\t1\t1\t", "O\t1\t1\ta\t65536", "D\t1\ta\tA\t0\t\t\t\t\t\t\t\t\t\t"}) {
    std::string text;
    AppendHeaderLine(kHeader, text);
    text += bad;
    text += '\n';
    ASSERT_TRUE(ReplaceFile(env, "log", text).has_value());
    auto reader = HitLogReader::Open(env, "log");
    ASSERT_TRUE(reader.has_value());
    const auto event = (*reader)->Next();
    ASSERT_FALSE(event.has_value()) << bad;
    EXPECT_EQ(event.error().code(), ErrorCode::kCorrupt);
    EXPECT_NE(event.error().message().find("log:2:"), std::string::npos) << event.error().message();
  }
  ASSERT_TRUE(ReplaceFile(env, "log", "hello\n").has_value());
  EXPECT_EQ(HitLogReader::Open(env, "log").error().code(), ErrorCode::kCorrupt);
  ASSERT_TRUE(ReplaceFile(env, "log", "W\t9\tx\t1\t\n").has_value());
  EXPECT_EQ(HitLogReader::Open(env, "log").error().code(), ErrorCode::kUnsupported);
  std::string endless;
  AppendHeaderLine(kHeader, endless);
  endless.append(HitLogReader::kBufferBytes + 1, 'x');
  ASSERT_TRUE(ReplaceFile(env, "log", endless).has_value());
  auto reader = HitLogReader::Open(env, "log");
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ((*reader)->Next().error().code(), ErrorCode::kCorrupt);
}

TEST(HitLogTest, FailingDiskIsReportedAndStays) {
  MemEnv inner;
  FaultyEnv env(inner, {.space = 200});
  auto writer = HitLogWriter::Create(env, "log", kHeader);
  ASSERT_TRUE(writer.has_value()) << writer.error().ToString();
  for (int i = 0; i < 100; ++i) (*writer)->OnClose(i, 1);
  EXPECT_EQ((*writer)->Flush().error().code(), ErrorCode::kNoSpace);
  env.AddSpace(1 << 20);  // what was lost stays lost: the log must not look whole
  (*writer)->OnClose(1, 1);
  EXPECT_EQ((*writer)->Close().error().code(), ErrorCode::kNoSpace);
}

}  // namespace
}  // namespace portolan::sim
