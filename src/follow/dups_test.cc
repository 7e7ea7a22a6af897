// The search for duplicates beside a crawl: what a line says, that it goes on where it was, and its answers against a
// simple algorithm.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "content/near_pairs.h"
#include "follow/dup_clusters.h"
#include "follow/dup_groups.h"
#include "io/clock.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

struct LoggedPage {
  std::string url;
  uint64_t similarity;
  uint64_t fingerprint;
};

// A crawl that writes only its log.
struct LoggingCrawl {
  explicit LoggingCrawl(Manifest opened) : manifest(std::move(opened)) {}

  // `place` is where its directories are: "" or "shard-00/".
  static std::unique_ptr<LoggingCrawl> Open(Env& env, const std::string& place = "") {
    auto crawl = std::make_unique<LoggingCrawl>(Manifest::Open(env, place + "state").value());
    OutputsOptions options;
    options.log.files = {.dir = place + "log", .names = {}, .file_size = 200'000};
    options.threads = false;
    crawl->outputs = Outputs::Open(env, Clock::Real(), crawl->manifest, options).value();
    return crawl;
  }
  void Add(const LoggedPage& page, int status = 200) {
    PageResult result;
    result.status = status;
    result.similarity = page.similarity;
    result.fingerprint = page.fingerprint;
    outputs->Write(result, {.url = page.url});
  }
  void Commit() { ASSERT_TRUE(manifest.Commit(outputs->Checkpointables())); }

  Manifest manifest;
  std::unique_ptr<Outputs> outputs;
};

const OutputSource kSource = CrawlLogSource("state", "log");

// Cluster by cluster: "URL bits same" of each member; the first is the representative.
using Clusters = std::vector<std::vector<std::string>>;

Result<Clusters> List(Env& env, const DupOptions& options, DupSummary* summary = nullptr,
                      const OutputSources& logs = kSource) {
  ASSIGN_OR_RETURN(const DupPages pages, DupPages::Follow(env, logs, "dups", {}));
  Clusters clusters;
  ASSIGN_OR_RETURN(const DupSummary found, ListDups(env, pages, options, [&](const DupMember& member) -> Status {
                     if (member.place == 0) clusters.emplace_back();
                     EXPECT_EQ(clusters.size(), member.cluster + 1);
                     EXPECT_EQ(clusters.back().size(), member.place);
                     clusters.back().push_back(std::string(member.url) + " " + std::to_string(member.bits) +
                                               (member.same_bytes ? " same" : ""));
                     return {};
                   }));
  if (summary != nullptr) *summary = found;
  return clusters;
}

// The same by comparing all pages.
Clusters BySimpleMeans(const std::vector<LoggedPage>& pages, int bits) {
  std::vector<size_t> group(pages.size());
  for (size_t i = 0; i < pages.size(); ++i) group[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < pages.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (pages[i].similarity == 0 || pages[j].similarity == 0 || group[i] == group[j] ||
            BitsApart(pages[i].similarity, pages[j].similarity) > bits) {
          continue;
        }
        group[i] = group[j] = std::min(group[i], group[j]);
        changed = true;
      }
    }
  }
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < pages.size(); ++i) members[group[i]].push_back(i);
  std::vector<std::vector<size_t>> sorted;
  for (auto& [first, all] : members) {
    if (all.size() > 1) sorted.push_back(all);
  }
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  Clusters clusters;
  for (const auto& all : sorted) {
    auto& cluster = clusters.emplace_back();
    const LoggedPage& first = pages[all[0]];
    for (const size_t i : all) {
      cluster.push_back(pages[i].url + " " + std::to_string(BitsApart(pages[i].similarity, first.similarity)) +
                        (pages[i].fingerprint == first.fingerprint ? " same" : ""));
    }
  }
  return clusters;
}

std::vector<LoggedPage> RandomPages(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<LoggedPage> pages;
  for (size_t i = 0; i < count; ++i) {
    uint64_t similarity = rng.Below(10) == 0 ? 0 : rng.Next();
    if (i > 0 && rng.Below(2) == 0) {
      similarity = pages[rng.Below(i)].similarity;
      for (uint64_t flips = rng.Below(4); flips > 0 && similarity != 0; --flips)
        similarity ^= uint64_t{1} << rng.Below(64);
    }
    pages.push_back({"http://a.test/" + std::to_string(i), similarity, 1 + rng.Below(count / 2)});
  }
  return pages;
}

