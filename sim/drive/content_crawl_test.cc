// Content-seen in whole crawls of simulated webs with duplicates and mirrors: what is archived, what is fetched, and
// that nothing is lost which is not somewhere else.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "io/mem_env.h"
#include "io/rng.h"
#include "outputs/append_file.h"
#include "outputs/log_text.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

using Json = nlohmann::json;

constexpr char kArchive[] = "warc";
constexpr char kLog[] = "log";

struct Capture {
  std::string url;
  bool revisit = false;
  std::string digest;
};

// The captures of the archive's indexes.
std::vector<Capture> Captures(Env& env) {
  std::vector<Capture> captures;
  const std::vector<std::string> names = env.List(kArchive).value();
  for (const std::string& name : names) {
    if (!name.ends_with(".cdxj")) continue;
    const std::string text = ReadWholeFile(env, JoinPath(kArchive, name)).value();
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const Json line = Json::parse(text.substr(text.find('{', at), text.find('\n', at) - text.find('{', at)));
      captures.push_back({line.value("url", ""), line.value("mime", "") == "warc/revisit", line.value("digest", "")});
    }
  }
  return captures;
}

void ForEachLogLine(Env& env, const std::function<void(const Json& line)>& each) {
  const auto files = ListLogFiles(env, kLog, kCrawlLogNames).value();
  for (const auto& [serial, file] : files) {
    const auto text = LogText::Open(env, file).value();
    EXPECT_TRUE(ForEachLineOf(*text, 1 << 20, [&](std::string_view line) {
      each(Json::parse(line));
      return true;
    }));
  }
}

struct ContentRun {
  std::map<std::string, int> hits;  // of pages, by host name
  std::set<std::string> fetched;    // URLs of pages that answered 200
  CrawlCounts counts;
  uint64_t order_hash = 0;
  Account account;
};

// Crawls to the end; with `kills`, the crawl is dropped so many times after a random number of events, and continues
// from its last checkpoint.
ContentRun Crawl(const World& world, Env& env, const Setting& setting, DuplicatePolicy policy, int kills = 0,
                 uint64_t content_memory = ContentSeenOptions::kMinMemory) {
  ContentRun run;
  VirtualTime time(kBegin);
  Setting rules = setting;
  Judge::Options judging = MakeRules(rules, false);
  judging.rules.fetches_per_url = static_cast<uint32_t>(1 + kills);
  Judge judge(world, judging);
  VirtualCrawl::Options options = MakeOptions(setting);
  options.state_dir = "state";
  options.archive_dir = kArchive;
  options.log_dir = kLog;
  options.shard.content_seen = true;
  options.shard.duplicates = policy;
  options.shard.content.memory = content_memory;
  options.on_hit = [&](const Hit& hit) {
    if (hit.path_and_query == "/robots.txt") return;
    ++run.hits[std::string(hit.host)];
    if (hit.status == 200) run.fetched.insert(std::string(hit.host) + std::string(hit.path_and_query));
  };
  Rng rng(9);
  for (int i = 0; i <= kills; ++i) {
    auto opened = VirtualCrawl::Open(env, world, time, judge, options);
    EXPECT_TRUE(opened) << opened.error().ToString();
    VirtualCrawl& crawl = **opened;
    EXPECT_TRUE(crawl.Seed());
    const Status status = crawl.Run(i < kills ? 2000 + rng.Below(4000) : 200'000'000);
    EXPECT_TRUE(status) << status.error().ToString();
    if (i < kills) continue;
    EXPECT_EQ(crawl.driver().state(), "done");
    EXPECT_TRUE(crawl.Finish());
    for (uint32_t shard = 0; shard < setting.shards; ++shard) {
      const Shard::Census census = crawl.shard(shard).TakeCensus();
      EXPECT_EQ(crawl.shard(shard).seen().counts().unique, census.finished);
    }
    run.counts = crawl.driver().counts();
    run.order_hash = crawl.OrderHash();
  }
  run.account = judge.Finish(time.UnixNs());
  // The requests that were running at a kill are judged to their end, so their successors seem too early.
  if (kills == 0) {
    EXPECT_EQ(run.account.TotalViolations(), 0U) << AccountTable(run.account);
  }
  return run;
}

