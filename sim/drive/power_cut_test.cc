// Power cuts in the middle of a crawl, at each operation that changes the disk: shard and all outputs together, with
// checkpoints in steps while the crawl continues, and a follower of the link log beside it. A new crawl opens what is
// left and runs to its end. Then the outputs hold the same as those of a crawl without a cut, each page once, the
// follower's copy is the link log record by record, and no host was hit too early.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "follow/follower.h"
#include "follow/link_reader.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/append_file.h"
#include "outputs/log_text.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/oracle/judge.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
constexpr char kArchive[] = "warc";
constexpr char kLog[] = "log";
constexpr char kLinks[] = "links";
constexpr char kCopy[] = "copies/links.copy";

std::string LineOf(const LinkLine& link) {
  return std::string(link.source) + " " + std::string(link.target) + " " + std::string(link.anchor) + "\n";
}

// One run of a follower that copies the link log.
Status Follow(Env& env) {
  RETURN_IF_ERROR(env.CreateDirs("copies"));
  auto opened = Follower::Open(env, LinkLogSource("state", kLinks), "copies/links.position");
  if (!opened && opened.error().code() == ErrorCode::kNotFound) return {};  // there is no checkpoint yet
  if (!opened) return std::unexpected(opened.error());
  Follower& follower = *opened;
  const bool first = follower.copied() == 0;
  Result<AppendFile> copy = first ? AppendFile::Make(env, kCopy) : AppendFile::Continue(env, kCopy, follower.copied());
  if (!copy) return std::unexpected(copy.error());
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, NextLinks([&](const OutputReader::Each& each) { return follower.Next(each); },
                                     [&](const LinkLine& link) {
                                       copy->Add(LineOf(link));
                                       return Status();
                                     }));
  }
  RETURN_IF_ERROR(copy->Sync());
  if (first) RETURN_IF_ERROR(SyncDirOnce(env, "copies"));
  return follower.Save(copy->size());
}

// The link log, as a copy of it should be; `pages` counts how often each page is in it.
std::string LinkLog(Env& env, std::map<std::string, int>& pages) {
  std::string text;
  pages.clear();
  std::string last;
  EXPECT_TRUE(ForEachLink(env, LinkLogSource("state", kLinks), [&](const LinkLine& link) {
    text += LineOf(link);
    if (link.source != last) ++pages[std::string(link.source)];
    last = link.source;
    return Status();
  }));
  return text;
}

// Hits of a run. They are passed to a judge when the run's end is known: requests that were running ended with it.
class Record : public HitSink {
 public:
  void OnHit(const Hit& hit) override { hits_.push_back(Copy(hit)); }
  void OnOpen(int64_t, uint64_t, std::string_view, uint16_t) override {}
  void OnClose(int64_t, uint64_t) override {}
  void OnDns(int64_t, std::string_view, std::string_view, int) override {}

  void TellUntil(int64_t unix_ns, HitSink& to) const {
    for (const Owned& owned : hits_) {
      Hit hit = owned.hit;
      hit.address = owned.address;
      hit.host = owned.host;
      hit.method = owned.method;
      hit.path_and_query = owned.path;
      hit.user_agent = owned.agent;
      hit.end_ns = std::min(hit.end_ns, unix_ns);
      to.OnHit(hit);
    }
  }

 private:
  struct Owned {
    Hit hit;
    std::string address, host, method, path, agent;
  };
  static Owned Copy(const Hit& hit) {
    return {hit,
            std::string(hit.address),
            std::string(hit.host),
            std::string(hit.method),
            std::string(hit.path_and_query),
            std::string(hit.user_agent)};
  }
  std::vector<Owned> hits_;
};

class PowerCuts {
 public:
  explicit PowerCuts(uint32_t shards = 1) : shards_(shards) {
    WorldParams params = LoadProfile("small").value();
    for (const auto& [key, value] : {std::pair{"domains", "6"}, {"pages", "40"}, {"max_hosts", "2"}}) {
      EXPECT_TRUE(SetParam(params, key, value)) << key;
    }
    world_ = World::Create(params, 3).value();
    MemEnv env;
    const Run whole = Crawl(env, kBegin);
    EXPECT_TRUE(whole.status) << whole.status.error().ToString();
    expected_ = Archived(env);
    logged_ = Logged(env);
    const std::string links = LinkLog(env, linked_);
    EXPECT_EQ(ReadWholeFile(env, kCopy).value(), links);
    EXPECT_GT(linked_.size(), 10U);
  }

