// The page on which a URL was found travels with it through every queue, table and checkpoint: the logs of simulated
// crawls that crash and resume must show the path to each page.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/oracle/judge.h"
#include "sim/virtual/virtual_time.h"
#include "sim/world/world.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000 * kSecond;

struct Line {
  std::string url;
  std::string kind;
  std::string via;
  int depth = 0;
  int status = 0;
  bool again = false;
};

std::string Member(const std::string& line, const std::string& name) {
  const size_t at = line.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 3;
  return line[begin] == '"' ? line.substr(begin + 1, line.find('"', begin + 1) - begin - 1)
                            : line.substr(begin, line.find_first_of(",}", begin) - begin);
}

std::vector<Line> ReadLog(Env& env, const std::string& dir) {
  std::vector<Line> lines;
  const std::vector<std::string> names = env.List(dir).value();
  for (const std::string& name : names) {
    const std::string text = ReadWholeFile(env, JoinPath(dir, name)).value();
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const std::string status = Member(line, "status");
      lines.push_back({.url = Member(line, "url"),
                       .kind = Member(line, "kind"),
                       .via = Member(line, "via"),
                       .depth = std::stoi(Member(line, "depth")),
                       .status = status.empty() ? 0 : std::stoi(status),
                       .again = !Member(line, "again").empty()});
    }
  }
  return lines;
}

// Runs until it is done, in several runs that end with a crash.
std::vector<Line> Crawl(const World& world, bool budgets, bool via) {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 16;
  options.shard.via = via;
  options.shard.frontier.memory = 1 << 20;
  options.shard.frontier.back_queues = 48;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = 2 << 20;
  options.shard.gate.memory = 8 << 20;
  options.shard.admission.enabled = budgets;
  options.shard.admission.star.memory = 8 << 20;
  options.checkpoint_ns = 2 * kSecond;
  options.log_dir = "log";
  MemEnv env;
  Judge judge(world, {});
  int64_t begin_ns = 0;
  for (int life = 0; life < 100; ++life) {
    VirtualTime time(kBegin + begin_ns);  // pending events end with this run
    options.begin_unix_ns = kBegin + begin_ns;
    auto crawl = VirtualCrawl::Open(env, world, time, judge, options).value();
    if (life == 0) {
      EXPECT_TRUE(crawl->Seed());
      EXPECT_TRUE(crawl->Checkpoint());
    }
    const Status status = crawl->Run(life < 4 ? 2000 : ~uint64_t{0});
    EXPECT_TRUE(status) << status.error().ToString();
    if (crawl->shard().state() == Shard::State::kDone) {
      EXPECT_GT(life, 1) << "nothing was cut";
      EXPECT_TRUE(crawl->Finish());
      return ReadLog(env, "log");
    }
    begin_ns += time.NowNs() + kSecond;
    crawl.reset();
    env.Crash(CrashMode::kLoseUnsynced, 1);
  }
  ADD_FAILURE() << "it does not end";
  return {};
}

std::unique_ptr<World> MakeWorld() {
  WorldParams params = LoadProfile("demo").value();
  EXPECT_TRUE(SetParam(params, "domains", "40"));
  EXPECT_TRUE(SetParam(params, "pages", "1500"));
  return World::Create(params, 7).value();
}

TEST(ViaCrawlTest, EveryPageHasAWayFromASeed) {
  const auto world = MakeWorld();
  std::set<std::string> seeds;
  for (const std::string& seed : world->Seeds()) seeds.insert(seed);
  for (const bool budgets : {false, true}) {
    std::map<std::string, Line> found;
    size_t with = 0;
    for (const Line& line : Crawl(*world, budgets, true)) {
      if (line.kind == "robots") {
        EXPECT_EQ(line.via, "") << line.url;
      } else if (line.via.empty()) {
        EXPECT_TRUE(seeds.contains(line.url)) << line.url;
        EXPECT_EQ(line.depth, 0);
      } else {
        ++with;
        const auto from = found.find(line.via);
        ASSERT_NE(from, found.end()) << line.url << " was found on " << line.via << ", which was not fetched before";
        // A redirect does not increase the depth; a link adds one.
        const int steps = line.depth - from->second.depth;
        EXPECT_TRUE(steps == 1 || (steps == 0 && from->second.kind == "page")) << line.url << " via " << line.via;
        if (from->second.status / 100 == 3) {
          EXPECT_EQ(steps, 0) << line.url << " via " << line.via;
        }
      }
      if (!line.again) found[line.url] = line;
    }
    EXPECT_GT(with, 500U) << "budgets " << budgets;
  }
}

TEST(ViaCrawlTest, ItCanBeLeftOut) {
  const auto world = MakeWorld();
  for (const Line& line : Crawl(*world, false, false)) EXPECT_EQ(line.via, "") << line.url;
}

}  // namespace
}  // namespace portolan::sim