Setting Duplicates() {
  Setting setting;
  setting.profile = "demo";
  setting.set = {{"domains", "60"}, {"pages", "1500"}, {"duplicate", "0.1"}, {"mirrors", "0.3"}};
  setting.checkpoint_ns = 20 * kSecond;
  return setting;
}

// Each payload has one full capture, and each revisit one to refer to.
void ExpectOneFullCapture(const std::vector<Capture>& captures) {
  std::map<std::string, int> full;
  std::map<std::string, int> urls;
  size_t revisits = 0;
  for (const Capture& capture : captures) {
    ++urls[capture.url];
    if (!capture.revisit) ++full[capture.digest];
  }
  for (const Capture& capture : captures) {
    if (!capture.revisit) continue;
    ++revisits;
    EXPECT_EQ(full[capture.digest], 1) << capture.url;
  }
  for (const auto& [digest, times] : full) EXPECT_EQ(times, 1) << digest;
  for (const auto& [url, times] : urls) EXPECT_EQ(times, 1) << url;
  EXPECT_GT(revisits, 50U);
}

// Error pages and redirects of the virtual web have no payload digest: they are left out.
std::vector<Capture> WithPayload(std::vector<Capture> captures, const ContentRun& run, const World& world) {
  std::erase_if(captures, [&](const Capture& capture) {
    const Place place = world.FindUrl(capture.url);
    return place.place_class != PlaceClass::kPage ||
           !run.fetched.contains(capture.url.substr(capture.url.find("//") + 2));
  });
  return captures;
}

TEST(ContentCrawlTest, EachPayloadIsArchivedInFullOnce) {
  const Setting setting = Duplicates();
  const auto world = MakeWorld(setting);
  MemEnv env;
  const ContentRun run = Crawl(*world, env, setting, DuplicatePolicy::kMark);
  const std::vector<Capture> captures = WithPayload(Captures(env), run, *world);
  ExpectOneFullCapture(captures);
  EXPECT_EQ(run.counts.late_duplicates, 0U);
  EXPECT_EQ(run.counts.copied_links, 0U);
  EXPECT_EQ(run.counts.mirrored, 0U);
  uint64_t named = 0;
  ForEachLogLine(env, [&](const Json& line) {
    if (!line.contains("duplicate_of")) return;
    ++named;
    const std::string first = line["duplicate_of"];
    EXPECT_TRUE(run.fetched.contains(first.substr(first.find("//") + 2))) << first;
    EXPECT_TRUE(line.contains("duplicate_time"));
  });
  EXPECT_EQ(named, run.counts.duplicates);
}

TEST(ContentCrawlTest, MarkingFetchesWhatIsFetchedWithoutIt) {
  const Setting setting = Duplicates();
  const auto world = MakeWorld(setting);
  MemEnv with;
  MemEnv without;
  const ContentRun marked = Crawl(*world, with, setting, DuplicatePolicy::kMark);
  const ContentRun kept = Crawl(*world, without, setting, DuplicatePolicy::kKeep);
  EXPECT_EQ(marked.order_hash, kept.order_hash);
  EXPECT_EQ(marked.fetched, kept.fetched);
  for (const Capture& capture : Captures(without)) EXPECT_FALSE(capture.revisit) << capture.url;
}

// Killed at random moments, a crawl has one full capture of each payload; and the same seed gives the same order.
TEST(ContentCrawlTest, KilledAtRandomItStillHasOneFullCapturePerPayload) {
  const Setting setting = Duplicates();
  const auto world = MakeWorld(setting);
  MemEnv env;
  const ContentRun run = Crawl(*world, env, setting, DuplicatePolicy::kMark, 6);
  ExpectOneFullCapture(WithPayload(Captures(env), run, *world));
}

TEST(ContentCrawlTest, TheSameSeedGivesTheSameOrder) {
  const Setting setting = Duplicates();
  const auto world = MakeWorld(setting);
  MemEnv one;
  MemEnv two;
  EXPECT_EQ(Crawl(*world, one, setting, DuplicatePolicy::kSkip).order_hash,
            Crawl(*world, two, setting, DuplicatePolicy::kSkip).order_hash);
}

