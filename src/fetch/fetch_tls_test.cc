// Fetching over TLS: certificates, resumption, HTTP/2.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/nginx.h"
#include "fetch/testing/script_server.h"
#include "fetch/testing/test_ca.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct ContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, ContextFree>;

class FetchTlsTest : public testing::Test {
 protected:
  FetchTlsTest() { options_.ca_file = ca_.ca_file(); }

  static void Answer(ScriptConnection& connection) {
    while (!connection.ReadHead().empty()) {
      if (!connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")) return;
    }
  }

  FetchResponse Try(TestCa::Kind kind, const std::string& certified, const std::string& asked) {
    const Context context(ca_.MakeContext(certified, kind));
    ScriptServer server(Answer, context.get());
    Fetcher fetcher(options_);
    return fetcher.Get(server.Url("/", asked));
  }

  TestCa ca_;
  FetchOptions options_;
};

TEST_F(FetchTlsTest, GoodCertificate) {
  const FetchResponse response = Try(TestCa::Kind::kGood, "a.test", "a.test");
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
  EXPECT_EQ(response.body, "secret");
  EXPECT_EQ(response.tls_version, "tls/1.3");
  EXPECT_THAT(response.tls_cipher, StartsWith("TLS_"));
  EXPECT_EQ(response.version, HttpVersion::k11);
}

TEST_F(FetchTlsTest, BadCertificatesAreToldApartFromBadHandshakes) {
  for (const auto& [kind, name] :
       {std::pair(TestCa::Kind::kExpired, "a.test"), std::pair(TestCa::Kind::kSelfSigned, "a.test"),
        std::pair(TestCa::Kind::kGood, "b.test")}) {
    const FetchResponse response = Try(kind, name, "a.test");
    EXPECT_EQ(response.outcome, FetchOutcome::kTlsCertificate) << static_cast<int>(kind) << name << response.detail;
    EXPECT_EQ(response.body, "");
    EXPECT_NE(response.detail, "");
  }
  options_.verify_tls = false;
  EXPECT_EQ(Try(TestCa::Kind::kSelfSigned, "b.test", "a.test").outcome, FetchOutcome::kAnswered);
}

TEST_F(FetchTlsTest, SystemAuthoritiesDoNotKnowOurs) {
  options_.ca_file.clear();
  EXPECT_EQ(Try(TestCa::Kind::kGood, "a.test", "a.test").outcome, FetchOutcome::kTlsCertificate);
}

TEST_F(FetchTlsTest, ServerThatSpeaksNoTls) {
  ScriptServer server([](ScriptConnection& connection) {
    connection.Send("HTTP/1.1 400 This is no TLS\r\n\r\n");
    connection.WaitForPeerEnd();
  });
  Fetcher fetcher(options_);
  const FetchResponse response = fetcher.Get("https://a.test:" + std::to_string(server.port()) + "/");
  EXPECT_EQ(response.outcome, FetchOutcome::kTlsHandshake) << response.detail;
}

TEST_F(FetchTlsTest, OldVersionsAreRefused) {
  const Context context(ca_.MakeContext("a.test"));
  SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_security_level(context.get(), 0);
  ScriptServer server(Answer, context.get());
  Fetcher fetcher(options_);
  const FetchResponse response = fetcher.Get(server.Url("/"));
  EXPECT_EQ(response.outcome, FetchOutcome::kTlsHandshake) << response.detail;
}

TEST_F(FetchTlsTest, HandshakeThatHangsIsAConnectTimeout) {
  ScriptServer server([](ScriptConnection& connection) { connection.WaitForPeerEnd(); });
  options_.limits.connect_ns = 200 * kMillisecond;
  Fetcher fetcher(options_);
  const FetchResponse response = fetcher.Get("https://a.test:" + std::to_string(server.port()) + "/");
  EXPECT_EQ(response.outcome, FetchOutcome::kConnectTimeout) << response.detail;
}

// If only the end of the connection ends the body, anyone on the network path could have ended it.
TEST_F(FetchTlsTest, ABodyWithoutLengthIsWholeOnlyWithTheServersGoodbye) {
  struct Case {
    const char* answer;
    bool goodbye;
    FetchOutcome outcome;
  };
  for (const Case& one : {
           Case{"HTTP/1.1 200 OK\r\n\r\nperhaps all", false, FetchOutcome::kDisconnected},
           Case{"HTTP/1.1 200 OK\r\n\r\nperhaps all", true, FetchOutcome::kAnswered},
           Case{"HTTP/1.0 200 OK\r\n\r\nperhaps all", false, FetchOutcome::kDisconnected},
           Case{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nperhaps all", false, FetchOutcome::kDisconnected},
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nperhaps all", false, FetchOutcome::kAnswered},
           Case{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 11\r\n\r\nperhaps all", false,
                FetchOutcome::kAnswered},
           Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nperhaps all\r\n0\r\n\r\n", false,
                FetchOutcome::kAnswered},
       }) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      const Context context(ca_.MakeContext("a.test"));
      SSL_CTX_set_max_proto_version(context.get(), version);
      ScriptServer server(
          [&](ScriptConnection& connection) {
            connection.ReadHead();
            connection.Send(one.answer);
            if (one.goodbye) connection.Goodbye();
            connection.Close();
          },
          context.get());
      Fetcher fetcher(options_);
      const FetchResponse response = fetcher.Get(server.Url("/"));
      EXPECT_EQ(response.outcome, one.outcome) << response.detail << " after " << one.answer;
      EXPECT_EQ(response.body, "perhaps all");
      EXPECT_EQ(response.status, 200);
    }
  }
}

