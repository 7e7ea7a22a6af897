// Many fetches over several loops, their bounds, and the end of it all.

#include "fetch/fetch_loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>

#include "fetch/testing/fetch_fixture.h"
#include "fetch/testing/script_server.h"

namespace portolan {
namespace {

void EchoPath(ScriptConnection& connection) {
  for (std::string head; !(head = connection.ReadHead()).empty();) {
    const std::string path = head.substr(4, head.find(' ', 4) - 4);
    if (!connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path))
      return;
  }
}

TEST(FetchLoopsTest, ThousandsOfFetchesOverSeveralLoops) {
  ScriptServer server(EchoPath);
  FetchOptions options;
  options.loops = 3;
  options.max_in_flight = 20;  // fewer than there are: the rest waits
  Fetcher fetcher(options);
  constexpr size_t kFetches = 3000;
  std::map<uint64_t, std::string> paths;
  for (size_t i = 0; i < kFetches; ++i) {
    const std::string path = "/" + std::to_string(i);
    paths[fetcher.Send(server.Url(path, "host" + std::to_string(i % 30) + ".test"))] = path;
  }
  fetcher.WaitForCount(kFetches);
  std::map<uint64_t, size_t> loop_of_host;
  std::set<size_t> loops;
  for (const FetchResponse& response : fetcher.TakeAll()) {
    ASSERT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
    ASSERT_EQ(response.body, paths.at(response.task.id));
    const size_t loop = fetcher.loop_of(response.task.id);
    loops.insert(loop);
    ASSERT_EQ(loop_of_host.try_emplace(response.task.host, loop).first->second, loop);
  }
  EXPECT_EQ(loops.size(), 3U);
  EXPECT_LE(server.connections(), 1000) << "kept connections are used";
}

TEST(FetchLoopsTest, TooManyWaitingIsAnsweredWithLocal) {
  ScriptServer server([](ScriptConnection& connection) { connection.WaitForPeerEnd(); });
  FetchOptions options;
  options.max_in_flight = 2;
  options.max_waiting = 3;
  Fetcher fetcher(options);
  for (int i = 0; i < 50; ++i) fetcher.Send(server.Url("/"));
  fetcher.WaitForCount(45);
  for (const FetchResponse& response : fetcher.TakeAll()) EXPECT_EQ(response.outcome, FetchOutcome::kLocal);
  fetcher.loops().Stop();
  EXPECT_EQ(fetcher.count(), 50U);
  for (const FetchResponse& response : fetcher.TakeAll()) EXPECT_EQ(response.outcome, FetchOutcome::kCancelled);
}

TEST(FetchLoopsTest, StopEndsEverythingInCancelledAndNothingIsLost) {
  ScriptServer server([](ScriptConnection& connection) {
    // Some hang before the head, some inside the body.
    const std::string head = connection.ReadHead();
    if (head.find("/b") != std::string::npos) connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab");
    connection.WaitForPeerEnd();
  });
  FetchOptions options;
  options.loops = 2;
  options.max_in_flight = 5;
  Fetcher fetcher(options);
  for (int i = 0; i < 100; ++i) {
    fetcher.Send(server.Url(i % 2 == 0 ? "/a" : "/b", "h" + std::to_string(i) + ".test"));
  }
  fetcher.loops().Stop();
  EXPECT_EQ(fetcher.count(), 100U);
  for (const FetchResponse& response : fetcher.TakeAll()) {
    EXPECT_EQ(response.outcome, FetchOutcome::kCancelled);
    EXPECT_EQ(response.body, "");
  }
  fetcher.loops().Stop();
}

// A handler that takes longer over one answer than another one may take to come.
class LongLook : public Fetcher {
 public:
  LongLook(const FetchOptions& options, std::atomic<bool>& looking, const std::atomic<bool>& sent)
      : Fetcher(options), looking_(looking), sent_(sent) {}
  ~LongLook() override { loops().Stop(); }
  void OnResponse(FetchResponse&& response, size_t loop) override {
    if (response.task.url.ends_with("/long")) {
      looking_ = true;
      looking_.notify_all();
      sent_.wait(false);
      // What it is about: a loop that is kept busy past the limit. Nothing waits for this to be long enough.
      std::this_thread::sleep_for(std::chrono::nanoseconds(2 * QuickOptions().limits.first_byte_ns));
    }
    Fetcher::OnResponse(std::move(response), loop);
  }

 private:
  std::atomic<bool>& looking_;
  const std::atomic<bool>& sent_;
};

TEST(FetchLoopsTest, AnAnswerThatCameInTimeCountsHoweverLateItIsRead) {
  std::atomic<bool> asked = false;
  std::atomic<bool> looking = false;
  std::atomic<bool> sent = false;
  ScriptServer server([&](ScriptConnection& connection) {
    const std::string head = connection.ReadHead();
    if (head.starts_with("GET /other")) {
      asked = true;
      asked.notify_all();
      looking.wait(false);
    }
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    if (head.starts_with("GET /other")) {
      sent = true;
      sent.notify_all();
    }
    connection.WaitForPeerEnd();
  });
  LongLook fetcher(QuickOptions(), looking, sent);
  const uint64_t other = fetcher.Send(server.Url("/other"));
  asked.wait(false);
  const uint64_t looked_at = fetcher.Send(server.Url("/long", "b.test"));
  EXPECT_EQ(fetcher.Wait(looked_at).outcome, FetchOutcome::kAnswered);
  const FetchResponse response = fetcher.Wait(other);
  EXPECT_EQ(response.outcome, FetchOutcome::kAnswered) << response.detail;
}

// A handler that fetches the next page of a chain from inside OnResponse, as a small crawler would.
class Chain : public FetchHandler {
 public:
  explicit Chain(const ScriptServer& server) : server_(server) {}
  void Begin(FetchLoops* loops) {
    loops_ = loops;
    Next(0);
  }
  void OnResponse(FetchResponse&& response, size_t) override {
    const size_t number = response.task.id + 1;
    if (response.outcome != FetchOutcome::kAnswered || number == 200) {
      const std::lock_guard lock(mutex_);
      last_ = number;
      done_.notify_all();
      return;
    }
    Next(number);
  }
  void OnResolved(Resolution&&) override {}
  size_t WaitForEnd() {
    std::unique_lock lock(mutex_);
    done_.wait_for(lock, std::chrono::minutes(1), [&] { return last_ > 0; });
    return last_;
  }

 private:
  void Next(size_t number) {
    FetchTask task;
    task.id = number;
    task.url = server_.Url("/" + std::to_string(number));
    task.address = *Address::Parse("127.0.0.1");
    loops_->Fetch(std::move(task));
  }
  const ScriptServer& server_;
  FetchLoops* loops_ = nullptr;
  std::mutex mutex_;
  std::condition_variable done_;
  size_t last_ = 0;
};

TEST(FetchLoopsTest, HandlerMayFetch) {
  ScriptServer server(EchoPath);
  Chain chain(server);
  FetchOptions options;
  options.dns.allow_private = true;
  auto loops = FetchLoops::Create(options, chain);
  ASSERT_TRUE(loops.has_value());
  chain.Begin(loops->get());
  EXPECT_EQ(chain.WaitForEnd(), 200U);
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace portolan
