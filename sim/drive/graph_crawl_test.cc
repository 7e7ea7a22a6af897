// The link graph of a crawl of the simulated web is that web: its true links, of the pages that were fetched, in both
// directions. Builds run beside the crawl, each on top of the last one; the power is cut in the crawl and in the
// builds, and what is left goes on. The truth comes from the world alone, and from which of its pages can be reached.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "flow/output_records.h"
#include "follow/graph_build.h"
#include "follow/graph_files.h"
#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "graph/graph_scan.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/drive/whole_crawl.h"
#include "sim/world/reach.h"

namespace portolan::sim {
namespace {

constexpr char kLinks[] = "links";
constexpr char kGraph[] = "graph";

// "source target", by URL.
struct LinkSet {
  std::set<std::string> fetched;
  std::set<std::string> pages;
  std::set<std::string> links;
  bool operator==(const LinkSet&) const = default;
};

LinkSet TrueLinks(const World& world) {
  ReachOptions options;
  options.unix_ns = kBegin;
  const Reach reach = Enumerate(world, options);
  LinkSet truth;
  for (uint64_t number = 0; number < world.TotalPages(); ++number) {
    if (!reach.Has(number)) continue;
    const Place place = world.FromDense(number);
    const std::string source = world.UrlOf(place);
    const auto add = [&](std::string_view target) {
      truth.pages.emplace(target);
      truth.links.insert(source + " " + std::string(target));
    };
    truth.fetched.insert(source);
    truth.pages.insert(source);
    if (world.KindOf(place) == PageKind::kRedirect) {
      add(world.UrlOf(world.RedirectTarget(place)));
    } else {
      world.Links(place, kBegin, [&](const OutLink& link) { add(link.url); });
    }
  }
  return truth;
}

// The graph's links: by the forward lists, or by the transposed ones.
LinkSet LinksOf(const GraphFiles& files, GraphDirection direction) {
  const graph::UrlDictionary names = files.Names(GraphLevel::kPages).value();
  std::vector<std::string> urls(names.size());
  std::string key;
  for (uint64_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(names.Get(i, key));
    UrlOfNodeKey(key, urls[i]);
  }
  LinkSet found;
  found.pages.insert(urls.begin(), urls.end());
  const std::string_view fetched = files.Bytes("pages.fetched").value();
  for (uint64_t i = 0; i < urls.size(); ++i) {
    if ((fetched[i / 8] >> i % 8 & 1) != 0) found.fetched.insert(urls[i]);
  }
  LinkTexts texts = LinkTexts::Open(files.Bytes("pages.texts").value()).value();
  graph::GraphScan scan = files.Scan(GraphLevel::kPages, direction).value();
  while (scan.Next()) {
    for (const graph::NodeId other : scan.successors()) {
      const bool forward = direction == GraphDirection::kForward;
      const uint64_t source = forward ? scan.node() : other;
      const uint64_t target = forward ? other : scan.node();
      found.links.insert(urls[source] + " " + urls[target]);
      // As the virtual crawl writes it.
      EXPECT_EQ(texts.Find(source << 32 | target).value().substr(1), "to " + urls[target]);
    }
  }
  EXPECT_TRUE(scan.status());
  return found;
}

class GraphCrawls {
 public:
  explicit GraphCrawls(const std::vector<std::pair<std::string, std::string>>& set) {
    WorldParams params = LoadProfile("small").value();
    for (const auto& [key, value] : set) EXPECT_TRUE(SetParam(params, key, value)) << key;
    EXPECT_TRUE(SetParam(params, "change_days", "0")) << "so that a page has the same links whenever it is fetched";
    world_ = World::Create(params, 3).value();
    truth_ = TrueLinks(*world_);
  }

  // Crawls from what is in `env` to the end, and builds the graph every now and then and at the end.
  Status CrawlAndBuild(Env& env, VirtualTime& time, const Judge::Options& rules) {
    Judge judge(*world_, rules);
    VirtualCrawl::Options options = MakeOptions({.memory = uint64_t{16} << 20, .connections = 16});
    options.checkpoint_ns = kSecond;
    options.checkpoint_step_ns = kSecond / 4;
    options.links_dir = kLinks;
    options.log_file_size = 8 << 10;
    options.after_event = [&](uint64_t events) { return events % 100 == 0 ? Build(env) : Status(); };
    ASSIGN_OR_RETURN(const auto crawl, VirtualCrawl::Open(env, *world_, time, judge, options));
    RETURN_IF_ERROR(crawl->Seed());
    RETURN_IF_ERROR(crawl->Run(1'000'000));
    RETURN_IF_ERROR(crawl->Finish());
    if (crawl->driver().state() != "done") return Fail(ErrorCode::kBusy, "the crawl is not done");
    return Build(env);
  }