TEST_F(FetchTlsTest, ClosedWithoutAByteAndInsideTheHead) {
  for (const bool goodbye : {false, true}) {
    for (const char* answer : {"", "HTTP/1.1 200 OK\r\nA: b\r\n"}) {
      const Context context(ca_.MakeContext("a.test"));
      ScriptServer server(
          [&](ScriptConnection& connection) {
            connection.ReadHead();
            connection.Send(answer);
            if (goodbye) connection.Goodbye();
            connection.Close();
          },
          context.get());
      Fetcher fetcher(options_);
      const FetchResponse response = fetcher.Get(server.Url("/"));
      EXPECT_EQ(response.outcome, *answer == '\0' ? FetchOutcome::kEmptyReply : FetchOutcome::kReset)
          << response.detail << goodbye << answer;
    }
  }
}

// The same outcomes as on plain sockets (FetchFaultsTest), although libcurl reports them differently.
TEST_F(FetchTlsTest, HeadsThatCannotBeRightAreNoAnswer) {
  for (const auto& [answer, outcome] : {
           std::pair("HTTP/1.1 2 x\r\nContent-Length: 2\r\n\r\nhi", FetchOutcome::kNotHttp),
           std::pair("HTTP/1.1 20 x\r\nContent-Length: 2\r\n\r\nhi", FetchOutcome::kNotHttp),
           std::pair("HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nhi", FetchOutcome::kNotHttp),
           std::pair("HTTP/1.1 2000 x\r\nContent-Length: 2\r\n\r\nhi", FetchOutcome::kNotHttp),
           std::pair("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nhi", FetchOutcome::kBadFraming),
           std::pair("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhi", FetchOutcome::kBadFraming),
           std::pair("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhi", FetchOutcome::kDisconnected),
       }) {
    const Context context(ca_.MakeContext("a.test"));
    ScriptServer server(
        [&](ScriptConnection& connection) {
          connection.ReadHead();
          connection.Send(answer);
          connection.Goodbye();
        },
        context.get());
    Fetcher fetcher(options_);
    const FetchResponse response = fetcher.Get(server.Url("/"));
    EXPECT_EQ(response.outcome, outcome) << response.detail << " after " << answer;
  }
}

