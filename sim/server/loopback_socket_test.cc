#include "sim/server/loopback_socket.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/server/server_fixture.h"

namespace portolan::sim {
namespace {

// The IPv4 addresses of this machine that others could reach.
std::vector<std::string> OutsideAddresses() {
  std::vector<std::string> out;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    SocketAddress address;
    std::memcpy(&address.storage, one->ifa_addr, sizeof(sockaddr_in));
    if (IsLoopbackAddress(address)) continue;
    out.emplace_back();
    AppendAddress(address, out.back());
  }
  ::freeifaddrs(all);
  return out;
}

TEST(LoopbackSocketTest, AnyOtherAddressIsRefused) {
  std::vector<std::string> others = OutsideAddresses();
  for (const char* more : {"0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "128.0.0.1", "126.255.255.255", "8.8.8.8",
                           "::ffff:8.8.8.8", "2001:db8::1", "fe80::1", "localhost", ""}) {
    others.emplace_back(more);
  }
  for (const std::string& address : others) {
    for (const bool fallback : {false, true}) {
      BindOptions options;
      options.no_device = fallback;
      (fallback ? options.fallback : options.addresses) = {"127.0.0.1", address};
      const auto bound = BindLoopback(options, 0, true, true);
      ASSERT_FALSE(bound.has_value()) << address;
      EXPECT_EQ(bound.error().code(), ErrorCode::kInvalidArgument) << address;
    }
  }
}

TEST(LoopbackSocketTest, FallbackBindsTheListAndNothingElse) {
  BindOptions options;
  options.no_device = true;
  options.fallback = {"127.0.0.1", "127.9.9.9"};
  const auto bound = BindLoopback(options, 0, true, true);
  ASSERT_TRUE(bound.has_value()) << bound.error().ToString();
  EXPECT_EQ(bound->streams.size(), 2U);
  EXPECT_EQ(bound->datagrams.size(), 2U);
  EXPECT_TRUE(RawClient("127.9.9.9", bound->port).connected());
  EXPECT_FALSE(RawClient("127.9.9.8", bound->port).connected());
}

TEST(LoopbackSocketTest, TakenPortIsAnError) {
  const auto first = BindLoopback({}, 0, true, false);
  ASSERT_TRUE(first.has_value()) << first.error().ToString();
  EXPECT_FALSE(BindLoopback({}, first->port, true, false).has_value());
}

TEST(LoopbackSocketTest, OutsideAddressesOfThisMachineGetNoAnswer) {
  const std::vector<std::string> addresses = OutsideAddresses();
  if (addresses.empty()) GTEST_SKIP() << "this machine has no address but loopback";
  TableSite site;
  site.names["a"] = {.v4 = {0x7f000001}};
  ListSink sink;
  auto server = SimServer::Start({.hits = &sink, .visit_entries = 64}, site);
  ASSERT_TRUE(server.has_value()) << server.error().ToString();
  const SimPorts ports = (*server)->ports();
  for (const std::string& address : addresses) {
    for (const uint16_t port : {ports.http, ports.https, ports.dns}) {
      RawClient client(address, port);
      if (!client.connected()) continue;  // better still
      static_cast<void>(client.Send(Get("/")));
      EXPECT_EQ(client.Read(), "") << address;
      EXPECT_NE(client.ending(), Ending::kOpen);
    }
    RawClient dns(address, ports.dns, SOCK_DGRAM);
    static_cast<void>(
        dns.Send(std::string("\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01"
                             "a\0\0\x01\0\x01",
                             19)));
    EXPECT_EQ(dns.Read(1, 100), "");
  }
  (*server)->Stop();
  EXPECT_TRUE(sink.hits().empty());
  EXPECT_TRUE(sink.opens().empty());
  EXPECT_TRUE(sink.dns().empty());
}

}  // namespace
}  // namespace portolan::sim