TEST(DupsTest, ALineOfTheLogBecomesAPage) {
  std::string url;
  const std::string line =
      R"({"time":"t","url":"http://a/\"x","kind":"page","outcome":"answered","status":200,"fingerprint":"00000000000000ff",)"
      R"("similarity":"8000000000000001"})";
  const auto page = DupPageOfLine(line, url);
  ASSERT_TRUE(page);
  EXPECT_EQ(*page, (DupPage{.url = "http://a/\"x", .similarity = 0x8000000000000001, .fingerprint = 0xff}));
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"page\"", "\"robots\""},
                                 {"200", "404"},
                                 {"200", "\"200\""},
                                 {"\"kind\"", "\"again\":true,\"kind\""},
                                 {"\"kind\"", "\"visit\":\"other\",\"kind\""},
                                 {"\"url\"", "\"uri\""},
                                 {"}", ""}}) {
    std::string other = line;
    other.replace(other.find(from), from.size(), to);
    EXPECT_FALSE(DupPageOfLine(other, url)) << other;
  }
  std::string bytes;
  EncodeDupPage(*page, bytes);
  EXPECT_EQ(bytes, std::string("http://a/\"x\x01\0\0\0\0\0\0\x80\xff\0\0\0\0\0\0\0", 27));
  EXPECT_EQ(DecodeDupPage(bytes), page);
  EXPECT_FALSE(DecodeDupPage(std::string(20, '\0')));
}

TEST(DupsTest, ClustersAreThoseOfComparingAllPages) {
  for (const uint64_t seed : {1, 2, 3}) {
    MemEnv env;
    auto crawl = LoggingCrawl::Open(env);
    const std::vector<LoggedPage> pages = RandomPages(400, seed);
    for (const LoggedPage& page : pages) crawl->Add(page);
    crawl->Add({"http://a.test/error", pages[0].similarity, 1}, 404);
    crawl->Commit();
    for (const int bits : {0, 3, 5}) {
      DupSummary summary;
      DupOptions options{.bits = bits, .limit = 0, .memory = DupOptions::kMinMemory};
      const Clusters expected = BySimpleMeans(pages, bits);
      EXPECT_EQ(List(env, options, &summary).value(), expected);
      EXPECT_EQ(summary.pages, pages.size());
      EXPECT_EQ(summary.clusters, expected.size());
      options.limit = 2;
      options.members = 3;
      const Clusters few = List(env, options).value();
      ASSERT_EQ(few.size(), 2U);
      EXPECT_EQ(few[1].size(), std::min<size_t>(3, expected[1].size()));
      options = {.bits = bits, .url = expected[3][1].substr(0, expected[3][1].find(' '))};
      EXPECT_EQ(List(env, options).value(), Clusters{expected[3]});
    }
    const std::vector<std::string> left = env.List("dups").value();
    EXPECT_TRUE(std::ranges::none_of(left, [](const std::string& name) { return name.find("tmp") != name.npos; }));
  }
}

TEST(DupsTest, ExactClustersHaveOneFingerprint) {
  MemEnv env;
  auto crawl = LoggingCrawl::Open(env);
  crawl->Add({"http://a.test/1", 0, 7});
  crawl->Add({"http://a.test/2", 5, 8});
  crawl->Add({"http://a.test/3", 0, 7});
  crawl->Add({"http://a.test/4", 4, 8});
  crawl->Add({"http://a.test/5", 4, 9});
  crawl->Commit();
  const Clusters expected = {{"http://a.test/1 0 same", "http://a.test/3 0 same"},
                             {"http://a.test/2 0 same", "http://a.test/4 0 same"}};
  EXPECT_EQ(List(env, {.exact = true}).value(), expected);
}

// New pages come to old groups, and join them; how it was done is no difference.
TEST(DupsTest, AddedPagesGiveTheClustersOfAll) {
  const std::vector<LoggedPage> pages = RandomPages(3000, 77);
  MemEnv env;
  auto crawl = LoggingCrawl::Open(env);
  const DupOptions options{.limit = 0, .memory = DupOptions::kMinMemory};
  size_t done = 0;
  for (const size_t until : {0, 2000, 2000, 2150, 2300, 3000}) {
    for (; done < until; ++done) crawl->Add(pages[done]);
    crawl->Commit();
    EXPECT_EQ(List(env, options).value(),
              BySimpleMeans({pages.begin(), pages.begin() + static_cast<int64_t>(done)}, 3));
    const DupPages now = DupPages::Follow(env, kSource, "dups", {}).value();
    EXPECT_EQ(now.added(), 0U);
  }
  // Thrown away and made again.
  const Clusters before = List(env, options).value();
  const auto names = env.List("dups").value();
  for (const std::string& name : names) {
    if (name == "LOCK") continue;
    ASSERT_TRUE(env.Remove(JoinPath("dups", name)));
  }
  EXPECT_EQ(List(env, options).value(), before);
  // Without the pages the position is of no use.
  ASSERT_TRUE(env.Remove("dups/pages.blocks"));
  EXPECT_EQ(List(env, options).value(), before);
}

