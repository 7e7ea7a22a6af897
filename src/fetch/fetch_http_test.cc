// Fetching over plain HTTP from servers that follow the rules, and the bytes that are kept of it.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <set>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"
#include "fetch/testing/test_ca.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers each request of a connection with the same bytes.
ScriptServer::Script Always(std::string answer) {
  return [answer](ScriptConnection& connection) {
    while (!connection.ReadHead().empty()) {
      if (!connection.Send(answer)) return;
    }
  };
}

// Answers one request and closes.
ScriptServer::Script Once(std::string answer) {
  return [answer](ScriptConnection& connection) {
    if (!connection.ReadHead().empty()) connection.Send(answer);
  };
}

TEST(FetchHttpTest, AnswerComesWholeWithItsHead) {
  ScriptServer server(Always("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-Odd :  a\r\n\r\nhello"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.version, HttpVersion::k11);
  EXPECT_EQ(response.response_head, "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-Odd :  a\r\n\r\n");
  EXPECT_EQ(response.head.outcome, HeadOutcome::kRead) << "it is parsed once, here";
  EXPECT_EQ(response.head.fields.Find("x-odd"), "a");
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.wire_bytes, response.response_head.size() + 5);
  EXPECT_EQ(response.tls_version, "");
  EXPECT_EQ(response.task.url, server.Url("/"));
  EXPECT_LE(response.times.begin_ns, response.times.connected_ns);
  EXPECT_LE(response.times.connected_ns, response.times.first_byte_ns);
  EXPECT_LE(response.times.first_byte_ns, response.times.end_ns);
  EXPECT_GT(response.times.begin_unix_ns, 0);
}

TEST(FetchHttpTest, RequestHeadIsExactlyWhatWasSent) {
  std::mutex mutex;
  std::set<std::string> heads;
  ScriptServer server([&](ScriptConnection& connection) {
    for (std::string head; !(head = connection.ReadHead()).empty();) {
      {
        const std::lock_guard lock(mutex);
        heads.insert(head);
      }
      connection.Send("HTTP/1.1 204 None\r\n\r\n");
    }
  });
  FetchOptions options;
  options.user_agent = "portolan-test/1.0 (+http://example.org/bot)";
  options.from = "crawl@example.org";
  options.accept_language = "en";
  Fetcher fetcher(options);
  for (const char* path : {"/", "/a/../b/./c", "/a%2Fb?x=%20&y=a+b", "/?", "/a//b///c", "/x?q=http://y/#frag",
                           "/{b}|\"^`", "/p;x=1,2'()*!$&@:~"}) {
    FetchTask task;
    task.url = server.Url(path);
    task.address = *Address::Parse("127.0.0.1");
    task.last = std::make_shared<const LastVisit>(
        LastVisit{.validators = {.etag = "\"abc\"", .last_modified = "Sun, 06 Nov 1994 08:49:37 GMT"}});
    const FetchResponse response = fetcher.Wait(fetcher.Send(task));
    ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << path << ": " << response.detail;
    EXPECT_EQ(response.status, 204);
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(heads.contains(response.request_head))
        << response.request_head << "was not sent; sent: " << testing::PrintToString(heads);
    EXPECT_THAT(response.request_head, HasSubstr("\r\nIf-None-Match: \"abc\"\r\n"));
    EXPECT_THAT(response.request_head, HasSubstr("\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"));
    EXPECT_THAT(response.request_head, HasSubstr("\r\nAccept-Language: en\r\n"));
    EXPECT_THAT(response.request_head, HasSubstr("\r\nFrom: crawl@example.org\r\n"));
  }
  {
    const std::lock_guard lock(mutex);
    EXPECT_THAT(*heads.begin(), StartsWith("GET /"));
    heads.clear();
  }
  const FetchResponse plain = fetcher.Get(server.Url("/plain", "other.test"));
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(heads.contains(plain.request_head));
  EXPECT_THAT(plain.request_head, Not(HasSubstr("If-")));
}