// Skipping links of copies loses no content: each page that marking fetches is fetched, or one that shows the same.
TEST(ContentCrawlTest, SkippingLosesNoContent) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Setting setting = Duplicates();
    setting.seed = seed;
    const auto world = MakeWorld(setting);
    const auto contents = [&](const std::set<std::string>& fetched) {
      std::set<uint64_t> shown;
      for (const std::string& url : fetched) {
        const size_t slash = url.find('/');
        Place place = world->Find(url.substr(0, slash), url.substr(slash));
        if (place.place_class != PlaceClass::kPage) continue;
        if (const auto original = world->MirrorOf(place.host)) place.host = *original;
        shown.insert(world->DenseNumber(place.host, place.number));
      }
      return shown;
    };
    MemEnv one;
    MemEnv two;
    const ContentRun marked = Crawl(*world, one, setting, DuplicatePolicy::kMark);
    const ContentRun skipped = Crawl(*world, two, setting, DuplicatePolicy::kSkip);
    const std::set<uint64_t> have = contents(skipped.fetched);
    for (const uint64_t page : contents(marked.fetched)) {
      if (!have.contains(page)) ADD_FAILURE() << "seed " << seed << ": " << world->UrlOf(world->FromDense(page));
    }
    EXPECT_GT(skipped.counts.copied_links, 100U) << "seed " << seed;
  }
}

// Across shards copies are found late, and nothing is lost.
TEST(ContentCrawlTest, SeveralShardsFindCopiesOfOneAnotherLate) {
  Setting setting = Duplicates();
  setting.shards = 3;
  const auto world = MakeWorld(setting);
  MemEnv env;
  const ContentRun run = Crawl(*world, env, setting, DuplicatePolicy::kMark);
  const std::vector<Capture> captures = WithPayload(Captures(env), run, *world);
  std::map<std::string, uint64_t> full;
  for (const Capture& capture : captures) {
    if (!capture.revisit) ++full[capture.digest];
  }
  uint64_t more = 0;
  for (const auto& [digest, times] : full) more += times - 1;
  EXPECT_GT(more, 0U);
  EXPECT_EQ(run.counts.late_duplicates, more);
  uint64_t late = 0;
  ForEachLogLine(env, [&](const Json& line) { late += line["outcome"] == "late_duplicate" ? 1 : 0; });
  EXPECT_EQ(late, more);
}

// A host of 10,000 pages and its mirror: after its first hundred pages the mirror costs at most 2 % of its pages.
void ExpectCheapMirror(uint32_t shards, int kills) {
  Setting setting;
  setting.profile = "demo";
  setting.set = {{"domains", "4"}, {"pages", "10600"},       {"max_hosts", "2"},
                 {"giants", "1"},  {"giant_pages", "10000"}, {"max_pages_per_host", "10000"},
                 {"mirrors", "1"}, {"mirror_pages", "10000"}};
  setting.host_delay_ns = kSecond;
  setting.shards = shards;
  setting.checkpoint_ns = 600 * kSecond;
  std::unique_ptr<World> world;
  std::optional<HostId> mirror;
  for (setting.seed = 1; setting.seed < 60 && !mirror; ++setting.seed) {
    world = MakeWorld(setting);
    for (uint32_t d = 0; d < world->Domains(); ++d) {
      for (uint32_t h = 0; h < world->Hosts(d); ++h) {
        const HostId host{d, h};
        if (world->MirrorOf(host) && world->Pages(host) >= 10'000 && world->DnsWorks(host)) mirror = host;
      }
    }
  }
  ASSERT_TRUE(mirror);
  MemEnv env;
  ContentRun run = Crawl(*world, env, setting, DuplicatePolicy::kSkip, kills, 8 << 20);
  const HostId original = *world->MirrorOf(*mirror);
  const int one = run.hits[world->HostName(original)];
  const int two = run.hits[world->HostName(*mirror)];
  const auto [less, more] = std::minmax(one, two);
  std::printf("%u shards: original %d requests, mirror %d, left to the original %lu\n", shards, more, less,
              static_cast<unsigned long>(run.counts.mirrored));
  EXPECT_GE(more, 9'000);
  EXPECT_LE(less, 100 + 200);
  EXPECT_GT(less, 0);
}

TEST(ContentCrawlTest, AMirrorOfTenThousandPagesCostsTwoPercent) { ExpectCheapMirror(1, 0); }
TEST(ContentCrawlTest, AMirrorIsCheapAcrossShards) { ExpectCheapMirror(2, 0); }

}  // namespace
}  // namespace portolan::sim