  // The number of operations of a crawl without a cut.
  uint64_t Operations() {
    MemEnv mem;
    FaultyEnv env(mem);
    EXPECT_TRUE(Crawl(env, kBegin).status);
    return env.operations();
  }

  // Cuts at operation `cut`, once for each way in which the disk may lose what was not synced. With `again` the power
  // is cut a second time, this many operations after the recovery began.
  void CutAt(uint64_t cut, uint64_t again) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    const Run first = Crawl(env, kBegin);
    ASSERT_TRUE(env.power_is_cut()) << "operation " << cut;
    const std::pair<CrashMode, uint64_t> outcomes[] = {
        {CrashMode::kLoseUnsynced, 0}, {CrashMode::kKeepAll, 0}, {CrashMode::kTorn, cut}};
    for (const auto& [mode, seed] : outcomes) {
      SCOPED_TRACE("cut at " + std::to_string(cut) + ", mode " + std::to_string(static_cast<int>(mode)) +
                   (again > 0 ? ", and again at " + std::to_string(again) : ""));
      Judge judge(*world_, MakeRules(again > 0 ? 3 : 2));
      first.hits.TellUntil(first.end_unix_ns, judge);
      std::unique_ptr<MemEnv> left = mem.CrashedCopy(mode, seed);
      int64_t now = first.end_unix_ns;
      if (again > 0) {
        FaultyEnv faulty(*left, {.power_cut_at = again});
        const Run second = Crawl(faulty, now);
        second.hits.TellUntil(second.end_unix_ns, judge);
        now = second.end_unix_ns;
        left = left->CrashedCopy(mode, seed + 1);
      }
      const Run last = Crawl(*left, now);
      ASSERT_TRUE(last.status) << last.status.error().ToString();
      last.hits.TellUntil(last.end_unix_ns, judge);
      ASSERT_EQ(last.lost, 0);
      ASSERT_EQ(Archived(*left), expected_);
      ASSERT_EQ(Logged(*left), logged_);
      std::map<std::string, int> linked;
      const std::string links = LinkLog(*left, linked);
      ASSERT_EQ(linked, linked_);
      ASSERT_EQ(ReadWholeFile(*left, kCopy).value(), links);
      const Account account = judge.Finish(last.end_unix_ns);
      ASSERT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
      ++recoveries_;
    }
  }

  uint64_t recoveries() const { return recoveries_; }
  size_t pages() const { return expected_.size(); }

 private:
  struct Run {
    Status status;
    Record hits;
    int64_t end_unix_ns = 0;
    int64_t lost = 0;  // URLs that were found and did not end
  };

  // Runs from what is in `env` to the end, or to the first error.
  Run Crawl(Env& env, int64_t unix_ns) const {
    Run run;
    VirtualTime time(unix_ns);
    run.status = [&]() -> Status {
      VirtualCrawl::Options options = MakeOptions();
      options.shards = shards_;
      options.after_event = [&env](uint64_t events) { return events % 150 == 0 ? Follow(env) : Status(); };
      ASSIGN_OR_RETURN(const auto crawl, VirtualCrawl::Open(env, *world_, time, run.hits, options));
      RETURN_IF_ERROR(crawl->Seed());
      RETURN_IF_ERROR(crawl->Run(1'000'000));
      RETURN_IF_ERROR(crawl->Finish());
      RETURN_IF_ERROR(Follow(env));
      if (crawl->driver().state() != "done") return Fail(ErrorCode::kBusy, "the crawl is not done");
      for (uint32_t i = 0; i < shards_; ++i) {
        const Shard& shard = crawl->shard(i);
        RETURN_IF_ERROR(shard.frontier().CheckInvariants());
        const Shard::Census census = shard.TakeCensus();
        run.lost += static_cast<int64_t>(shard.seen().counts().unique) - static_cast<int64_t>(census.finished);
        if (census.unanswered + census.gate + census.frontier + census.in_flight > 0) {
          return Fail(ErrorCode::kBusy, "something is left");
        }
      }
      return {};
    }();
    run.end_unix_ns = time.UnixNs();
    return run;
  }

  static VirtualCrawl::Options MakeOptions() {
    VirtualCrawl::Options options;
    options.shard.scope.mode = ScopeMode::kAny;
    options.shard.connections = 8;
    options.shard.frontier.memory = 1 << 20;
    options.shard.frontier.back_queues = 24;
    options.shard.frontier.copy_hosts = 1;  // a snapshot lasts as many events as there are hosts
    options.shard.frontier.politeness.host_delay_ns = kSecond;
    options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
    options.shard.seen.memory = 2 << 20;
    options.shard.gate.memory = 8 << 20;
    options.checkpoint_ns = kSecond;
    options.checkpoint_step_ns = kSecond / 4;
    options.archive_dir = kArchive;
    options.log_dir = kLog;
    options.links_dir = kLinks;
    options.text_dir = "text";
    options.log_file_size = 4 << 10;  // a few pages, so that files are finished and packed during the crawl
    return options;
  }

  static Judge::Options MakeRules(uint32_t fetches) {
    Judge::Options judge;
    judge.rules.host_gap_ns = kSecond;
    judge.rules.ip_gap_ns = kSecond / 10;
    judge.rules.slack_ns = 0;
    judge.rules.gap_from_end = true;
    judge.rules.connections = 1;
    judge.rules.crawl_delay = true;
    judge.rules.fetches_per_url = fetches;
    return judge;
  }

  // How often each URL is in the indexes of the archive.
  static std::map<std::string, int> Archived(Env& env) {
    std::map<std::string, int> urls;
    const std::vector<std::string> names = env.List(kArchive).value();
    for (const std::string& name : names) {
      EXPECT_FALSE(name.ends_with(".part")) << name << ": all files are finished";
      if (!name.ends_with(".cdxj")) continue;
      const std::string text = ReadWholeFile(env, JoinPath(kArchive, name)).value();
      for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        ++urls[text.substr(at, text.find(' ', at) - at)];
    }
    return urls;
  }

  // URLs of the log that were not to be tried again, and how often each occurs; robots.txt may be fetched again.
  static std::map<std::string, int> Logged(Env& env) {
    std::map<std::string, int> urls;
    const auto files = ListLogFiles(env, kLog, kCrawlLogNames).value();
    for (const auto& [serial, file] : files) {
      const auto text = LogText::Open(env, file).value();
      EXPECT_TRUE(ForEachLineOf(*text, 1 << 20, [&](std::string_view line) {
        if (line.find("\"kind\":\"robots\"") != line.npos || line.find("\"again\"") != line.npos) return true;
        const size_t url = line.find("\"url\":\"") + 7;
        ++urls[std::string(line.substr(url, line.find('"', url) - url))];
        return true;
      }));
    }
    return urls;
  }

  const uint32_t shards_;
  std::unique_ptr<World> world_;
  std::map<std::string, int> expected_;
  std::map<std::string, int> logged_;
  std::map<std::string, int> linked_;
  uint64_t recoveries_ = 0;
};