TEST(FetchHttpTest, ValidatorsThatMustNotBeSentAreLeftOut) {
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  Fetcher fetcher;
  FetchTask task;
  task.url = server.Url("/");
  task.address = *Address::Parse("127.0.0.1");
  task.last = std::make_shared<const LastVisit>(
      LastVisit{.validators = {.etag = "\"a\"\r\nEvil: 1", .last_modified = std::string(kMaxValidator + 1, '7')}});
  const FetchResponse response = fetcher.Wait(fetcher.Send(task));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.request_head, Not(HasSubstr("Evil")));
  EXPECT_THAT(response.request_head, Not(HasSubstr("If-")));
}

// Not over TLS: by our own engine; over TLS: by libcurl.
TEST(FetchHttpTest, AConditionalRequestIsAnsweredBy304WithoutABodyOnAKeptConnection) {
  TestCa ca;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{ca.MakeContext("a.test"), SSL_CTX_free};
  for (const bool tls : {false, true}) {
    ScriptServer server(
        [](ScriptConnection& connection) {
          for (std::string head; !(head = connection.ReadHead()).empty();) {
            const bool asked = head.find("\r\nIf-None-Match: \"v1\"\r\n") != std::string::npos;
            // The length is that of the page, which does not come.
            connection.Send(asked ? "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nContent-Length: 4000\r\n\r\n"
                                  : "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 4\r\n\r\npage");
          }
        },
        tls ? context.get() : nullptr);
    FetchOptions options;
    options.verify_tls = false;
    options.http2 = false;
    Fetcher fetcher(options);
    const std::string url = fmt::format("http{}://a.test:{}/", tls ? "s" : "", server.port());
    for (int visit = 0; visit < 3; ++visit) {
      FetchTask task;
      task.url = url;
      task.address = *Address::Parse("127.0.0.1");
      task.host = HostKey(url, HashKey::Known());
      if (visit > 0) {
        task.last = std::make_shared<const LastVisit>(LastVisit{.validators = {.etag = "\"v1\"", .last_modified = ""}});
      }
      const FetchResponse response = fetcher.Wait(fetcher.Send(task));
      ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << tls << response.detail;
      EXPECT_EQ(response.status, visit == 0 ? 200 : 304) << tls;
      EXPECT_EQ(response.body, visit == 0 ? "page" : "") << tls;
      EXPECT_EQ(response.task.last, task.last) << "it comes back with the answer";
    }
    EXPECT_EQ(server.connections(), 1) << tls;
  }
}