TEST_F(FetchTlsTest, SessionsAreResumedOnNewConnections) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool keep : {true, false}) {
      const Context context(ca_.MakeContext("a.test"));
      SSL_CTX_set_max_proto_version(context.get(), version);
      std::atomic<int> resumed = 0;
      ScriptServer server(
          [&](ScriptConnection& connection) {
            if (connection.tls_resumed()) ++resumed;
            Answer(connection);
          },
          context.get());
      FetchOptions options = options_;
      options.reuse_connections = false;
      options.tls_sessions = keep ? 100 : 0;
      Fetcher fetcher(options);
      for (int i = 0; i < 4; ++i) {
        const FetchResponse response = fetcher.Get(server.Url("/"));
        ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
        EXPECT_EQ(response.tls_version, version == TLS1_2_VERSION ? "tls/1.2" : "tls/1.3");
      }
      EXPECT_EQ(resumed, keep ? 3 : 0) << version;
    }
  }
}

// A hundred and forty certificates take longer to read than a page takes to fetch.
TEST_F(FetchTlsTest, AuthoritiesAreReadOnceALoop) {
  const Context context(ca_.MakeContext("a.test"));
  ScriptServer server(Answer, context.get());
  FetchOptions options = options_;
  options.reuse_connections = false;
  options.tls_sessions = 0;
  const std::string moved = options.ca_file + ".moved";
  Fetcher fetcher(options);
  ASSERT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAnswered);
  std::filesystem::rename(options.ca_file, moved);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fetcher.Get(server.Url("/")).outcome, FetchOutcome::kAnswered);
  std::filesystem::rename(moved, options.ca_file);
  EXPECT_EQ(server.connections(), 4);
}

TEST_F(FetchTlsTest, KeptConnectionClosedByTheServerIsOpenedAnewByTheNextFetch) {
  const Context context(ca_.MakeContext("a.test"));
  ScriptServer server(
      [](ScriptConnection& connection) {
        connection.ReadHead();
        connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        connection.ReadHead();
      },
      context.get());
  Fetcher fetcher(options_);
  for (int i = 0; i < 3; ++i) {
    const FetchResponse response = fetcher.Get(server.Url("/"));
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << i << response.detail;
    const FetchResponse closed = fetcher.Get(server.Url("/"));
    EXPECT_EQ(closed.outcome, FetchOutcome::kLocal) << i << closed.detail;
  }
  EXPECT_LE(server.connections(), 6);
}

// An nginx that speaks HTTP/2 serves a folder.
class FetchHttp2Test : public FetchTlsTest {
 protected:
  void SetUp() override {
    if (!Nginx::Installed()) GTEST_SKIP() << "nginx is not installed";
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2) == 0) {
      GTEST_SKIP() << "libcurl has no HTTP/2";
    }
    dir_ = (std::filesystem::temp_directory_path() / "portolan-h2-XXXXXX").string();
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    std::filesystem::permissions(dir_, std::filesystem::perms(0755));
    ca_.WriteServerFiles("a.test", dir_ + "/cert.pem", dir_ + "/key.pem");
    tls_ = fmt::format("ssl_certificate {0}/cert.pem; ssl_certificate_key {0}/key.pem;", dir_);
  }
  void TearDown() override {
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }

  std::string dir_;
  std::string tls_;  // nginx's settings
};