TEST(DupsTest, FewNewHashesAreAddedToTheOldGroups) {
  MemEnv env;
  auto crawl = LoggingCrawl::Open(env);
  const std::vector<LoggedPage> pages = RandomPages(1000, 5);
  const auto how_now = [&]() {
    const DupPages now = DupPages::Follow(env, kSource, "dups", {}).value();
    RowSortOf<3> rows(env, {.dir = "dups"});
    EXPECT_TRUE(now.ForEach([&](uint64_t number, const DupPage& page) {
      return page.similarity == 0 ? Status() : rows.Add({page.similarity, number, 0});
    }));
    EXPECT_TRUE(rows.Sort());
    DupGroups groups(env, now, {.bits = 3, .memory = size_t{32} << 20});
    EXPECT_TRUE(groups.Find(rows));
    return groups.how();
  };
  for (size_t i = 0; i < 900; ++i) crawl->Add(pages[i]);
  crawl->Commit();
  EXPECT_EQ(how_now(), DupGroups::How::kAnew);
  EXPECT_EQ(how_now(), DupGroups::How::kKept);
  for (size_t i = 900; i < 1000; ++i) crawl->Add(pages[i]);
  crawl->Commit();
  EXPECT_EQ(how_now(), DupGroups::How::kAdded);
  EXPECT_EQ(how_now(), DupGroups::How::kKept);
  // A broken file is made again.
  std::string file = ReadWholeFile(env, "dups/near-3.z").value();
  file[file.size() / 2] = static_cast<char>(~file[file.size() / 2]);
  ASSERT_TRUE(ReplaceFile(env, "dups/near-3.z", file));
  EXPECT_EQ(how_now(), DupGroups::How::kAnew);
}

TEST(DupsTest, ClustersHavePagesOfAllShards) {
  const std::vector<LoggedPage> pages = RandomPages(300, 10);
  MemEnv env;
  std::vector<std::unique_ptr<LoggingCrawl>> shards;
  std::vector<OutputSource> logs;
  for (const std::string name : {"shard-00", "shard-01", "shard-02"}) {
    shards.push_back(LoggingCrawl::Open(env, name + "/"));
    logs.push_back(CrawlLogSource(name + "/state", name + "/log"));
    logs.back().shard = name;
  }
  const auto add = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) shards[i % 3]->Add(pages[i]);
  };
  // Which page is the first depends on the order of the shards, so only who belongs together is compared.
  const auto members = [](const Clusters& clusters) {
    std::set<std::set<std::string>> sets;
    for (const auto& cluster : clusters) {
      std::set<std::string> urls;
      for (const std::string& member : cluster) urls.insert(member.substr(0, member.find(' ')));
      sets.insert(std::move(urls));
    }
    return sets;
  };
  add(0, 200);
  for (const auto& shard : shards) shard->Commit();
  const DupOptions options{.limit = 0, .memory = DupOptions::kMinMemory};
  ASSERT_TRUE(List(env, options, nullptr, OutputSources(logs)));
  add(200, pages.size());
  for (const auto& shard : shards) shard->Commit();
  for (const bool exact : {false, true}) {
    DupOptions wanted = options;
    wanted.exact = exact;
    const auto found = List(env, wanted, nullptr, OutputSources(logs));
    ASSERT_TRUE(found) << found.error().ToString();
    MemEnv one;
    auto crawl = LoggingCrawl::Open(one);
    for (const LoggedPage& page : pages) crawl->Add(page);
    crawl->Commit();
    const auto expected = List(one, wanted);
    ASSERT_TRUE(expected);
    ASSERT_GT(expected->size(), 3U);
    EXPECT_EQ(members(*found), members(*expected));
  }
}

TEST(DupsTest, WithoutALogThereIsNothingToFollow) {
  MemEnv env;
  EXPECT_EQ(DupPages::Follow(env, kSource, "dups", {}).error().code(), ErrorCode::kNotFound);
}

// The follower is killed at many of its operations, between two commits of the crawl: the pages are each there once.
TEST(DupsTest, AfterAnyCutThePagesAreThoseOfTheLog) {
  const std::vector<LoggedPage> pages = RandomPages(300, 9);
  const Clusters expected = BySimpleMeans(pages, 3);
  const DupOptions options{.limit = 0, .memory = DupOptions::kMinMemory};
  MemEnv start;
  {
    auto crawl = LoggingCrawl::Open(start);
    for (size_t i = 0; i < 250; ++i) crawl->Add(pages[i]);
    crawl->Commit();
    ASSERT_TRUE(List(start, options));
    for (size_t i = 250; i < pages.size(); ++i) crawl->Add(pages[i]);
    crawl->Commit();
  }
  uint64_t cut = 1;
  for (bool whole = false; !whole; ++cut) {
    const auto mem = start.CrashedCopy(CrashMode::kKeepAll, 0);
    FaultyEnv env(*mem, {.power_cut_at = cut});
    whole = List(env, options).has_value() && !env.power_is_cut();
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const auto after = mem->CrashedCopy(mode, cut);
      const auto again = List(*after, options);
      ASSERT_TRUE(again) << "cut " << cut << ": " << again.error().ToString();
      ASSERT_EQ(*again, expected) << "cut " << cut;
    }
  }
  EXPECT_GT(cut, 20U);
}

}  // namespace
}  // namespace portolan
