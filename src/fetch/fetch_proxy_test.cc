// Fetching through proxies: who resolves names, and what is refused all the same.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "fetch/testing/dns_server.h"
#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A SOCKS5 proxy (RFC 1928) that records which hosts it was asked for, and plays the web behind it as well.
class SocksProxy {
 public:
  // `reply`: 0 for success.
  explicit SocksProxy(char reply = 0) : reply_(reply) {}

  uint16_t port() const { return server_.port(); }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void Serve(ScriptConnection& connection) {
    const std::string greeting = connection.Read(2);
    if (greeting.empty() || connection.Read(static_cast<size_t>(greeting[1])).empty()) return;
    connection.Send(std::string_view("\x05\x00", 2));
    const std::string request = connection.Read(4);
    if (request.empty()) return;
    std::string host;
    if (request[3] == 3) {
      host = "name " + connection.Read(static_cast<size_t>(connection.Read(1)[0]));
    } else {
      const std::string bytes = connection.Read(4);
      host = "address " + Address::V4(static_cast<uint32_t>(static_cast<uint8_t>(bytes[0])) << 24 |
                                      static_cast<uint32_t>(static_cast<uint8_t>(bytes[1])) << 16 |
                                      static_cast<uint32_t>(static_cast<uint8_t>(bytes[2])) << 8 |
                                      static_cast<uint8_t>(bytes[3]))
                              .ToString();
    }
    const std::string port = connection.Read(2);
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(fmt::format("{}:{}", host, static_cast<uint8_t>(port[0]) << 8 | static_cast<uint8_t>(port[1])));
    }
    connection.Send(std::string("\x05") + reply_ + std::string("\x00\x01\x00\x00\x00\x00\x00\x00", 8));
    if (reply_ != 0) return;
    if (!connection.ReadHead().empty()) connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  }

  const char reply_;
  std::mutex mutex_;
  std::vector<std::string> asked_;  // guarded by mutex_
  ScriptServer server_{[this](ScriptConnection& connection) { Serve(connection); }};
};

class FetchProxyTest : public testing::Test {
 protected:
  FetchOptions OptionsFor(const char* scheme, uint16_t port) {
    FetchOptions options;
    options.proxy = fmt::format("{}://127.0.0.1:{}", scheme, port);
    options.dns.servers = {dns_.address()};
    return options;
  }

  static FetchResponse Get(Fetcher& fetcher, const std::string& host, const Address& address) {
    FetchTask task;
    task.url = "http://" + host + "/";
    task.address = address;
    task.host = HostKey(task.url, HashKey::Known());
    return fetcher.Wait(fetcher.Send(task));
  }

  DnsServer dns_{[](const std::string&, bool) { return DnsReply{.addresses = {*Address::Parse("127.0.0.9")}}; }};
};

TEST_F(FetchProxyTest, ASocks5hProxyGetsTheNameAndNobodyElseIsAsked) {
  SocksProxy proxy;
  Fetcher fetcher(OptionsFor("socks5h", proxy.port()), /*allow_loopback=*/false);
  for (const char* host : {"a.test", "b.test"}) {
    const Resolution resolved = fetcher.Resolve(host);
    ASSERT_EQ(resolved.outcome, FetchOutcome::kAnswered);
    // Each name has its own, so that each has its own clock.
    ASSERT_THAT(resolved.addresses, ElementsAre(Address::Unresolved(host, HashKey::Known())));
    const FetchResponse response = Get(fetcher, host, resolved.addresses[0]);
    EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    EXPECT_EQ(response.body, "hi");
  }
  EXPECT_THAT(proxy.asked(), ElementsAre("name a.test:80", "name b.test:80"));
  EXPECT_EQ(dns_.questions(), 0);
}

TEST_F(FetchProxyTest, AnHttpProxyGetsTheNameAndNobodyElseIsAsked) {
  ScriptServer proxy([](ScriptConnection& connection) {
    const std::string head = connection.ReadHead();
    const std::string body = head.substr(0, head.find('\r'));
    connection.Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  });
  Fetcher fetcher(OptionsFor("http", proxy.port()), /*allow_loopback=*/false);
  const Resolution resolved = fetcher.Resolve("a.test");
  ASSERT_THAT(resolved.addresses, ElementsAre(Address::Unresolved("a.test", HashKey::Known())));
  EXPECT_EQ(Get(fetcher, "a.test", resolved.addresses[0]).body, "GET http://a.test/ HTTP/1.1");
  EXPECT_EQ(dns_.questions(), 0);
}

TEST_F(FetchProxyTest, ASocks5ProxyGetsTheAddressThatWeFound) {
  SocksProxy proxy;
  Fetcher fetcher(OptionsFor("socks5", proxy.port()));
  const Resolution resolved = fetcher.Resolve("a.test");
  ASSERT_THAT(resolved.addresses, ElementsAre(*Address::Parse("127.0.0.9")));
  EXPECT_EQ(Get(fetcher, "a.test", resolved.addresses[0]).body, "hi");
  EXPECT_THAT(proxy.asked(), ElementsAre("address 127.0.0.9:80"));
}

TEST_F(FetchProxyTest, PrivateLiteralsAreRefusedBehindAProxyToo) {
  SocksProxy proxy;
  for (const char* scheme : {"socks5h", "socks5", "http"}) {
    Fetcher fetcher(OptionsFor(scheme, proxy.port()), /*allow_loopback=*/false);
    for (const char* host : {"10.0.0.1", "[::1]", "169.254.169.254", "localhost", "a.localhost"}) {
      EXPECT_EQ(fetcher.Resolve(host).outcome, FetchOutcome::kAddressForbidden) << host;
    }
    EXPECT_EQ(Get(fetcher, "10.0.0.1", *Address::Parse("10.0.0.1")).outcome, FetchOutcome::kAddressForbidden);
  }
  EXPECT_THAT(proxy.asked(), IsEmpty());
}

TEST_F(FetchProxyTest, AHostThatTheProxyDoesNotFindIsNotTriedForEver) {
  for (const auto& [reply, outcome] :
       {std::pair(char{1}, FetchOutcome::kUnreachable), std::pair(char{4}, FetchOutcome::kUnreachable),
        std::pair(char{5}, FetchOutcome::kConnectRefused)}) {
    SocksProxy proxy(reply);
    Fetcher fetcher(OptionsFor("socks5h", proxy.port()));
    const FetchResponse response = Get(fetcher, "a.test", Address::Unresolved("a.test", HashKey::Known()));
    EXPECT_EQ(response.outcome, outcome) << response.detail;
  }
}

// A crawl may be continued without the proxy that it began with.
TEST_F(FetchProxyTest, WithoutTheProxyAStandInIsNobody) {
  Fetcher fetcher;
  const FetchResponse response = Get(fetcher, "a.test", Address::Unresolved("a.test", HashKey::Known()));
  EXPECT_EQ(response.outcome, FetchOutcome::kLocal) << response.detail;
}

}  // namespace
}  // namespace portolan
