// Every answer and every WireFault as a client sees it, byte by byte and to the end of the connection.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

#include "sim/server/server_fixture.h"

namespace portolan::sim {
namespace {

using testing::Test;

constexpr size_t kBodyBytes = 5000;

class HttpServerTest : public Test {
 protected:
  static Answer Page(WireFault fault, uint64_t fault_at = 0, int64_t delay_ns = 0) {
    Answer answer;
    answer.headers = {{"Content-Type", "text/html"}};
    answer.body = std::string(kBodyBytes, 'b');
    answer.fault = fault;
    answer.fault_at = fault_at;
    answer.delay_ns = delay_ns;
    return answer;
  }

  void Serve(SimServerOptions options = {}) {
    options.hits = &sink_;
    options.visit_entries = 1024;
    auto server = SimServer::Start(options, site_);
    ASSERT_TRUE(server.has_value()) << server.error().ToString();
    server_ = *std::move(server);
  }

  RawClient Connect(std::string_view address = "127.0.0.1") { return {address, server_->ports().http}; }

  // Asks for the path and reads all there is.
  std::string Fetch(std::string_view path, Ending ending, std::string_view more = "") {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(Get(path, more)));
    std::string all = client.Read();
    EXPECT_EQ(static_cast<int>(client.ending()), static_cast<int>(ending));
    return all;
  }

  static std::string_view BodyOf(std::string_view all) {
    const size_t at = all.find("\r\n\r\n");
    return at == std::string_view::npos ? std::string_view() : all.substr(at + 4);
  }

