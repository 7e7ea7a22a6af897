// Connection, settings and leases against a real nats-server.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/check.h"
#include "cluster/cluster_store.h"
#include "cluster/names.h"
#include "cluster/nats_connection.h"
#include "cluster/shard_leases.h"
#include "cluster/testing/nats_server.h"
#include "fetch/testing/test_ca.h"

namespace portolan {
namespace {

using namespace std::chrono_literals;

template <typename F>
bool Eventually(F&& condition, std::chrono::milliseconds limit = 10s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

NatsOptions Options(const std::string& url) {
  return {.url = url, .name = "test", .retry_ns = 50 * kMillisecond, .request_ns = 2 * kSecond};
}

class NatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::Installed()) GTEST_SKIP() << "nats-server is not installed";
  }
  const Clock& clock_ = Clock::Real();
};

TEST(NatsNamesTest, UrlsAreShownWithoutPasswords) {
  EXPECT_EQ(NatsUrlForPeople("nats://user:secret@host:4222"), "nats://host:4222");
  EXPECT_EQ(NatsUrlForPeople("nats://a,tls://u:p@w@b:1"), "nats://a,tls://b:1");
  EXPECT_EQ(NatsUrlForPeople("token@host"), "host");
}

TEST(NatsNamesTest, NamesHaveNoCharactersWithAMeaning) {
  EXPECT_TRUE(IsClusterName("web-2026_a"));
  for (const char* name : {"", "a.b", "a b", "*", ">", "ä", "a/b", "123456789012345678901234567890123"}) {
    EXPECT_FALSE(IsClusterName(name)) << name;
  }
}

TEST_F(NatsTest, AServerThatIsAwayAtStartIsWaitedForAndSaidSo) {
  NatsServer server;
  std::string reason;
  auto none = NatsConnection::Connect(Options(server.url()), clock_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kClosed) << none.error().ToString();
  int asked = 0;
  auto late = NatsConnection::Connect(Options(server.url("u:secret")), clock_, [&](const NatsWait& wait) {
    reason = wait.reason;
    if (++asked == 2 && !server.Start()) return false;
    std::this_thread::sleep_for(20ms);
    return asked < 20;
  });
  ASSERT_TRUE(late) << late.error().ToString();
  EXPECT_GE(asked, 2);
  EXPECT_NE(reason.find(server.url()), std::string::npos) << reason;
  EXPECT_EQ(reason.find("secret"), std::string::npos) << reason;
}

TEST_F(NatsTest, AServerThatGoesAwayLaterIsSeenAndComesBack) {
  NatsServer server;
  ASSERT_TRUE(server.Start());
  auto connection = NatsConnection::Connect(Options(server.url()), clock_);
  ASSERT_TRUE(connection);
  EXPECT_EQ((*connection)->status().state, NatsState::kConnected);
  server.Kill();
  ASSERT_TRUE(Eventually([&] { return (*connection)->status().state == NatsState::kAway; }));
  EXPECT_GT((*connection)->status().since_ns, 0);
  ASSERT_TRUE(server.Start());
  ASSERT_TRUE(Eventually([&] { return (*connection)->status().state == NatsState::kConnected; }));
  EXPECT_EQ((*connection)->status().reconnects, 1u);
}

TEST_F(NatsTest, AWrongPasswordIsAnErrorAtOnce) {
  NatsServer server({"--user", "u", "--pass", "right"});
  ASSERT_TRUE(server.Start());
  int asked = 0;
  auto wrong = NatsConnection::Connect(Options(server.url("u:wrong")), clock_, [&](const NatsWait&) {
    ++asked;
    return true;
  });
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), ErrorCode::kInvalidArgument) << wrong.error().ToString();
  EXPECT_EQ(wrong.error().message().find("wrong"), std::string::npos) << wrong.error().ToString();
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(NatsConnection::Connect(Options(server.url("u:right")), clock_));
}

TEST_F(NatsTest, JetStreamThatIsOffIsAnErrorAtOnce) {
  NatsServer server({}, /*jetstream=*/false);
  ASSERT_TRUE(server.Start());
  auto off = NatsConnection::Connect(Options(server.url()), clock_, [](const NatsWait&) { return true; });
  ASSERT_FALSE(off);
  EXPECT_EQ(off.error().code(), ErrorCode::kUnsupported) << off.error().ToString();
}