// libcurl gives up an HTTP/2 answer whose head is too large and keeps the connection, which cannot be read from then
// on: the next request would reach the server, and its answer would be lost. It notices if bytes of the answer are
// left, so the head is just larger than libcurl's limit of 128 KiB.
TEST_F(FetchHttp2Test, AConnectionThatFailedIsNotUsedAgain) {
  for (const char* name : {"/page.html", "/flood.html"}) std::ofstream(dir_ + name) << "page";
  std::string flood;
  for (int i = 0; i < 130; ++i) flood += fmt::format("add_header X-Flood-{} {};", i, std::string(1000, 'f'));
  const Nginx nginx(dir_, " ssl http2", tls_ + "location /flood.html {" + flood + "}");
  ASSERT_TRUE(nginx.running());
  const std::string origin = "https://a.test:" + std::to_string(nginx.port());
  for (int i = 0; i < 3; ++i) {
    Fetcher fetcher(options_);
    const FetchResponse flooded = fetcher.Get(origin + "/flood.html");
    EXPECT_EQ(flooded.outcome, FetchOutcome::kHeadTooLarge) << flooded.detail;
    const FetchResponse page = fetcher.Get(origin + "/page.html");
    EXPECT_EQ(page.outcome, FetchOutcome::kAnswered) << page.detail;
    EXPECT_EQ(page.version, HttpVersion::k2);
  }
}

TEST_F(FetchHttp2Test, PagesFromNginx) {
  std::ofstream(dir_ + "/page.html") << std::string(100'000, 'p');
  const Nginx nginx(dir_, " ssl http2", tls_);
  ASSERT_TRUE(nginx.running());
  const std::string url = "https://a.test:" + std::to_string(nginx.port()) + "/page.html";
  Fetcher fetcher(options_);
  for (int i = 0; i < 3; ++i) {
    const FetchResponse response = fetcher.Get(url);
    ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    EXPECT_EQ(response.version, HttpVersion::k2);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body.size(), 100'000U);
    EXPECT_THAT(response.response_head, StartsWith("HTTP/1.1 200 \r\n"));
    EXPECT_THAT(response.response_head, HasSubstr("content-length: 100000\r\n"));
    EXPECT_THAT(response.request_head, StartsWith("GET /page.html HTTP/1.1\r\nHost: a.test:"));
    if (i > 0) {
      EXPECT_EQ(response.times.connected_ns, response.times.begin_ns) << "the connection is used again";
    }
  }
  FetchOptions cut = options_;
  cut.limits.max_body = 1000;
  Fetcher cutter(cut);
  for (int i = 0; i < 3; ++i) {
    const FetchResponse response = cutter.Get(url);
    EXPECT_EQ(response.outcome, FetchOutcome::kBodyCut) << response.detail;
    EXPECT_EQ(response.body.size(), 1000U);
  }
  FetchOptions old = options_;
  old.http2 = false;
  Fetcher without(old);
  EXPECT_EQ(without.Get(url).version, HttpVersion::k11);
}

// HTTP/1.1 and HTTP/2 over TLS: paused by libcurl where there is no memory, and whole in the end.
TEST_F(FetchHttp2Test, BodiesThatDoNotFitTogetherComeWhole) {
  std::string body;
  while (body.size() < 900'000) body += std::to_string(body.size()) + "\n";
  std::ofstream(dir_ + "/page.html") << body;
  const Nginx nginx(dir_, " ssl http2", tls_);
  ASSERT_TRUE(nginx.running());
  const std::string url = "https://a.test:" + std::to_string(nginx.port()) + "/page.html";
  for (const bool http2 : {false, true}) {
    ByteBudget budget(uint64_t{4} << 20);
    FetchOptions options = options_;
    options.http2 = http2;
    options.budget = &budget;
    options.limits.max_body = uint64_t{1} << 20;
    Fetcher fetcher(options);
    constexpr size_t kFetches = 20;
    for (size_t i = 0; i < kFetches; ++i) fetcher.Send(url);
    fetcher.WaitForCount(kFetches);
    for (const FetchResponse& response : fetcher.TakeAll()) {
      ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
      EXPECT_EQ(response.version, http2 ? HttpVersion::k2 : HttpVersion::k11);
      EXPECT_TRUE(response.body == body) << response.body.size();
    }
    EXPECT_LE(budget.peak(), budget.total());
    EXPECT_EQ(budget.used(), 0U);
  }
}

}  // namespace
}  // namespace portolan