TEST(FetchHttpTest, ChunksAreJoinedAndTrailersLeftOut) {
  ScriptServer server(Always(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX-Sum: 1\r\n\r\n"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.body, "abcdefg");
  EXPECT_EQ(response.response_head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(FetchHttpTest, BodyMayEndWithTheConnection) {
  ScriptServer server(Once("HTTP/1.1 200 OK\r\n\r\nuntil the end"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.body, "until the end");
}

TEST(FetchHttpTest, OldVersionIsTold) {
  ScriptServer server(Once("HTTP/1.0 404 Not here\r\nContent-Type: text/plain\r\n\r\nno"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.version, HttpVersion::k10);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "no");
}

TEST(FetchHttpTest, ContentCodingStaysOn) {
  const std::string packed("\x1f\x8b\x08\0\0\0\0\0 not really gzip", 25);
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + packed));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.body, packed);
}

TEST(FetchHttpTest, InterimAnswersArePassedOver) {
  ScriptServer server(
      Always("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.response_head, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(response.body, "ok");
}

TEST(FetchHttpTest, RedirectsAreNotFollowed) {
  ScriptServer server(Always("HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.status, 301);
  EXPECT_THAT(response.response_head, HasSubstr("Location: /b\r\n"));
}

TEST(FetchHttpTest, CookiesAreNotSentBack) {
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"));
  Fetcher fetcher;
  fetcher.Get(server.Url("/"));
  EXPECT_THAT(fetcher.Get(server.Url("/")).request_head, Not(HasSubstr("Cookie")));
}

TEST(FetchHttpTest, ConnectionIsUsedAgainByTheSameHostOnly) {
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"));
  Fetcher fetcher;
  fetcher.Get(server.Url("/1"));
  const FetchResponse second = fetcher.Get(server.Url("/2"));
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(second.times.connected_ns, second.times.begin_ns);
  fetcher.Get(server.Url("/1", "b.test"));
  EXPECT_EQ(server.connections(), 2) << "a connection belongs to a host name, not to an address";
}

TEST(FetchHttpTest, NewConnectionEachTimeWhenAskedFor) {
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"));
  FetchOptions options;
  options.reuse_connections = false;
  Fetcher fetcher(options);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAnswered);
  EXPECT_EQ(server.connections(), 3);
}

// A server may close a kept connection at any time; that is not a failure of the next page. But it has seen a request:
// when the next one comes is not for the loop to decide.
TEST(FetchHttpTest, ConnectionClosedWhileKeptIsOpenedAnewByTheNextFetch) {
  for (const bool reset : {false, true}) {
    ScriptServer server([&](ScriptConnection& connection) {
      connection.ReadHead();
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
      // Closes when the second request is here, so that the client cannot know before it asks.
      connection.ReadHead();
      if (reset) connection.Reset();
    });
    Fetcher fetcher;
    for (int i = 0; i < 5; ++i) {
      const FetchResponse response = fetcher.Get(server.Url("/"));
      ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << i << reset << response.detail;
      ASSERT_EQ(response.body, "x");
      const FetchResponse closed = fetcher.Get(server.Url("/"));
      ASSERT_EQ(closed.outcome, FetchOutcome::kLocal) << i << reset << closed.detail;
    }
    // None is opened that is not used.
    EXPECT_EQ(server.connections(), 5);
  }
}

TEST(FetchHttpTest, AConnectionThatCannotBeTrustedIsNotKept) {
  for (const char* answer : {
           "HTTP/1.1 204 No\r\n\r\nbody",
           "HTTP/1.1 304 Same\r\nContent-Length: 4\r\n\r\nbody",
           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nbody",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nbody",
           "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       }) {
    ScriptServer server(Always(answer));
    Fetcher fetcher;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAnswered) << answer;
    EXPECT_EQ(server.connections(), 3) << answer;
  }
}

TEST(FetchHttpTest, LargeBodyArrivesWhole) {
  std::string body;
  for (int i = 0; body.size() < 5'000'000; ++i) body += std::to_string(i);
  ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
  Fetcher fetcher;
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_TRUE(response.body == body);
}

TEST(FetchHttpTest, ThroughAProxyTheTargetIsAbsolute) {
  std::mutex mutex;
  std::string sent;
  ScriptServer proxy([&](ScriptConnection& connection) {
    const std::string head = connection.ReadHead();
    {
      const std::lock_guard lock(mutex);
      sent = head;
    }
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nvp");
  });
  FetchOptions options;
  options.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  Fetcher fetcher(options);
  const FetchResponse response = fetcher.Get("http://nowhere.test/a?b");
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.body, "vp");
  EXPECT_THAT(response.request_head, StartsWith("GET http://nowhere.test/a?b HTTP/1.1\r\nHost: nowhere.test\r\n"));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(response.request_head, sent);
}

TEST(FetchHttpTest, WrongOptionsAreRefusedByName) {
  Fetcher handler;
  FetchOptions options;
  options.user_agent = "a\r\nb";
  EXPECT_EQ(FetchLoops::Create(options, handler).error().code(), ErrorCode::kInvalidArgument);
  options = {};
  options.ca_file = "/nonexistent/ca.pem";
  EXPECT_EQ(FetchLoops::Create(options, handler).error().code(), ErrorCode::kInvalidArgument);
  options = {};
  options.proxy = "ftp://127.0.0.1:9000";
  EXPECT_EQ(FetchLoops::Create(options, handler).error().code(), ErrorCode::kInvalidArgument);
  options = {};
  options.loops = 0;
  EXPECT_EQ(FetchLoops::Create(options, handler).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace portolan
