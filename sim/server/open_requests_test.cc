// What the hit log says about requests that were open at once, of clients that are known to have had them so or not.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sim/server/server_fixture.h"

namespace portolan::sim {
namespace {

class OpenRequestsTest : public testing::Test {
 protected:
  void Start(size_t threads = 1) {
    for (const char* path : {"/", "/hold"}) site_.pages[path].body = std::string(2000, 'x');
    SimServerOptions options;
    options.threads = threads;
    options.hits = &sink_;
    auto server = SimServer::Start(options, site_);
    ASSERT_TRUE(server.has_value()) << server.error().message();
    server_ = *std::move(server);
  }
  std::unique_ptr<RawClient> Connect() {
    auto client = std::make_unique<RawClient>("127.0.0.1", server_->ports().http);
    EXPECT_TRUE(client->connected());
    return client;
  }

  TableSite site_;
  ListSink sink_;
  std::unique_ptr<SimServer> server_;
};

constexpr size_t kClients = 83;

TEST_F(OpenRequestsTest, RequestsThatCameTogetherAreAllBegunBeforeOneIsAnswered) {
  for (const bool kept : {false, true}) {
    std::promise<void> held;
    std::promise<void> go_on;
    site_.on_request = [&](const Request& request) {
      if (request.path_and_query != "/hold") return;
      held.set_value();
      go_on.get_future().wait();
    };
    Start();
    // While the server is kept busy by one request, the others come.
    auto first = Connect();
    ASSERT_TRUE(first->Send(Get("/hold")));
    held.get_future().wait();
    std::vector<std::unique_ptr<RawClient>> clients;
    for (size_t i = 0; i < kClients; ++i) {
      clients.push_back(Connect());
      ASSERT_TRUE(clients.back()->Send(Get("/", kept ? "" : "Connection: close\r\n")));
    }
    go_on.set_value();
    for (const auto& client : clients) EXPECT_TRUE(client->Read(2000).starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(Eventually([&] { return sink_.hits().size() >= kClients + 1; }));
    server_->Stop();
    int64_t last_begin = 0;
    int64_t first_end = INT64_MAX;
    for (const ListSink::Kept& kept_hit : sink_.hits()) {
      if (kept_hit.path != "/") continue;
      last_begin = std::max(last_begin, kept_hit.hit.unix_ns);
      first_end = std::min(first_end, kept_hit.hit.end_ns);
    }
    EXPECT_LT(last_begin, first_end) << "kept: " << kept;
    sink_.Clear();
  }
}

TEST_F(OpenRequestsTest, AClientThatWaitsForEachAnswerNeverHasTwoOpen) {
  Start(/*threads=*/2);
  std::vector<std::unique_ptr<RawClient>> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(Connect());
  constexpr size_t kRequests = 600;
  for (size_t i = 0; i < kRequests; ++i) {
    if (i % 3 == 0) {
      auto fresh = Connect();
      ASSERT_TRUE(fresh->Send(Get("/", "Connection: close\r\n")));
      EXPECT_GT(fresh->Read().size(), 2000U);
      continue;
    }
    RawClient& client = *kept[i % kept.size()];
    ASSERT_TRUE(client.Send(Get("/")));
    // The head's length may differ: read until the body is whole.
    std::string answer;
    while (!answer.ends_with(std::string(2000, 'x'))) {
      const std::string more = client.Read(1);
      ASSERT_FALSE(more.empty());
      answer += more;
      if (const size_t body = answer.find("\r\n\r\n"); body != std::string::npos) {
        answer += client.Read(body + 4 + 2000 - answer.size());
      }
    }
  }
  ASSERT_TRUE(Eventually([&] { return sink_.hits().size() == kRequests; }));
  std::vector<ListSink::Kept> hits = sink_.hits();
  std::ranges::sort(hits, {}, [](const ListSink::Kept& kept_hit) { return kept_hit.hit.unix_ns; });
  for (size_t i = 1; i < hits.size(); ++i) ASSERT_LE(hits[i - 1].hit.end_ns, hits[i].hit.unix_ns) << i;
}

// Openings and closings of connections to one address, in the order of the log's times.
class OpenCount : public ListSink {
 public:
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t) override {
    const std::lock_guard lock(mutex_);
    if (address == "127.0.0.1") steps_.emplace(unix_ns, connection);
  }
  void OnClose(int64_t unix_ns, uint64_t connection) override {
    const std::lock_guard lock(mutex_);
    steps_.emplace(unix_ns, connection);
  }
  // After the server's end.
  size_t Most() const {
    std::unordered_map<uint64_t, int> seen;
    for (const auto& [unix_ns, connection] : steps_) ++seen[connection];
    std::set<uint64_t> open;
    size_t most = 0;
    for (const auto& [unix_ns, connection] : steps_) {
      if (seen[connection] != 2) continue;  // of another address: only its closing is here
      if (open.erase(connection) == 0) open.insert(connection);
      most = std::max(most, open.size());
    }
    return most;
  }

 private:
  std::mutex mutex_;
  std::multimap<int64_t, uint64_t> steps_;  // equal times stay in the order of the log
};

TEST_F(OpenRequestsTest, WhoClosesAConnectionBeforeOpeningTheNextIsNeverSeenToHaveTwo) {
  site_.pages["/"].body = "x";
  OpenCount sink;
  SimServerOptions options;
  options.hits = &sink;
  auto server = SimServer::Start(options, site_);
  ASSERT_TRUE(server.has_value());
  const uint16_t port = (*server)->ports().http;
  // Others keep the server accepting, so that connections arrive in the middle of its rounds.
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      while (!done) {
        RawClient other("127.0.0.2", port);
        other.Send(Get("/"));
        other.Read(20);
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    RawClient client("127.0.0.1", port);
    ASSERT_TRUE(client.Send(Get("/", i % 2 == 0 ? "Connection: close\r\n" : "")));
    EXPECT_FALSE(client.Read(20).empty());
  }
  done = true;
  for (std::thread& other : others) other.join();
  (*server)->Stop();
  EXPECT_EQ(sink.Most(), 1U);
}

TEST_F(OpenRequestsTest, AConnectionIsOverWhenTheClientHasClosedIt) {
  Start();
  auto client = Connect();
  ASSERT_TRUE(client->Send(Get("/", "Connection: close\r\n")));
  EXPECT_GT(client->Read().size(), 2000U);
  EXPECT_EQ(client->ending(), Ending::kFin);
  EXPECT_EQ(sink_.closes(), 0U);  // the server's side is closed, the client's is not
  client->Close();
  EXPECT_TRUE(Eventually([&] { return sink_.closes() == 1; }));
}

}  // namespace
}  // namespace portolan::sim
