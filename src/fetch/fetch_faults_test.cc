// What servers do wrong, and our limits: each ends in its own outcome.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"

namespace portolan {

namespace {

using testing::HasSubstr;

// Reads the request, sends, then does `then`.
ScriptServer::Script Play(std::string answer, std::function<void(ScriptConnection&)> then = {}) {
  return [answer, then](ScriptConnection& connection) {
    if (connection.ReadHead().empty()) return;
    connection.Send(answer);
    if (then) then(connection);
  };
}

void Hang(ScriptConnection& connection) { connection.WaitForPeerEnd(); }
void Reset(ScriptConnection& connection) { connection.Reset(); }

FetchResponse Try(const FetchOptions& options, ScriptServer::Script script) {
  ScriptServer server(std::move(script));
  Fetcher fetcher(options);
  return fetcher.Get(server.Url("/"));
}

TEST(FetchFaultsTest, RefusedPort) {
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get("http://a.test:" + std::to_string(ClosedPort()) + "/");
  EXPECT_EQ(response.outcome, FetchOutcome::kConnectRefused) << response.detail;
  EXPECT_EQ(response.request_head, "");
  EXPECT_EQ(response.times.connected_ns, 0);
}

TEST(FetchFaultsTest, AddressesThatAreNotPublicAreNotConnectedTo) {
  ScriptServer server(Play("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  Fetcher fetcher({}, false);
  EXPECT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAddressForbidden);
  // No address at all would be the machine itself to the system.
  Fetcher trusting;
  FetchTask task;
  task.url = server.Url("/");
  EXPECT_EQ(trusting.Wait(trusting.Send(task)).outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(server.connections(), 0);
}

// A listener whose queue is full lets further connections wait: they are neither refused nor accepted.
TEST(FetchFaultsTest, ConnectionThatIsNotTakenUp) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  std::vector<int> fill;
  for (int i = 0; i < 4; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    fill.push_back(fd);
  }
  FetchOptions options = QuickOptions();
  options.limits.connect_ns = 200 * kMillisecond;
  Fetcher fetcher(options);
  const FetchResponse response = fetcher.Get("http://a.test:" + std::to_string(ntohs(address.sin_port)) + "/");
  EXPECT_EQ(response.outcome, FetchOutcome::kConnectTimeout) << response.detail;
  for (const int fd : fill) close(fd);
  close(listener);
}

TEST(FetchFaultsTest, UnroutedAddress) {
  Fetcher fetcher(QuickOptions());
  FetchTask task;
  task.url = "http://a.test/";
  task.address = *Address::Parse("255.255.255.255");
  const FetchResponse response = fetcher.Wait(fetcher.Send(task));
  EXPECT_EQ(response.outcome, FetchOutcome::kUnreachable) << response.detail;
}

TEST(FetchFaultsTest, ClosedWithoutAByte) { EXPECT_EQ(Try({}, Play("")).outcome, FetchOutcome::kEmptyReply); }

TEST(FetchFaultsTest, ResetBeforeTheHead) { EXPECT_EQ(Try({}, Play("", Reset)).outcome, FetchOutcome::kReset); }

TEST(FetchFaultsTest, ClosedInsideTheHead) {
  const FetchResponse response = Try({}, Play("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"));
  EXPECT_EQ(response.outcome, FetchOutcome::kReset) << response.detail;
  EXPECT_EQ(response.response_head, "");
}

// More is sent than socket buffers hold, so the client has read the head before the reset comes.
TEST(FetchFaultsTest, ResetInsideTheBodyKeepsWhatCame) {
  FetchOptions options;
  options.limits.max_body = options.limits.max_wire_bytes = uint64_t{64} << 20;
  const FetchResponse response =
      Try(options, Play("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + std::string(30'000'000, 'x'), Reset));
  EXPECT_EQ(response.outcome, FetchOutcome::kDisconnected) << response.detail;
  EXPECT_EQ(response.status, 200);
  EXPECT_GT(response.body.size(), 0U);
}

TEST(FetchFaultsTest, BodyShorterThanPromised) {
  const FetchResponse response = Try({}, Play("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart"));
  EXPECT_EQ(response.outcome, FetchOutcome::kDisconnected) << response.detail;
  EXPECT_EQ(response.body, "part");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.response_head, HasSubstr("1000"));
}

TEST(FetchFaultsTest, ChunksThatBreakOff) {
  const FetchResponse response = Try({}, Play("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
  EXPECT_EQ(response.outcome, FetchOutcome::kDisconnected) << response.detail;
  EXPECT_EQ(response.body, "hello");
}

TEST(FetchFaultsTest, ChunksThatAreNone) {
  const FetchResponse response =
      Try({}, Play("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello world, no chunks here\r\n", Hang));
  EXPECT_EQ(response.outcome, FetchOutcome::kBadFraming) << response.detail;
}

TEST(FetchFaultsTest, LengthsThatContradict) {
  const FetchResponse differ =
      Try({}, Play("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Hang));
  EXPECT_EQ(differ.outcome, FetchOutcome::kBadFraming) << differ.detail;
  const FetchResponse junk = Try({}, Play("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello", Hang));
  EXPECT_EQ(junk.outcome, FetchOutcome::kBadFraming) << junk.detail;
  for (const char* length : {"99999999999999999999999", "18446744073709551616"}) {
    const FetchResponse huge =
        Try({}, Play(std::string("HTTP/1.1 200 OK\r\nContent-Length: ") + length + "\r\n\r\nhello"));
    EXPECT_EQ(huge.outcome, FetchOutcome::kBadFraming) << huge.detail;
  }
  // A Content-Length is taken as given even if the body is shorter.
  const FetchResponse most = Try({}, Play("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhello"));
  EXPECT_EQ(most.outcome, FetchOutcome::kDisconnected) << most.detail;
  EXPECT_EQ(most.body, "hello");
}

TEST(FetchFaultsTest, StatusThatIsNotThreeDigits) {
  for (const char* status : {"2", "20", "2000", "099", "000", "+20", "2x0", ""}) {
    const FetchResponse response =
        Try({}, Play(std::string("HTTP/1.1 ") + status + " x\r\nContent-Length: 2\r\n\r\nhi"));
    EXPECT_EQ(response.outcome, FetchOutcome::kNotHttp) << response.detail << " for " << status;
  }
  EXPECT_EQ(Try({}, Play("HTTP/1.1 999 x\r\nContent-Length: 2\r\n\r\nhi")).status, 999);
}

TEST(FetchFaultsTest, BytesThatAreNoHttp) {
  for (const std::string& junk :
       {std::string("SSH-2.0-OpenSSH_9\r\n"), std::string("<html>hello</html>\n"), std::string(5000, '\x01'),
        std::string("HTTP/9.9 boo\r\n\r\n"), std::string("\r\n\r\n\r\nhello\r\n")}) {
    const FetchResponse response = Try({}, Play(junk));
    EXPECT_EQ(response.outcome, FetchOutcome::kNotHttp) << response.detail << " for " << junk.substr(0, 20);
    EXPECT_EQ(response.body, "");
  }
}

TEST(FetchFaultsTest, HeadWithTooManyLines) {
  FetchOptions options;
  options.limits.head.max_fields = 50;
  const FetchResponse response = Try(options, [](ScriptConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\n");
    while (connection.Send("X-Flood: yes\r\n")) {
    }
  });
  EXPECT_EQ(response.outcome, FetchOutcome::kHeadTooLarge) << response.detail;
}

TEST(FetchFaultsTest, HeadWithTooManyBytes) {
  FetchOptions options;
  options.limits.head.max_bytes = 4096;
  const FetchResponse response =
      Try(options, Play("HTTP/1.1 200 OK\r\nX-Long: " + std::string(5000, 'a') + "\r\n\r\n", Hang));
  EXPECT_EQ(response.outcome, FetchOutcome::kHeadTooLarge) << response.detail;
}

TEST(FetchFaultsTest, HeaderLineWithoutEnd) {
  const FetchResponse response = Try({}, [](ScriptConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nX-Long: ");
    while (connection.Send(std::string(10'000, 'a'))) {
    }
  });
  EXPECT_EQ(response.outcome, FetchOutcome::kHeadTooLarge) << response.detail;
}

TEST(FetchFaultsTest, InterimAnswersWithoutEnd) {
  const FetchResponse response = Try({}, [](ScriptConnection& connection) {
    connection.ReadHead();
    while (connection.Send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")) {
    }
  });
  EXPECT_EQ(response.outcome, FetchOutcome::kHeadTooLarge) << response.detail;
}

TEST(FetchFaultsTest, TrailersWithoutEnd) {
  const FetchResponse response = Try({}, [](ScriptConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n");
    while (connection.Send("X-Trailer: yes\r\n")) {
    }
  });
  EXPECT_EQ(response.outcome, FetchOutcome::kBodyCut) << response.detail;
  EXPECT_EQ(response.body, "ok");
}

TEST(FetchFaultsTest, BodyIsCutAtTheLimitAndNotBefore) {
  FetchOptions options;
  options.limits.max_body = 1000;
  const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
  const FetchResponse exact = Try(options, Play(head + std::string(1000, 'x')));
  EXPECT_EQ(exact.outcome, FetchOutcome::kAnswered) << exact.detail;
  EXPECT_EQ(exact.body.size(), 1000U);
  const FetchResponse more = Try(options, Play(head + std::string(1001, 'x'), Hang));
  EXPECT_EQ(more.outcome, FetchOutcome::kBodyCut) << more.detail;
  EXPECT_EQ(more.body, std::string(1000, 'x'));
  EXPECT_EQ(more.status, 200);
  const FetchResponse endless = Try(options, [](ScriptConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    while (connection.Send(std::string(1 << 16, 'x'))) {
    }
  });
  EXPECT_EQ(endless.outcome, FetchOutcome::kBodyCut) << endless.detail;
  EXPECT_EQ(endless.body.size(), 1000U);
}

TEST(FetchFaultsTest, FirstByteThatDoesNotCome) {
  const FetchResponse response = Try(QuickOptions(), Play("", Hang));
  EXPECT_EQ(response.outcome, FetchOutcome::kFirstByteTimeout) << response.detail;
  EXPECT_GE(response.times.end_ns - response.times.begin_ns, 300 * kMillisecond);
  EXPECT_LT(response.times.end_ns - response.times.begin_ns, 1200 * kMillisecond);
  EXPECT_NE(response.request_head, "");
}

TEST(FetchFaultsTest, HeadThatIsNeverWhole) {
  FetchOptions options = QuickOptions();
  options.limits.total_ns = 400 * kMillisecond;
  const FetchResponse response = Try(options, Play("HTTP/1.1 200 OK\r\nA: b\r\n", Hang));
  EXPECT_EQ(response.outcome, FetchOutcome::kFirstByteTimeout) << response.detail;
}

TEST(FetchFaultsTest, TotalTimeCutsTheBodyAndKeepsIt) {
  FetchOptions options = QuickOptions();
  options.limits.total_ns = 400 * kMillisecond;
  const FetchResponse response = Try(options, Play("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome", Hang));
  EXPECT_EQ(response.outcome, FetchOutcome::kTimeCut) << response.detail;
  EXPECT_EQ(response.body, "some");
  EXPECT_EQ(response.version, HttpVersion::k11);
}

TEST(FetchFaultsTest, TarpitIsTooSlow) {
  FetchOptions options = QuickOptions();
  options.limits.total_ns = 60 * kSecond;
  options.limits.lowest_speed = 1000;
  options.limits.speed_window_ns = 300 * kMillisecond;
  std::atomic<bool> done = false;
  ScriptServer server([&](ScriptConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(2000, 'x'));
    // A byte now and then, until the client has had enough. The pause is the server's behaviour, not synchronisation.
    while (!done && connection.Send("x")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  Fetcher fetcher(options);
  const FetchResponse response = fetcher.Get(server.Url("/"));
  done = true;
  EXPECT_EQ(response.outcome, FetchOutcome::kTimeCut) << response.detail;
  EXPECT_GE(response.body.size(), 2000U);
  EXPECT_LT(response.times.end_ns - response.times.begin_ns, 20 * kSecond);
}

TEST(FetchFaultsTest, UrlThatLibcurlCannotReadIsGivenUp) {
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get("http://a'b.test/");
  EXPECT_EQ(FollowOf(response.outcome, 0).retry == Retry::kNow, false) << FetchOutcomeName(response.outcome);
}

// Until the number of open descriptors has stayed the same for a while: the fetch thread gives an answer first and
// closes its connection then.
void WaitUntilDescriptorsStay() {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  auto last = count();
  for (int polls = 0, same = 0; polls < 1000 && same < 20; ++polls) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto now = count();
    same = now == last ? same + 1 : 0;
    last = now;
  }
}

FetchOutcome GetWithoutDescriptors(bool reuse) {
  // It keeps its side open: a descriptor that became free later would be enough for the second fetch.
  ScriptServer server(Play("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Hang));
  FetchOptions options;
  options.reuse_connections = reuse;
  Fetcher fetcher(options);
  EXPECT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAnswered);
  WaitUntilDescriptorsStay();
  rlimit old{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit tight{static_cast<rlim_t>(next), old.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const FetchResponse response = fetcher.Get("http://b.test:" + std::to_string(server.port()) + "/");
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  return response.outcome;
}

// The undefined-behaviour sanitizer opens a pipe to look at an object's type and calls the type wrong when it cannot.
#if defined(__SANITIZE_ADDRESS__)
#define SKIP_WHERE_CHECKS_NEED_DESCRIPTORS() GTEST_SKIP() << "the sanitizer needs descriptors of its own"
#else
#define SKIP_WHERE_CHECKS_NEED_DESCRIPTORS()
#endif

TEST(FetchFaultsTest, NoDescriptorsLeftIsOurOwnFault) {
  SKIP_WHERE_CHECKS_NEED_DESCRIPTORS();
  EXPECT_EQ(GetWithoutDescriptors(/*reuse=*/false), FetchOutcome::kShortage);
}

TEST(FetchFaultsTest, AnIdleConnectionGivesUpItsDescriptor) {
  SKIP_WHERE_CHECKS_NEED_DESCRIPTORS();
  EXPECT_NE(GetWithoutDescriptors(/*reuse=*/true), FetchOutcome::kShortage);
}

}  // namespace
}  // namespace portolan