TEST(PowerCutTest, ACrawlThatIsCutAnywhereEndsAsIfItHadNotBeen) {
  PowerCuts cuts;
  ASSERT_GT(cuts.pages(), 20U);
  const uint64_t operations = cuts.Operations();
  ASSERT_GT(operations, 200U);
  // A sample, and all operations of the end, where the archive's files are closed.
  for (uint64_t cut = 1; cut <= operations; cut += cut + 30 < operations ? 41 : 1) {
    cuts.CutAt(cut, 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(PowerCutTest, SoDoesOneOfSeveralShards) {
  PowerCuts cuts(3);
  const uint64_t operations = cuts.Operations();
  for (uint64_t cut = 1; cut <= operations; cut += 61) {
    cuts.CutAt(cut, 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

class PowerCutSlowTest : public testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Shards, PowerCutSlowTest, testing::Values(1U, 3U));

TEST_P(PowerCutSlowTest, AtEveryOperation) {
  PowerCuts cuts(GetParam());
  const uint64_t operations = cuts.Operations();
  for (uint64_t cut = 1; cut <= operations; ++cut) {
    cuts.CutAt(cut, 0);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::printf("power cut at each of %llu operations, %llu recoveries\n", static_cast<unsigned long long>(operations),
              static_cast<unsigned long long>(cuts.recoveries()));
}

TEST_P(PowerCutSlowTest, AgainDuringTheRecovery) {
  PowerCuts cuts(GetParam());
  const uint64_t operations = cuts.Operations();
  for (uint64_t cut = 1; cut <= operations; cut += 7) {
    cuts.CutAt(cut, 1 + cut % 53);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace portolan::sim