  Status Build(Env& env) {
    building_ = true;
    const auto built = BuildGraph(env, LinkLogSource("state", kLinks), kGraph, {.memory = 64 << 10});
    if (!built && built.error().code() == ErrorCode::kNotFound) {  // there is no checkpoint yet
      building_ = false;
      return {};
    }
    if (!built) return std::unexpected(built.error());
    building_ = false;
    builds_ += built->built ? 1 : 0;
    return {};
  }

  void ExpectTrue(Env& env) {
    const auto files = GraphFiles::Open(env, kGraph);
    ASSERT_TRUE(files) << files.error().ToString();
    ASSERT_TRUE((*files)->Verify());
    for (const GraphDirection direction : {GraphDirection::kForward, GraphDirection::kTransposed}) {
      const LinkSet found = LinksOf(**files, direction);
      EXPECT_EQ(found.fetched, truth_.fetched);
      EXPECT_EQ(found.pages, truth_.pages);
      EXPECT_EQ(found.links, truth_.links);
    }
  }

  const LinkSet& truth() const { return truth_; }
  uint64_t builds() const { return builds_; }
  bool building() const { return building_; }

 private:
  std::unique_ptr<World> world_;
  LinkSet truth_;
  uint64_t builds_ = 0;
  bool building_ = false;  // a build has begun and not ended
};

Judge::Options AnyOrder() { return MakeRules({}, false); }

TEST(GraphCrawlTest, HoldsTheTrueLinksOfWhatWasFetched) {
  GraphCrawls crawls({{"pages", "400"}, {"redirect", "0.1"}, {"not_found", "0.1"}, {"robots_forbid_all", "0.2"}});
  ASSERT_GT(crawls.truth().links.size(), 2000U);
  ASSERT_GT(crawls.truth().pages.size(), crawls.truth().fetched.size()) << "some are known and not fetched";
  MemEnv env;
  VirtualTime time(kBegin);
  const Status status = crawls.CrawlAndBuild(env, time, AnyOrder());
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_GT(crawls.builds(), 3U) << "beside the crawl";
  crawls.ExpectTrue(env);
}

TEST(GraphCrawlTest, SoItDoesAfterPowerCutsInTheCrawlAndInTheBuilds) {
  GraphCrawls crawls({{"domains", "6"}, {"pages", "60"}, {"redirect", "0.1"}});
  uint64_t operations = 0;
  {
    MemEnv mem;
    FaultyEnv env(mem);
    VirtualTime time(kBegin);
    ASSERT_TRUE(crawls.CrawlAndBuild(env, time, AnyOrder()));
    crawls.ExpectTrue(mem);
    operations = env.operations();
  }
  ASSERT_GT(operations, 500U);
  uint64_t in_builds = 0;
  uint64_t cuts = 0;
  for (uint64_t cut = 5; cut <= operations; cut += operations / 37) {
    SCOPED_TRACE("cut at operation " + std::to_string(cut));
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    VirtualTime time(kBegin);
    // It may even end well: what a finished build cannot remove is left to the next one.
    static_cast<void>(crawls.CrawlAndBuild(env, time, AnyOrder()));
    ASSERT_TRUE(env.power_is_cut());
    in_builds += crawls.building() ? 1 : 0;
    ++cuts;
    const auto left = mem.CrashedCopy(cut % 2 == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn, cut);
    VirtualTime later(time.UnixNs());
    const Status status = crawls.CrawlAndBuild(*left, later, AnyOrder());
    ASSERT_TRUE(status) << status.error().ToString();
    crawls.ExpectTrue(*left);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(in_builds, 3U);
  EXPECT_GT(cuts - in_builds, 3U);
}

}  // namespace
}  // namespace portolan::sim