  TableSite site_;
  ListSink sink_;
  std::unique_ptr<SimServer> server_;
};

TEST_F(HttpServerTest, KeepAlivePipeliningAndClose) {
  site_.pages["/a"] = Page(WireFault::kNone);
  site_.pages["/c"] = Page(WireFault::kNone);
  site_.pages["/c"].framing = Framing::kChunked;
  Serve();
  RawClient client = Connect();
  // Three at once, the last in two parts and with a close.
  const std::string last = Get("/none", "Connection: close\r\n");
  ASSERT_TRUE(client.Send(Get("/a") + Get("/c") + last.substr(0, 9)));
  const std::string first = client.Read(kBodyBytes);
  ASSERT_TRUE(client.Send(last.substr(9)));
  const std::string all = first + client.Read();
  EXPECT_EQ(client.ending(), Ending::kFin);
  EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(all.find("chunked"), std::string::npos);
  EXPECT_TRUE(all.ends_with("Connection: close\r\nContent-Length: 5\r\n\r\nnone\n"));
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
  const auto hits = sink_.hits();
  ASSERT_EQ(hits.size(), 3U);
  EXPECT_EQ(hits[0].path, "/a");
  EXPECT_EQ(hits[0].host, "a.test");
  EXPECT_EQ(hits[0].address, "127.0.0.1");
  EXPECT_EQ(hits[2].hit.status, 404);
  EXPECT_EQ(hits[0].hit.bytes + hits[1].hit.bytes + hits[2].hit.bytes, all.size());
  EXPECT_LE(hits[0].hit.unix_ns, hits[0].hit.end_ns);
}

TEST_F(HttpServerTest, RequestReachesTheSiteWithAllItSays) {
  std::vector<uint32_t> earlier;
  site_.on_request = [&](const Request& request) {
    EXPECT_EQ(request.host, "a.test");
    EXPECT_EQ(request.user_agent, "U");
    EXPECT_EQ(request.accept_encoding, "gzip");
    EXPECT_EQ(request.if_none_match, "\"x\"");
    EXPECT_FALSE(request.tls);
    EXPECT_GT(request.unix_ns, 0);
    earlier.push_back(request.earlier);
  };
  Serve();
  for (int i = 0; i < 3; ++i) {
    Fetch("/x", Ending::kFin,
          "Connection: close\r\nUser-Agent: U\r\nAccept-Encoding: gzip\r\nIf-None-Match: \"x\"\r\n");
  }
  EXPECT_EQ(earlier, (std::vector<uint32_t>{0, 1, 2}));
}

TEST_F(HttpServerTest, EveryLoopbackAddressIsServed) {
  site_.pages["/"] = Page(WireFault::kNone);
  Serve();
  for (const std::string_view address : {"127.0.0.1", "127.1.2.3", "127.255.255.254"}) {
    RawClient client = Connect(address);
    ASSERT_TRUE(client.connected()) << address;
    ASSERT_TRUE(client.Send(Get("/", "Connection: close\r\n")));
    EXPECT_EQ(BodyOf(client.Read()).size(), kBodyBytes);
    EXPECT_EQ(sink_.opens().back(), address);
  }
  if (server_->ports().v6) {
    RawClient client = Connect("::1");
    ASSERT_TRUE(client.Send(Get("/", "Connection: close\r\n")));
    EXPECT_EQ(BodyOf(client.Read()).size(), kBodyBytes);
    EXPECT_EQ(sink_.opens().back(), "::1");
  }
}

TEST_F(HttpServerTest, LargeBodiesArriveWholeAtAnyReader) {
  site_.pages["/large"] = Page(WireFault::kNone);
  site_.pages["/large"].body = std::string(30 << 20, 'l');
  Serve();
  RawClient slow = Connect();
  ASSERT_TRUE(slow.Send(Get("/large")));
  std::string all = slow.Read(1000);  // and leaves the rest in the pipe
  const size_t head_bytes = all.size() - BodyOf(all).size();
  EXPECT_EQ(BodyOf(Fetch("/large", Ending::kFin, "Connection: close\r\n")).size(), 30U << 20);
  all += slow.Read((30 << 20) + head_bytes - all.size());
  EXPECT_EQ(BodyOf(all), site_.pages["/large"].body);
}

TEST_F(HttpServerTest, MistakesOfClientsHaveNames) {
  Serve();
  const auto answer = [&](std::string_view bytes) {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(bytes));
    const std::string all = client.Read();
    EXPECT_EQ(client.ending(), Ending::kFin);
    return all.substr(0, 12);
  };
  EXPECT_EQ(answer("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(answer("\x16\x03\x01\n\n"), "HTTP/1.1 400");
  EXPECT_EQ(answer("GET / HTTP/3.0\r\n\r\n"), "HTTP/1.1 505");
  EXPECT_EQ(answer("GET / HTTP/1.1\r\nX: " + std::string(40'000, 'x')), "HTTP/1.1 431");
  EXPECT_EQ(answer("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), "HTTP/1.1 411");
  EXPECT_EQ(answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n"), "HTTP/1.1 413");
}

TEST_F(HttpServerTest, RequestBodiesAreReadOver) {
  Serve();
  RawClient client = Connect();
  const std::string post = "POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n";
  ASSERT_TRUE(client.Send(post + std::string(100'000, 'x') + Get("/after", "Connection: close\r\n")));
  client.Read();
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
  const auto hits = sink_.hits();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[1].path, "/after");
}

TEST_F(HttpServerTest, CutKeepAlivePromisesAndCloses) {
  site_.pages["/"] = Page(WireFault::kNone);
  site_.pages["/"].cut_keep_alive = true;
  Serve();
  const std::string all = Fetch("/", Ending::kFin);
  EXPECT_NE(all.find("Connection: keep-alive"), std::string::npos);
  EXPECT_EQ(BodyOf(all).size(), kBodyBytes);
}

TEST_F(HttpServerTest, ResetBeforeAnyByte) {
  site_.pages["/"] = Page(WireFault::kReset);
  Serve();
  EXPECT_EQ(Fetch("/", Ending::kRst), "");
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
  EXPECT_EQ(sink_.hits().at(0).hit.status, 0);
}

TEST_F(HttpServerTest, ResetInBody) {
  site_.pages["/"] = Page(WireFault::kResetInBody, 1000);
  Serve();
  const std::string all = Fetch("/", Ending::kRst);
  EXPECT_NE(all.find("Content-Length: 5000"), std::string::npos);
  EXPECT_EQ(BodyOf(all).size(), 1000U);
}

TEST_F(HttpServerTest, CloseEarly) {
  site_.pages["/"] = Page(WireFault::kCloseEarly, 1000);
  Serve();
  const std::string all = Fetch("/", Ending::kFin);
  EXPECT_NE(all.find("Content-Length: 5000"), std::string::npos);
  EXPECT_EQ(BodyOf(all).size(), 1000U);
}

TEST_F(HttpServerTest, EmptyReply) {
  site_.pages["/"] = Page(WireFault::kEmptyReply);
  Serve();
  EXPECT_EQ(Fetch("/", Ending::kFin), "");
}

TEST_F(HttpServerTest, SlowFirstByte) {
  site_.pages["/"] = Page(WireFault::kSlowFirstByte, 0, 150 * kMillisecond);
  Serve();
  const int64_t start = Clock::Real().NowNs();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Get("/") + Get("/none", "Connection: close\r\n")));
  EXPECT_EQ(client.Read(1), "H");
  EXPECT_GE(Clock::Real().NowNs() - start, 150 * kMillisecond);
  EXPECT_TRUE(client.Read().ends_with("none\n"));  // the pipelined one comes after it
}

TEST_F(HttpServerTest, ClientThatGivesUpWaitingEndsTheHit) {
  site_.pages["/"] = Page(WireFault::kSlowFirstByte, 0, 3600 * kSecond);
  Serve();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Get("/", "User-Agent: Impatient\r\n")));
  EXPECT_EQ(client.Read(1, 50), "");
  client.Close();
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
  EXPECT_EQ(sink_.hits().at(0).hit.bytes, 0U);
  EXPECT_EQ(sink_.hits().at(0).user_agent, "Impatient");
  EXPECT_EQ(sink_.hits().at(0).path, "/");
}

TEST_F(HttpServerTest, TarpitSendsByteByByte) {
  site_.pages["/"] = Page(WireFault::kTarpit, 0, 20 * kMillisecond);
  Serve();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Get("/")));
  const int64_t start = Clock::Real().NowNs();
  EXPECT_EQ(client.Read(8), "HTTP/1.1");
  EXPECT_GE(Clock::Real().NowNs() - start, 7 * 20 * kMillisecond);
  client.Close();
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
  EXPECT_LT(sink_.hits().at(0).hit.bytes, 1000U);
}

TEST_F(HttpServerTest, EndlessBodyGoesOnUntilTheClientLeaves) {
  site_.pages["/close"] = Page(WireFault::kEndless);
  site_.pages["/chunks"] = Page(WireFault::kEndless);
  site_.pages["/chunks"].framing = Framing::kChunked;
  site_.pages["/"] = Page(WireFault::kNone);
  Serve();
  RawClient close = Connect();
  RawClient chunks = Connect();
  ASSERT_TRUE(close.Send(Get("/close")));
  ASSERT_TRUE(chunks.Send(Get("/chunks")));
  EXPECT_EQ(close.Read(10 << 20).size(), 10U << 20);
  EXPECT_EQ(chunks.Read(10 << 20).size(), 10U << 20);
  // Others are served meanwhile.
  EXPECT_EQ(BodyOf(Fetch("/", Ending::kFin, "Connection: close\r\n")).size(), kBodyBytes);
  close.Close();
  chunks.Close();
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 3; }));
}

TEST_F(HttpServerTest, LongLength) {
  site_.pages["/"] = Page(WireFault::kLongLength);
  Serve();
  const std::string all = Fetch("/", Ending::kFin);
  EXPECT_NE(all.find("Content-Length: 6000"), std::string::npos);
  EXPECT_EQ(BodyOf(all).size(), kBodyBytes);
}

TEST_F(HttpServerTest, ShortLength) {
  site_.pages["/"] = Page(WireFault::kShortLength, 1234);
  Serve();
  const std::string all = Fetch("/", Ending::kFin, "Connection: close\r\n");
  EXPECT_NE(all.find("Content-Length: 1234"), std::string::npos);
  EXPECT_EQ(BodyOf(all).size(), kBodyBytes);
}

TEST_F(HttpServerTest, HeaderFlood) {
  site_.pages["/"] = Page(WireFault::kHeaderFlood, 3 << 20);
  Serve();
  const std::string all = Fetch("/", Ending::kFin, "Connection: close\r\n");
  EXPECT_GT(all.find("\r\n\r\n"), size_t{3} << 20);
  EXPECT_EQ(BodyOf(all).size(), kBodyBytes);
}

TEST_F(HttpServerTest, GarbageHttp09AndBadChunks) {
  site_.pages["/garbage"] = Page(WireFault::kGarbage);
  site_.pages["/09"] = Page(WireFault::kHttp09);
  site_.pages["/chunks"] = Page(WireFault::kBadChunks);
  Serve();
  const std::string garbage = Fetch("/garbage", Ending::kFin);
  EXPECT_FALSE(garbage.empty());
  EXPECT_EQ(garbage.find("HTTP"), std::string::npos);
  EXPECT_EQ(Fetch("/09", Ending::kFin), std::string(kBodyBytes, 'b'));
  const std::string chunks = Fetch("/chunks", Ending::kFin);
  EXPECT_NE(chunks.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(BodyOf(chunks).starts_with("chunk\r\n"));
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  Serve({.idle_ns = 50 * kMillisecond});
  RawClient client = Connect();
  EXPECT_EQ(client.Read(), "");
  EXPECT_NE(client.ending(), Ending::kOpen);
}

TEST_F(HttpServerTest, ConnectionsBeyondTheBoundWaitForTheirTurn) {
  site_.pages["/"] = Page(WireFault::kNone);
  Serve({.most_connections = 2});
  RawClient first = Connect();
  RawClient second = Connect();
  for (RawClient* client : {&first, &second}) {
    ASSERT_TRUE(client->Send(Get("/")));
    EXPECT_GT(client->Read(kBodyBytes).size(), 0U);
  }
  RawClient third = Connect();
  ASSERT_TRUE(third.Send(Get("/", "Connection: close\r\n")));
  EXPECT_EQ(third.Read(1, 100), "");
  first.Close();
  EXPECT_EQ(BodyOf(third.Read()).size(), kBodyBytes);
}

TEST_F(HttpServerTest, StopClosesAndLogsEverything) {
  site_.pages["/"] = Page(WireFault::kSlowFirstByte, 0, 3600 * kSecond);
  Serve({.threads = 3});
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().Send(Get("/")));
  }
  ASSERT_TRUE(Eventually([&] { return sink_.opens().size() == 20; }));
  server_->Stop();
  EXPECT_EQ(sink_.closes(), 20U);
  for (RawClient& client : clients) {
    EXPECT_EQ(client.Read(), "");
    EXPECT_NE(client.ending(), Ending::kOpen);
  }
}

TEST_F(HttpServerTest, ForkedProcessDoesNotKeepEventsOfClosedConnectionsAlive) {
  site_.pages["/"] = Page(WireFault::kNone);
  Serve();
  std::vector<RawClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().Send(Get("/")));
    ASSERT_FALSE(clients.back().Read(kBodyBytes).empty());
  }
  const pid_t holder = ::fork();  // it has all our sockets too
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    for (;;) ::pause();
  }
  for (RawClient& client : clients) {
    ::shutdown(client.fd(), SHUT_RDWR);
    client.Close();
  }
  EXPECT_TRUE(Eventually([&] { return sink_.closes() == 8; }));
  // Rounds in which events of the closed ones would come, for objects that are gone.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(BodyOf(Fetch("/", Ending::kFin, "Connection: close\r\n")).size(), kBodyBytes);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

}  // namespace
}  // namespace portolan::sim
