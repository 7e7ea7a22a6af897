// What only the seeds' own servers may see, on real sockets: plain HTTP by our own engine, TLS by libcurl.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"
#include "fetch/testing/test_ca.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::Not;

// "me:word"
constexpr const char* kLogin = "\r\nAuthorization: Basic bWU6d29yZA==\r\n";

// Keeps the last request's head.
class Witness {
 public:
  ScriptServer::Script script() {
    return [this](ScriptConnection& connection) {
      for (std::string head; !(head = connection.ReadHead()).empty();) {
        {
          const std::lock_guard lock(mutex_);
          head_ = head;
        }
        if (!connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) return;
      }
    };
  }
  std::string head() {
    const std::lock_guard lock(mutex_);
    return head_;
  }

 private:
  std::mutex mutex_;
  std::string head_;  // guarded by mutex_
};

class FetchSecretsTest : public testing::TestWithParam<bool> {  // over TLS
 protected:
  FetchSecretsTest() {
    options_.for_seeds = {.seeds = {}, .headers = {"X-Key: 12345"}, .cookies = {"a=b", "c=d"}, .login = "me:word"};
    options_.accept_language = "de, en;q=0.5";
    options_.verify_tls = false;
    options_.http2 = false;
  }

  std::string Url(std::string_view path, std::string_view host) const {
    return fmt::format("http{}://{}:{}{}", GetParam() ? "s" : "", host, server_.port(), path);
  }
  FetchResponse Get(const std::string& url) {
    if (!fetcher_) fetcher_ = std::make_unique<Fetcher>(options_);
    FetchResponse response = fetcher_->Get(url);
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << url << ": " << response.detail;
    return response;
  }

  TestCa ca_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{ca_.MakeContext("a.test"), SSL_CTX_free};
  Witness witness_;
  ScriptServer server_{witness_.script(), GetParam() ? context_.get() : nullptr};
  FetchOptions options_;
  std::unique_ptr<Fetcher> fetcher_;
};

TEST_P(FetchSecretsTest, EachServerSeesWhatIsForIt) {
  options_.for_seeds.seeds = {Url("/start", "www.seed.test")};
  const std::string own = Get(Url("/a", "www.seed.test")).request_head;
  EXPECT_THAT(witness_.head(), HasSubstr(kLogin));
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nX-Key: 12345\r\n"));
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nCookie: a=b; c=d\r\n"));
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nAccept-Language: de, en;q=0.5\r\n"));

  Get(Url("/a", "shop.seed.test"));
  EXPECT_THAT(witness_.head(), Not(HasSubstr("Authorization"))) << "not the host that was named";
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nX-Key: 12345\r\n"));
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nCookie: a=b; c=d\r\n"));

  for (const char* host : {"other.test", "seed.test.evil.test", "notseed.test"}) {
    const FetchResponse response = Get(Url("/a", host));
    EXPECT_EQ(witness_.head(), response.request_head) << "nothing is hidden from the archive";
    for (const char* name : {"Authorization", "Cookie", "X-Key"}) EXPECT_THAT(witness_.head(), Not(HasSubstr(name)));
    EXPECT_THAT(witness_.head(), HasSubstr("\r\nAccept-Language: de, en;q=0.5\r\n"));
  }

  Get(Url("/b", "www.seed.test"));
  EXPECT_THAT(witness_.head(), HasSubstr(kLogin)) << "again, over a connection that was kept";
}

TEST_P(FetchSecretsTest, ArchiveGetsTheNamesAlone) {
  options_.for_seeds.seeds = {Url("/start", "www.seed.test")};
  const FetchResponse response = Get(Url("/a", "www.seed.test"));
  for (const char* secret : {"bWU6d29yZA", "12345", "a=b"}) EXPECT_THAT(response.request_head, Not(HasSubstr(secret)));
  for (const char* name : {"Authorization", "Cookie", "X-Key"}) {
    EXPECT_THAT(response.request_head, HasSubstr(fmt::format("\r\n{}: [not archived]\r\n", name)));
  }
  EXPECT_TRUE(response.request_head.ends_with("\r\n\r\n"));
}

TEST_P(FetchSecretsTest, AuthorizationAsAHeaderGoesWhereALoginGoes) {
  options_.for_seeds = {
      .seeds = {Url("/", "www.seed.test")}, .headers = {"authorization: Bearer t0ken"}, .cookies = {}, .login = {}};
  Get(Url("/a", "shop.seed.test"));
  EXPECT_THAT(witness_.head(), Not(HasSubstr("t0ken")));
  Get(Url("/a", "www.seed.test"));
  EXPECT_THAT(witness_.head(), HasSubstr("\r\nauthorization: Bearer t0ken\r\n"));
}

INSTANTIATE_TEST_SUITE_P(BothEngines, FetchSecretsTest, testing::Bool(),
                         [](const auto& engine) { return engine.param ? "Tls" : "Plain"; });

TEST(FetchSecretsOptionsTest, FieldsThatEndTheirLineAreRefused) {
  Fetcher handler;
  for (const char* line : {"X: a\r\nY: b", "no field", "X:"}) {
    FetchOptions options;
    options.for_seeds.headers = {line};
    EXPECT_EQ(FetchLoops::Create(options, handler).error().code(), ErrorCode::kInvalidArgument) << line;
  }
}

}  // namespace
}  // namespace portolan