TEST_F(NatsTest, TlsWithTheAuthorityConnectsAndWithoutItIsAnError) {
  const TestCa ca;
  const TestCa other;
  NatsServer files;  // for its directory
  const std::string cert = files.dir() + "/cert.pem";
  const std::string key = files.dir() + "/key.pem";
  ca.WriteServerFiles("localhost", cert, key);
  NatsServer server({"--tls", "--tlscert", cert, "--tlskey", key});
  ASSERT_TRUE(server.Start());
  NatsOptions options = Options(fmt::format("tls://localhost:{}", server.port()));
  options.ca_file = ca.ca_file();
  auto good = NatsConnection::Connect(options, clock_);
  EXPECT_TRUE(good) << good.error().ToString();
  options.ca_file = other.ca_file();
  auto bad = NatsConnection::Connect(options, clock_, [](const NatsWait&) { return true; });
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), ErrorCode::kInvalidArgument) << bad.error().ToString();
  options.ca_file = "/does/not/exist.pem";
  EXPECT_EQ(NatsConnection::Connect(options, clock_).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(NatsTest, AClusterIsMadeOnceAndItsSettingsSurviveTheServer) {
  NatsServer server;
  ASSERT_TRUE(server.Start());
  auto connection = NatsConnection::Connect(Options(server.url()), clock_);
  ASSERT_TRUE(connection);
  EXPECT_EQ(ClusterStore::Open(**connection, "web").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(ClusterStore::Create(**connection, "a.b", "x", 7).error().code(), ErrorCode::kInvalidArgument);
  const auto made = ClusterStore::Create(**connection, "web", "shards = 16\n", 7);
  ASSERT_TRUE(made) << made.error().ToString();
  EXPECT_EQ(ClusterStore::Create(**connection, "web", "shards = 8\n", 8).error().code(), ErrorCode::kExists);
  server.Kill();
  ASSERT_TRUE(server.Start());
  ASSERT_TRUE(Eventually([&] { return (*connection)->status().reconnects == 1; }));
  const auto opened = ClusterStore::Open(**connection, "web");
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_EQ((*opened)->settings(), "shards = 16\n");
  EXPECT_EQ((*opened)->id(), 7u);
}

TEST_F(NatsTest, OfTwoWritesOfOneRevisionOneIsRefused) {
  NatsServer server;
  ASSERT_TRUE(server.Start());
  auto connection = NatsConnection::Connect(Options(server.url()), clock_);
  ASSERT_TRUE(connection);
  auto store = ClusterStore::Create(**connection, "web", "x", 7);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->Read("shard.0").error().code(), ErrorCode::kNotFound);
  const StoreWrite first = (*store)->CompareAndSet("shard.0", "a", 0);
  EXPECT_EQ(first.outcome, WriteOutcome::kTaken) << first.reason;
  EXPECT_EQ((*store)->CompareAndSet("shard.0", "b", 0).outcome, WriteOutcome::kRefused);
  const StoreWrite second = (*store)->CompareAndSet("shard.0", "b", first.revision);
  EXPECT_EQ(second.outcome, WriteOutcome::kTaken);
  EXPECT_EQ((*store)->CompareAndSet("shard.0", "c", first.revision).outcome, WriteOutcome::kRefused);
  const auto entry = (*store)->Read("shard.0");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->value, "b");
  EXPECT_EQ(entry->revision, second.revision);
  server.Kill();
  ASSERT_TRUE(Eventually([&] { return (*connection)->status().state == NatsState::kAway; }));
  const StoreWrite away = (*store)->CompareAndSet("shard.0", "d", second.revision);
  EXPECT_EQ(away.outcome, WriteOutcome::kUnknown);
  EXPECT_FALSE(away.reason.empty());
}

// A node: a connection and leases of its own, with times short enough for a test.
struct Node {
  Node(const NatsServer& server, uint64_t holder, uint32_t shards, uint32_t capacity) {
    NatsOptions options = Options(server.url());
    options.request_ns = 500 * kMillisecond;
    connection = std::move(*NatsConnection::Connect(options, Clock::Real()));
    auto store = ClusterStore::Open(*connection, "web");
    CHECK(store, "{}", store.error().ToString());
    leases = std::make_unique<ShardLeases>(LeaseOptions{.shards = shards,
                                                        .capacity = capacity,
                                                        .node = fmt::format("node-{}", holder),
                                                        .holder = holder,
                                                        .hold_ns = 600 * kMillisecond,
                                                        .renew_ns = 100 * kMillisecond,
                                                        .look_ns = 80 * kMillisecond,
                                                        .unchanged = 12},
                                           std::move(*store), Clock::Real());
  }
  std::unique_ptr<NatsConnection> connection;
  std::unique_ptr<ShardLeases> leases;
};

TEST_F(NatsTest, TwoNodesShareTheShardsAndOneTakesOverWhatTheOtherLeaves) {
  NatsServer server;
  ASSERT_TRUE(server.Start());
  auto connection = NatsConnection::Connect(Options(server.url()), clock_);
  ASSERT_TRUE(ClusterStore::Create(**connection, "web", "x", 7));
  auto one = std::make_unique<Node>(server, 1, 2, 1);
  Node two(server, 2, 2, 2);
  const auto held = [](Node& node) { return int{node.leases->Held(0).has_value()} + node.leases->Held(1).has_value(); };
  ASSERT_TRUE(Eventually([&] { return held(*one) + held(two) == 2; }));
  // The server dies and comes back: nobody is taken over while nobody could renew.
  server.Kill();
  ASSERT_TRUE(server.Start());
  ASSERT_TRUE(Eventually([&] { return held(*one) + held(two) == 2; }));
  if (held(*one) == 0) {
    two.leases->Release(0);
    ASSERT_TRUE(Eventually([&] { return one->leases->Held(0).has_value(); }));
  }
  const uint32_t shard = one->leases->Held(0) ? 0 : 1;
  const uint64_t epoch = *one->leases->Held(shard);
  EXPECT_FALSE(two.leases->Held(shard));
  one.reset();  // gone without a word
  two.leases->Want(shard);
  ASSERT_TRUE(Eventually([&] { return two.leases->Held(shard).has_value(); }));
  EXPECT_GT(*two.leases->Held(shard), epoch);
  two.leases->Release(shard);
  EXPECT_FALSE(two.leases->Held(shard));
  ASSERT_TRUE(Eventually([&] { return two.leases->Describe(shard).ends_with("node=-"); }));
}

}  // namespace
}  // namespace portolan
