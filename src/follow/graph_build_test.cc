// The link graph of a log: what it holds, however it was built and whatever happens meanwhile.

#include "follow/graph_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "flow/output_records.h"
#include "follow/graph_files.h"
#include "follow/link_batch.h"
#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "follow/page_hosts.h"
#include "follow/pair_sort.h"
#include "follow/spool_file.h"
#include "io/clock.h"
#include "io/counting_env.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

using testing::HasSubstr;

constexpr const char* kDir = "crawl/graph";
const OutputSource kLinkLog1 = LinkLogSource("state", "links");

struct TrueLink {
  std::string source;
  std::string target;
  std::string text;  // flags and anchor
};
using TruePage = std::pair<std::string, std::vector<TrueLink>>;

// A crawl that writes only links.
struct LinkCrawl {
  explicit LinkCrawl(Manifest opened) : manifest(std::move(opened)) {}
  // `place` is where its directories are: "" or "shard-00/".
  static std::unique_ptr<LinkCrawl> Open(Env& env, const std::string& place = "") {
    OutputsOptions options;
    options.log.files = {.dir = place + "log", .names = {}, .file_size = 1 << 20};
    options.links.files = {.dir = place + "links", .names = {}, .file_size = 20'000};
    options.links.enabled = true;
    options.threads = false;
    auto crawl = std::make_unique<LinkCrawl>(Manifest::Open(env, place + "state").value());
    crawl->outputs = Outputs::Open(env, Clock::Real(), crawl->manifest, options).value();
    return crawl;
  }
  void Add(const TruePage& page) {
    PageResult result;
    result.outcome = FetchOutcome::kAnswered;
    result.status = 200;
    OutputItem links{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(links.records, page.first, 1);
    for (const TrueLink& link : page.second) {
      AppendLink(links.records, link.target, link.text.empty() ? 0 : static_cast<uint8_t>(link.text[0]),
                 link.text.empty() ? "" : link.text.substr(1));
    }
    result.outputs.push_back(std::move(links));
    outputs->Write(result, {.url = page.first});
  }
  void Commit() { ASSERT_TRUE(manifest.Commit(outputs->Checkpointables())); }

  Manifest manifest;
  std::unique_ptr<Outputs> outputs;
};

std::vector<TruePage> RandomPages(int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto url = [&](uint64_t n) {
    const uint64_t host = n % 7;
    static const char* const kHosts[] = {"http://a.test",         "https://www.a.test", "http://b.co.uk",
                                         "http://x.b.co.uk:8080", "http://127.0.0.1",   "https://u.github.io",
                                         "http://b-c.co.uk"};
    return std::string(kHosts[host]) + "/p" + std::to_string(n);
  };
  std::vector<TruePage> pages;
  for (int i = 0; i < count; ++i) {
    TruePage page{url(random() % static_cast<uint64_t>(count)), {}};
    std::set<std::string> seen;
    for (uint64_t links = random() % 6; links > 0; --links) {
      const std::string target = url(random() % static_cast<uint64_t>(2 * count));
      if (!seen.insert(target).second) continue;
      std::string text;
      if (random() % 3 != 0)
        text = std::string(1, static_cast<char>(random() % 4)) + "go " + std::to_string(random() % 9);
      page.second.push_back({page.first, target, text});
    }
    pages.push_back(std::move(page));
  }
  return pages;
}

// A graph as lines, to compare with the truth: each level's arcs by name, texts, fetched pages.
using Picture = std::set<std::string>;

std::string HostNameOf(const std::string& url) {
  std::string key;
  AppendNodeKey(url, key);
  return std::string(HostOfNodeKey(key));
}

Picture TruthOf(const std::vector<TruePage>& pages) {
  const DomainNumbers domains = DomainNumbers::Create().value();
  Picture picture;
  std::map<std::pair<std::string, std::string>, std::string> texts;
  const auto known = [&](const std::string& url) {
    picture.insert("page " + url);
    picture.insert("host " + HostNameOf(url));
    picture.insert("domain " + domains.DomainOf(HostNameOf(url)));
  };
  for (const TruePage& page : pages) {
    known(page.first);
    picture.insert("fetched " + page.first);
    for (const TrueLink& link : page.second) {
      known(link.target);
      texts[{link.source, link.target}] = link.text == std::string(1, '\0') ? "" : link.text;
      const std::string from = HostNameOf(link.source);
      const std::string to = HostNameOf(link.target);
      if (from != to) picture.insert("hosts " + from + " " + to);
      if (domains.DomainOf(from) != domains.DomainOf(to)) {
        picture.insert("domains " + domains.DomainOf(from) + " " + domains.DomainOf(to));
      }
    }
  }
  for (const auto& [ends, text] : texts) picture.insert("link " + ends.first + " " + ends.second + " " + text);
  return picture;
}

Picture PictureOf(const GraphFiles& files) {
  Picture picture;
  EXPECT_TRUE(files.Verify());
  std::string_view fetched = files.Bytes("pages.fetched").value();
  LinkTexts texts = LinkTexts::Open(files.Bytes("pages.texts").value()).value();
  for (const GraphLevel level : kGraphLevels) {
    const bool pages = level == GraphLevel::kPages;
    const graph::UrlDictionary names = files.Names(level).value();
    const auto name = [&](uint64_t number) {
      std::string key;
      EXPECT_TRUE(names.Get(number, key));
      if (!pages) return key;
      std::string url;
      UrlOfNodeKey(key, url);
      return url;
    };
    const std::string plural(GraphLevelName(level));
    std::set<uint64_t> forward;
    graph::GraphScan scan = files.Scan(level, GraphDirection::kForward).value();
    while (scan.Next()) {
      picture.insert(plural.substr(0, plural.size() - 1) + " " + name(scan.node()));
      if (pages && (fetched[scan.node() / 8] >> scan.node() % 8 & 1) != 0)
        picture.insert("fetched " + name(scan.node()));
      for (const graph::NodeId to : scan.successors()) {
        const uint64_t pair = MakePair(scan.node(), to);
        forward.insert(pair);
        std::string line = (pages ? "link " : plural + " ") + name(scan.node()) + " " + name(to);
        if (pages) line += " " + std::string(texts.Find(pair).value());
        picture.insert(line);
      }
    }
    EXPECT_TRUE(scan.status());
    EXPECT_EQ(scan.node() + 1, names.size());
    graph::GraphScan turned = files.Scan(level, GraphDirection::kTransposed).value();
    size_t arcs = 0;
    while (turned.Next()) {
      for (const graph::NodeId from : turned.successors()) arcs += forward.count(MakePair(from, turned.node()));
    }
    EXPECT_TRUE(turned.status());
    EXPECT_EQ(arcs, forward.size()) << plural;
    EXPECT_EQ(files.Properties(level, GraphDirection::kTransposed).value().arcs, forward.size());
  }
  return picture;
}

Picture PictureIn(Env& env) {
  const auto files = GraphFiles::Open(env, kDir);
  EXPECT_TRUE(files) << files.error().ToString();
  return files ? PictureOf(**files) : Picture();
}

// Whether the folder has the files of the newest generation and no others.
bool IsTidy(Env& env) {
  const auto names = env.List(kDir).value();
  const auto files =
      std::ranges::count_if(names, [](const std::string& name) { return name != "CURRENT" && name != "LOCK"; });
  return static_cast<size_t>(files) == GraphCurrent::Load(env, kDir).value().files.size();
}

GraphBuildOptions Small() { return {.memory = GraphBuildOptions::kLeastMemory}; }

TEST(NodeKeyTest, IsTheUrlInAnotherOrder) {
  NodeKeyMaker maker;
  const auto key = [&maker](std::string_view url) {
    std::string out;
    AppendNodeKey(url, out);
    std::string again;
    for (int i = 0; i < 2; ++i) {
      again.clear();
      maker.Append(url, again);
      EXPECT_EQ(again, out);
    }
    std::string back;
    UrlOfNodeKey(out, back);
    EXPECT_EQ(back, url);
    return out;
  };
  EXPECT_EQ(key("https://www.example.org:8080/a?b"), "org,example,www):8080/a?b s");
  EXPECT_EQ(key("http://example.org/"), "org,example)/");
  EXPECT_EQ(key("http://127.0.0.1:1/x"), "127.0.0.1):1/x");
  EXPECT_EQ(key("http://[::1]:80/x"), "[::1]):80/x");
  EXPECT_EQ(key("http://example.org./"), ",org,example)/");
  for (const char* odd : {"ftp://a/", "http://a!b/", "http://u:p@a/", "http://a", "", "http://a:x/", "http://[/"}) {
    EXPECT_EQ(key(odd), " " + std::string(odd));
    EXPECT_EQ(HostOfNodeKey(key(odd)), " ");
  }
  EXPECT_LT(key("http://a.test:9/z"), key("http://x.a.test/"));
  EXPECT_LT(key("http://x.a.test/"), key("http://a-b.test/"));
  EXPECT_EQ(HostNameOfKey(KeyOfHostName("www.example.org")), "www.example.org");
}

TEST(DomainNumbersTest, ADomainAroundAnotherIsNumberedInOrder) {
  DomainNumbers domains = DomainNumbers::Create().value();
  std::string bytes;
  const auto sink = [](std::string& to) {
    return [&to](std::string_view piece) {
      to += piece;
      return Status();
    };
  };
  const std::vector<std::string> hosts = {"com,amazonaws,s3,bucket", "com,amazonaws,zzz", "org,a", "org,a,www"};
  graph::UrlDictionaryWriter writer(sink(bytes));
  for (const std::string& host : hosts) {
    ASSERT_TRUE(writer.Add(host));
    domains.AddHost(host);
  }
  ASSERT_TRUE(writer.Finish());
  std::string names;
  graph::UrlDictionaryWriter name_writer(sink(names));
  EXPECT_EQ(domains.Number(graph::UrlDictionary::Open(bytes).value(), name_writer).value(),
            (std::vector<uint32_t>{1, 0, 2, 2}));
}

TEST(PairSortTest, GivesEachPairOnceInOrderWhateverFits) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  std::mt19937_64 random(3);
  for (const size_t memory : {size_t{256}, size_t{40'000}, size_t{1} << 20}) {
    std::set<uint64_t> truth;
    PairSort sort(env, {.dir = "tmp", .memory = memory});
    for (int i = 0; i < 10'000; ++i) {
      const uint64_t pair = MakePair(random() % 100 * 70'000'000 % 0xffffffff, random() % 50);
      truth.insert(pair);
      ASSERT_TRUE(sort.Add(pair));
    }
    ASSERT_TRUE(sort.Sort());
    std::vector<uint64_t> got;
    for (uint64_t pair = 0; sort.Next(pair).value();) got.push_back(pair);
    EXPECT_EQ(got, std::vector<uint64_t>(truth.begin(), truth.end()));
  }
  EXPECT_TRUE(env.List("tmp").value().empty());
}

// Links that are nearly all to the same pages, then each to another page, then with long texts, and again.
TEST(LinkBatchTest, NoBatchIsSmallWhateverCameBefore) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  SpoolFile keys = SpoolFile::Make(env, "tmp", "keys").value();
  SpoolFile links = SpoolFile::Make(env, "tmp", "links").value();
  constexpr size_t kMemory = 1 << 20;
  LinkBatch batch(kMemory, 7);
  uint64_t in_batch = 0;
  std::map<int, std::vector<uint64_t>> sizes;  // of the batches of each kind, in links
  int kind = 0;
  bool first = true;  // of its kind: it finds the memory divided for another one
  const auto page = [](uint64_t n) { return "test,a)/" + std::to_string(n); };
  for (uint64_t n = 0; n < 1'800'000; ++n) {
    const int now = static_cast<int>(n / 300'000 % 3);
    if (batch.full() || now != kind) {
      if (now == kind && !first) sizes[kind].push_back(in_batch);
      first = now != kind;
      ASSERT_TRUE(batch.Write(keys, links));
      ASSERT_TRUE(batch.empty());
      kind = now;
      in_batch = 0;
    }
    if (in_batch % 40 == 0) batch.Page(page(n % 1000));
    batch.Add(page(kind == 1 ? n : n % 500), 1, kind == 2 ? std::string(200, 't') + std::to_string(n) : "text");
    ++in_batch;
  }
  for (const auto& [of, all] : sizes) {
    ASSERT_GE(all.size(), 2U) << of;
    EXPECT_GT(*std::ranges::min_element(all) * 4, *std::ranges::max_element(all)) << of;
  }
  // Per link 8 bytes; per key some 50; per text 220.
  EXPECT_GT(sizes[0].back(), kMemory / 8 / 3);
  EXPECT_GT(sizes[1].back(), kMemory / 60 / 3);
  EXPECT_GT(sizes[2].back(), kMemory / 240 / 3);
}

TEST(GraphBuildTest, HoldsTheLinksOfTheLogInBothDirections) {
  MemEnv env;
  const std::vector<TruePage> pages = RandomPages(3000, 1);
  auto crawl = LinkCrawl::Open(env);
  for (const TruePage& page : pages) crawl->Add(page);
  crawl->Commit();
  const auto built = BuildGraph(env, kLinkLog1, kDir, Small());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_GT(built->batches, 3U) << "more than fits in memory";
  EXPECT_EQ(built->new_records, pages.size());
  const Picture small = PictureIn(env);
  EXPECT_EQ(small, TruthOf(pages));
  MemEnv other;
  auto again = LinkCrawl::Open(other);
  for (const TruePage& page : pages) again->Add(page);
  again->Commit();
  EXPECT_EQ(BuildGraph(other, kLinkLog1, kDir, {.memory = 64 << 20})->batches, 1U);
  EXPECT_EQ(GraphFiles::Open(other, kDir).value()->current().files,
            GraphFiles::Open(env, kDir).value()->current().files)
      << "the memory does not change a byte";
}

// The shards of a crawl, each in a directory of its own, with checkpoints of different moments.
class ShardedCrawl {
 public:
  ShardedCrawl(Env& env, size_t shards) {
    for (size_t i = 0; i < shards; ++i) crawls_.push_back(LinkCrawl::Open(env, NameOf(i) + "/"));
  }
  // A page belongs to a shard by its host, as in a real crawl by its domain.
  void Add(const TruePage& page) {
    crawls_[std::hash<std::string>()(HostNameOf(page.first)) % crawls_.size()]->Add(page);
  }
  void Commit(size_t shard) { crawls_[shard]->Commit(); }
  void Commit() {
    for (const auto& crawl : crawls_) crawl->Commit();
  }
  static std::string NameOf(size_t shard) { return "shard-0" + std::to_string(shard); }
  static OutputSources Logs(const std::vector<size_t>& shards) {
    std::vector<OutputSource> logs;
    for (const size_t shard : shards) {
      logs.push_back(LinkLogSource(NameOf(shard) + "/state", NameOf(shard) + "/links"));
      logs.back().shard = NameOf(shard);
    }
    return OutputSources(logs);
  }

 private:
  std::vector<std::unique_ptr<LinkCrawl>> crawls_;
};

TEST(GraphBuildTest, OfSeveralShardsIsThatOfOneCrawl) {
  const std::vector<TruePage> pages = RandomPages(3000, 6);
  MemEnv one;
  auto whole = LinkCrawl::Open(one);
  for (const TruePage& page : pages) whole->Add(page);
  whole->Commit();
  ASSERT_TRUE(BuildGraph(one, kLinkLog1, kDir, Small()));
  MemEnv env;
  ShardedCrawl crawl(env, 3);
  for (const TruePage& page : pages) crawl.Add(page);
  crawl.Commit();
  const auto built = BuildGraph(env, ShardedCrawl::Logs({0, 1, 2}), kDir, Small());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_EQ(built->new_records, pages.size());
  EXPECT_EQ(PictureIn(env), TruthOf(pages));
  EXPECT_EQ(GraphFiles::Open(env, kDir).value()->current().files, GraphFiles::Open(one, kDir).value()->current().files)
      << "not a byte differs";
  EXPECT_FALSE(BuildGraph(env, ShardedCrawl::Logs({0, 1, 2}), kDir, Small())->built) << "nothing is new";
  EXPECT_THAT(BuildGraph(env, LinkLogSource("shard-00/state", "shard-00/links"), kDir, Small()).error().message(),
              HasSubstr("the positions are those of several shards"));
}

TEST(GraphBuildTest, ShardsComeAndGoAndTheirLinksStay) {
  MemEnv env;
  const std::vector<TruePage> pages = RandomPages(600, 8);
  ShardedCrawl crawl(env, 3);
  const auto half = pages.begin() + 300;
  for (auto page = pages.begin(); page != half; ++page) crawl.Add(*page);
  crawl.Commit();
  ASSERT_TRUE(BuildGraph(env, ShardedCrawl::Logs({0, 1}), kDir, Small()));
  for (auto page = half; page != pages.end(); ++page) crawl.Add(*page);
  crawl.Commit(1);
  crawl.Commit(2);
  // Shard 0 has moved away, shard 2 has come.
  const auto built = BuildGraph(env, ShardedCrawl::Logs({1, 2}), kDir, Small());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_THAT(built->new_shards, testing::ElementsAre("shard-02"));
  EXPECT_THAT(built->gone_shards, testing::ElementsAre("shard-00"));
  EXPECT_LT(PictureIn(env).size(), TruthOf(pages).size());
  crawl.Commit(0);
  const auto back = BuildGraph(env, ShardedCrawl::Logs({0, 1, 2}), kDir, Small());
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_THAT(back->new_shards, testing::IsEmpty());
  EXPECT_THAT(back->gone_shards, testing::IsEmpty());
  EXPECT_EQ(PictureIn(env), TruthOf(pages));
}

TEST(GraphBuildTest, GrowingStepByStepIsTheSameAsAtOnce) {
  MemEnv env;
  const std::vector<TruePage> pages = RandomPages(400, 2);
  auto crawl = LinkCrawl::Open(env);
  crawl->Commit();
  for (size_t i = 0; i < pages.size(); ++i) {
    crawl->Add(pages[i]);
    if (i % 90 != 5) continue;
    crawl->Commit();
    const auto built = BuildGraph(env, kLinkLog1, kDir, Small());
    ASSERT_TRUE(built) << built.error().ToString();
    EXPECT_EQ(PictureIn(env), TruthOf({pages.begin(), pages.begin() + static_cast<long>(i) + 1}));
  }
  crawl->Commit();
  ASSERT_TRUE(BuildGraph(env, kLinkLog1, kDir, Small()));
  EXPECT_FALSE(BuildGraph(env, kLinkLog1, kDir, Small())->built) << "nothing is new";
  MemEnv other;
  auto again = LinkCrawl::Open(other);
  for (const TruePage& page : pages) again->Add(page);
  again->Commit();
  ASSERT_TRUE(BuildGraph(other, kLinkLog1, kDir));
  EXPECT_EQ(GraphFiles::Open(other, kDir).value()->current().files,
            GraphFiles::Open(env, kDir).value()->current().files);
  EXPECT_TRUE(IsTidy(env));
}

// The power is cut, or the disk full, at each operation of a second build.
TEST(GraphBuildCrashTest, TheLastGenerationStaysUntilTheNextIsWhole) {
  const std::vector<TruePage> pages = RandomPages(40, 5);
  const std::vector<TruePage> first(pages.begin(), pages.begin() + 20);
  MemEnv start;
  auto crawl = LinkCrawl::Open(start);
  for (const TruePage& page : first) crawl->Add(page);
  crawl->Commit();
  ASSERT_TRUE(BuildGraph(start, kLinkLog1, kDir, Small()));
  for (size_t i = 20; i < pages.size(); ++i) crawl->Add(pages[i]);
  crawl->Commit();
  const Picture before = TruthOf(first);
  const Picture after = TruthOf(pages);
  uint64_t operations = 0;
  {
    const auto base = start.CrashedCopy(CrashMode::kKeepAll);
    FaultyEnv env(*base);
    ASSERT_TRUE(BuildGraph(env, kLinkLog1, kDir, Small()));
    operations = env.operations();
  }
  ASSERT_GT(operations, 60U);
  for (uint64_t at = 1; at <= operations; ++at) {
    for (const bool full : {false, true}) {
      const std::string what = (full ? "full at " : "cut at ") + std::to_string(at);
      const auto base = start.CrashedCopy(CrashMode::kKeepAll);
      FaultPlan plan;
      (full ? plan.full_at : plan.power_cut_at) = at;
      FaultyEnv env(*base, plan);
      const auto broken = BuildGraph(env, kLinkLog1, kDir, Small());
      const auto mode = full ? CrashMode::kKeepAll : at % 2 == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn;
      const auto left = base->CrashedCopy(mode, at);
      const Picture found = PictureIn(*left);
      EXPECT_TRUE(found == before || found == after) << what;
      EXPECT_TRUE(!broken || !broken->built || found == after) << what;
      const auto built = BuildGraph(*left, kLinkLog1, kDir, Small());
      ASSERT_TRUE(built) << what << ": " << built.error().ToString();
      EXPECT_EQ(PictureIn(*left), after) << what;
      EXPECT_TRUE(IsTidy(*left)) << what;
      if (HasFailure()) return;
    }
  }
}

// The disk fills after more and more bytes of a second build.
TEST(GraphBuildCrashTest, AFullDiskCostsOnlyTheTime) {
  const std::vector<TruePage> pages = RandomPages(60, 6);
  const std::vector<TruePage> first(pages.begin(), pages.begin() + 30);
  MemEnv start;
  auto crawl = LinkCrawl::Open(start);
  for (const TruePage& page : first) crawl->Add(page);
  crawl->Commit();
  ASSERT_TRUE(BuildGraph(start, kLinkLog1, kDir, Small()));
  for (size_t i = 30; i < pages.size(); ++i) crawl->Add(pages[i]);
  crawl->Commit();
  const Picture before = TruthOf(first);
  const Picture after = TruthOf(pages);
  int failed = 0;
  bool built = false;
  for (uint64_t space = 0; !built; space += 700) {
    const auto base = start.CrashedCopy(CrashMode::kKeepAll);
    FaultyEnv env(*base, {.space = space});
    const auto result = BuildGraph(env, kLinkLog1, kDir, Small());
    built = result.has_value();
    if (built) break;
    ++failed;
    EXPECT_EQ(result.error().code(), ErrorCode::kNoSpace) << result.error().ToString();
    EXPECT_EQ(PictureIn(env), before) << space;
    EXPECT_TRUE(IsTidy(env)) << "what was written is given back";
    env.AddSpace(1 << 20);
    const auto again = BuildGraph(env, kLinkLog1, kDir, Small());
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(PictureIn(env), after) << space;
  }
  EXPECT_GT(failed, 5);
}

// Counts what is read from the link log.
class LogCountingEnv : public CountingEnv {
 public:
  explicit LogCountingEnv(Env& base) : CountingEnv(base), log_(base) {}
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override {
    return path.starts_with("links/") ? log_.Open(path, mode, options) : CountingEnv::Open(path, mode, options);
  }
  uint64_t log_read() const { return log_.counters().bytes_read; }

 private:
  CountingEnv log_;
};

TEST(GraphBuildTest, WhatTheLastGenerationHoldsIsNotReadAgain) {
  MemEnv mem;
  const std::vector<TruePage> pages = RandomPages(4000, 8);
  auto crawl = LinkCrawl::Open(mem);
  const auto log_size = [&mem] {
    uint64_t size = 0;
    const std::vector<std::string> names = mem.List("links").value();
    for (const std::string& name : names) size += mem.Open("links/" + name, OpenMode::kRead).value()->Size();
    return size;
  };
  for (size_t i = 0; i < 3900; ++i) crawl->Add(pages[i]);
  crawl->Commit();
  const uint64_t first_size = log_size();
  LogCountingEnv first(mem);
  ASSERT_TRUE(BuildGraph(first, kLinkLog1, kDir, Small()));
  EXPECT_GE(first.log_read(), first_size * 9 / 10);
  EXPECT_LE(first.log_read(), first_size * 11 / 10) << "once";

  for (size_t i = 3900; i < pages.size(); ++i) crawl->Add(pages[i]);
  crawl->Commit();
  const uint64_t more = log_size() - first_size;
  ASSERT_LT(more, first_size / 20);
  LogCountingEnv second(mem);
  const auto built = BuildGraph(second, kLinkLog1, kDir, Small());
  ASSERT_TRUE(built);
  EXPECT_EQ(built->new_records, 100U);
  EXPECT_LE(second.log_read(), more + 8192) << "the new part, and heads of files";
  EXPECT_EQ(PictureIn(mem), TruthOf(pages));
}

// URLs that are as large as all memory, among others.
TEST(GraphBuildTest, UrlsOfAnySizeFit) {
  std::vector<TruePage> pages = RandomPages(300, 10);
  const auto long_url = [](size_t size, int number) {
    return "http://long.test/" + std::to_string(number) + std::string(size, 'x');
  };
  for (size_t i = 0; i < pages.size(); i += 7) {
    const std::string target = long_url(i % 3 == 0 ? 60'000 : 2000 + i, static_cast<int>(i % 5));
    pages[i].second.push_back({pages[i].first, target, std::string("\1long")});
  }
  pages.push_back({long_url(50'000, 9), {{long_url(50'000, 9), "http://a.test/p0", ""}}});
  const Picture truth = TruthOf(pages);
  // Beyond the bound of a key: not in the graph, and counted.
  pages.back().second.push_back({pages.back().first, long_url(70'000, 1), ""});
  MemEnv env;
  auto crawl = LinkCrawl::Open(env);
  for (const TruePage& page : pages) crawl->Add(page);
  crawl->Commit();
  const auto built = BuildGraph(env, kLinkLog1, kDir, Small());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_EQ(built->left_out, 1U);
  EXPECT_LT(built->batches, 100U) << "a large URL does not make every later batch small";
  EXPECT_EQ(PictureIn(env), truth);
}

TEST(GraphFilesTest, DamageIsNamed) {
  MemEnv env;
  auto crawl = LinkCrawl::Open(env);
  for (const TruePage& page : RandomPages(50, 9)) crawl->Add(page);
  crawl->Commit();
  ASSERT_TRUE(BuildGraph(env, kLinkLog1, kDir));
  const GraphCurrent current = GraphCurrent::Load(env, kDir).value();
  for (const GraphCurrent::FileEntry& file : current.files) {
    const auto copy = env.CrashedCopy(CrashMode::kKeepAll);
    const std::string path = GraphFilePath(kDir, 1, file.name);
    const char flipped = static_cast<char>(ReadWholeFile(env, path).value()[file.size / 2] ^ 4);
    copy->Corrupt(path, file.size / 2, {&flipped, 1});
    const auto opened = GraphFiles::Open(*copy, kDir);
    ASSERT_FALSE(opened) << file.name;
    EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(opened.error().message(), HasSubstr(path));
    ASSERT_TRUE(copy->Remove(path));
    EXPECT_THAT(GraphFiles::Open(*copy, kDir).error().message(), HasSubstr(path));
  }
}

TEST(GraphCurrentTest, GoldenTextAndDamage) {
  GraphCurrent current;
  current.generation = 2;
  current.positions.shards[""] = {.serial = 3, .offset = 1234};
  current.records = 10;
  current.links = 99;
  current.files = {{"pages.graph", 77, 0x1234abcd}};
  const std::string text = current.ToText();
  EXPECT_EQ(text.substr(0, text.find("crc32c")),
            "PORTOLAN-GRAPH 1\ngeneration 2\nimported 0\nserial 3\noffset 1234\nrecords 10\nlinks 99\nleft-out 0\n"
            "file pages.graph 77 1234abcd\n");
  current.positions.shards = {{"shard-00", {.serial = 3, .offset = 1234}}, {"shard-11", {}}};
  const std::string shards = current.ToText();
  EXPECT_EQ(shards.substr(0, shards.find("crc32c")),
            "PORTOLAN-GRAPH 2\ngeneration 2\nimported 0\nposition shard-00 3 1234\nposition shard-11 1 0\n"
            "records 10\nlinks 99\nleft-out 0\nfile pages.graph 77 1234abcd\n");
  EXPECT_EQ(GraphCurrent::Parse(shards, "p").value(), current);
  current.positions.shards = {{"", {.serial = 3, .offset = 1234}}};
  EXPECT_EQ(GraphCurrent::Parse(text, "p").value(), current);
  for (const std::string& whole : {text, shards}) {
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string broken = whole;
      broken[at] ^= 1;
      EXPECT_FALSE(GraphCurrent::Parse(broken, "p")) << at;
      EXPECT_FALSE(GraphCurrent::Parse(whole.substr(0, at), "p")) << at;
    }
  }
}

TEST(LinkTextsTest, EveryFlippedByteIsAnErrorOrChangesNothing) {
  std::string bytes;
  LinkTextsWriter writer([&](std::string_view piece) {
    bytes += piece;
    return Status();
  });
  std::map<uint64_t, std::string> truth;
  for (uint64_t i = 1; i < 3000; ++i) {
    const std::string text = std::string(1, '\2') + std::string(50, static_cast<char>('a' + i % 26));
    truth[MakePair(i / 7, i * 3)] = text;
    ASSERT_TRUE(writer.Add(MakePair(i / 7, i * 3), text));
  }
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(bytes.substr(bytes.size() - 8), "PTLGTEXT");
  LinkTexts texts = LinkTexts::Open(bytes).value();
  for (const auto& [pair, text] : truth) {
    EXPECT_EQ(texts.Find(pair).value(), text);
    EXPECT_EQ(texts.Find(pair + 1).value(), "");
  }
  EXPECT_EQ(texts.Find(MakePair(0, 3)).value(), truth.begin()->second) << "and back";
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] ^= 16;
    auto opened = LinkTexts::Open(broken);
    if (!opened) continue;
    bool failed = false;
    for (Result<bool> more = true; more && *more;) {
      more = opened->Next();
      failed |= !more;
    }
    EXPECT_TRUE(failed) << at;
  }
}

}  // namespace
}  // namespace portolan
