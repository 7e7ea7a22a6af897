// DNS as a client sees it, over UDP and TCP.

#include <gtest/gtest.h>

#include <string>

#include "io/rng.h"
#include "sim/server/dns_message.h"
#include "sim/server/server_fixture.h"

namespace portolan::sim {
namespace {

class DnsServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    site_.names["one.test"] = {.v4 = {0x7f010203}, .v6 = {{0, 1}}};
    site_.names["fail.test"] = {.fault = DnsFault::kServFail};
    site_.names["silent.test"] = {.fault = DnsFault::kSilent};
    site_.names["slow.test"] = {.fault = DnsFault::kSlow, .v4 = {0x7f000009}, .delay_ns = 100 * kMillisecond};
    DnsAnswer& many = site_.names["many.test"];
    for (uint32_t i = 0; i < 100; ++i) many.v4.push_back(0x7f000000 + i);
    auto server = SimServer::Start({.hits = &sink_, .visit_entries = 64}, site_);
    ASSERT_TRUE(server.has_value()) << server.error().ToString();
    server_ = *std::move(server);
  }

  static std::string Question(std::string_view name, uint16_t type = kDnsTypeA) {
    std::string packet("\x12\x34\x01\0\0\x01\0\0\0\0\0\0", 12);
    while (!name.empty()) {
      const size_t dot = std::min(name.find('.'), name.size());
      packet += static_cast<char>(dot);
      packet += name.substr(0, dot);
      name.remove_prefix(std::min(dot + 1, name.size()));
    }
    packet += '\0';
    packet += static_cast<char>(type >> 8);
    packet += static_cast<char>(type & 255);
    return packet + std::string("\0\x01", 2);
  }

  // One datagram there and one back; empty after `most_ms`.
  std::string Ask(std::string_view packet, int most_ms = RawClient::kMostMs, std::string_view at = "127.0.0.1") {
    RawClient client(at, server_->ports().dns, SOCK_DGRAM);
    EXPECT_TRUE(client.Send(packet));
    pollfd waits = {client.fd(), POLLIN, 0};
    if (::poll(&waits, 1, most_ms) <= 0) return "";
    char buffer[65536];
    const ssize_t count = ::recv(client.fd(), buffer, sizeof buffer, 0);
    return count > 0 ? std::string(buffer, static_cast<size_t>(count)) : "";
  }
  static int Rcode(const std::string& reply) { return reply.size() < 12 ? -1 : reply[3] & 15; }
  static int Answers(const std::string& reply) {
    return reply.size() < 12 ? -1 : static_cast<uint8_t>(reply[6]) << 8 | static_cast<uint8_t>(reply[7]);
  }
  static std::string Framed(const std::string& packet) {
    return std::string{static_cast<char>(packet.size() >> 8), static_cast<char>(packet.size() & 255)} + packet;
  }

  TableSite site_;
  ListSink sink_;
  std::unique_ptr<SimServer> server_;
};

TEST_F(DnsServiceTest, AddressesOfEachType) {
  const std::string v4 = Ask(Question("ONE.test"));
  EXPECT_EQ(Rcode(v4), 0);
  EXPECT_EQ(Answers(v4), 1);
  EXPECT_TRUE(v4.ends_with("\x7f\x01\x02\x03"));
  EXPECT_EQ(v4.substr(0, 2), "\x12\x34");
  EXPECT_TRUE(Ask(Question("one.test", kDnsTypeAaaa)).ends_with('\x01'));
  EXPECT_EQ(Answers(Ask(Question("one.test", 16))), 0);
  EXPECT_EQ(Rcode(Ask(Question("one.test", 16))), 0);
}

TEST_F(DnsServiceTest, AnswersComeFromTheAddressThatWasAsked) {
  // A connected socket takes nothing from elsewhere.
  EXPECT_EQ(Answers(Ask(Question("one.test"), RawClient::kMostMs, "127.7.7.7")), 1);
  if (server_->ports().v6) {
    EXPECT_EQ(Answers(Ask(Question("one.test"), RawClient::kMostMs, "::1")), 1);
  }
}

TEST_F(DnsServiceTest, FailuresOfEachKind) {
  EXPECT_EQ(Rcode(Ask(Question("none.test"))), 3);
  EXPECT_EQ(Rcode(Ask(Question("fail.test"))), 2);
  EXPECT_EQ(Ask(Question("silent.test"), 100), "");
  const int64_t start = Clock::Real().NowNs();
  EXPECT_EQ(Answers(Ask(Question("slow.test"))), 1);
  EXPECT_GE(Clock::Real().NowNs() - start, 100 * kMillisecond);
  EXPECT_EQ(sink_.dns(),
            (std::vector<std::string>{"none.test A 3", "fail.test A 2", "silent.test A -1", "slow.test A 0"}));
}

TEST_F(DnsServiceTest, LargeAnswersGoOverTcp) {
  const std::string cut = Ask(Question("many.test"));
  EXPECT_EQ(Answers(cut), 0);
  EXPECT_NE(cut[2] & 0x02, 0);
  RawClient client("127.0.0.1", server_->ports().dns);
  ASSERT_TRUE(client.Send(Framed(Question("many.test"))));
  const std::string size = client.Read(2);
  ASSERT_EQ(size.size(), 2U);
  const size_t bytes = static_cast<uint8_t>(size[0]) << 8 | static_cast<uint8_t>(size[1]);
  EXPECT_EQ(Answers(client.Read(bytes)), 100);
}

TEST_F(DnsServiceTest, TcpTakesSeveralQuestionsInAnyPieces) {
  const std::string all = Framed(Question("one.test")) + Framed(Question("slow.test")) + Framed(Question("fail.test"));
  RawClient client("127.0.0.1", server_->ports().dns);
  for (const char c : all) ASSERT_TRUE(client.Send(std::string_view(&c, 1)));
  for (const int rcode : {0, 0, 2}) {
    const std::string size = client.Read(2);
    ASSERT_EQ(size.size(), 2U);
    EXPECT_EQ(Rcode(client.Read(static_cast<uint8_t>(size[0]) << 8 | static_cast<uint8_t>(size[1]))), rcode);
  }
}

TEST_F(DnsServiceTest, GarbageNeitherStopsItNorGetsAnAnswer) {
  Rng rng(9);
  RawClient noise("127.0.0.1", server_->ports().dns, SOCK_DGRAM);
  for (int i = 0; i < 2000; ++i) {
    std::string packet(rng.Below(300), '\0');
    for (char& c : packet) c = static_cast<char>(rng.Below(256));
    noise.Send(packet);
  }
  RawClient stream("127.0.0.1", server_->ports().dns);
  static_cast<void>(stream.Send(std::string("\0\x05hello", 7)));
  EXPECT_EQ(stream.Read(), "");
  EXPECT_NE(stream.ending(), Ending::kOpen);
  EXPECT_EQ(Answers(Ask(Question("one.test"))), 1);
}

}  // namespace
}  // namespace portolan::sim
