// The follower that builds the index, beside a crawl that goes on, and after kills.

#include "index/index_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>

#include "index/index_check.h"
#include "index/testing/sample_crawl.h"
#include "index/text_place.h"
#include "robots/robots_tag.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::Not;

// Some are too long to be in an id term.
std::string UrlOf(int n) {
  const std::string rest = n % 5 == 0 ? std::string(300, 'x') : "";
  return "http://h" + std::to_string(n % 7) + ".test/page/" + std::to_string(n) + rest;
}

IndexBuildOptions OptionsIn(const std::string& dir, uint32_t parts = 1) {
  IndexBuildOptions options{.index_dir = dir + "/index", .graph_dir = dir + "/graph"};
  options.parts = parts;
  return options;
}

// One run of the follower: `links` as in Pass.
Result<IndexCounts> Build(const IndexSources& sources, const IndexBuildOptions& options, bool links = true) {
  ASSIGN_OR_RETURN(const auto builder, IndexBuilder::Open(Env::Posix(), sources, options));
  RETURN_IF_ERROR(builder->Pass(links));
  return builder->counts();
}
Result<IndexCounts> Build(const SampleCrawl& crawl, const IndexBuildOptions& options, bool links = true) {
  return Build(crawl.Sources(), options, links);
}

std::map<std::string, std::string> Contents(const std::string& dir) {
  const auto paths = IndexPartPaths(Env::Posix(), dir + "/index");
  EXPECT_TRUE(paths) << paths.error().ToString();
  return paths ? ContentsOf(*paths) : std::map<std::string, std::string>();
}

// Without what differs when the same page stands elsewhere in a log.
std::map<std::string, std::string> WithoutPlaces(std::map<std::string, std::string> contents) {
  for (auto& [url, text] : contents) text.erase(0, text.find("\nlength "));
  return contents;
}

// A crawl whose pages, refetches, losses and links come from a seed; some of it is not committed. Of several shards
// each has the hosts that belong to it.
class RandomCrawl {
 public:
  RandomCrawl(SampleCrawl& crawl, uint32_t seed) : RandomCrawl({&crawl}, seed) {}
  RandomCrawl(std::vector<SampleCrawl*> shards, uint32_t seed) : shards_(std::move(shards)), random_(seed) {}

  void Add(int events) {
    for (int i = 0; i < events; ++i) {
      const int n = Below(next_ + 3);
      next_ = std::max(next_, n);
      time_ += 1000 + Below(5000);
      if (Below(8) == 0) {
        ShardOf(n).AddGone(UrlOf(n), time_, Below(2) == 0 ? 404 : 301);
        continue;
      }
      SamplePage page{.url = UrlOf(n), .unix_ms = time_};
      page.title = "Title " + std::to_string(Below(50));
      page.text.clear();
      for (int words = Below(60); words > 0; --words) page.text += "word" + std::to_string(Below(400)) + " ";
      page.language = Below(2) == 0 ? "en" : "de";
      if (Below(10) == 0) page.robots = RobotsTag::kNoIndex;
      for (int links = Below(6); links > 0; --links) {
        page.links.emplace_back(UrlOf(Below(next_ + 3)), Below(4) == 0 ? "" : "link " + std::to_string(Below(20)));
      }
      ShardOf(n).Add(page);
    }
  }
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

 private:
  SampleCrawl& ShardOf(int n) { return *shards_[static_cast<size_t>(n % 7) % shards_.size()]; }

  std::vector<SampleCrawl*> shards_;
  std::mt19937 random_;
  int next_ = 0;
  int64_t time_ = 1'700'000'000'000;
};

TEST(IndexBuildTest, PagesAreFoundWithTheTextsOfLinksToThem) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path());
  ASSERT_TRUE(crawl);
  (*crawl)->Add({.url = "http://a.test/", .text = "harbour", .links = {{"http://b.test/", "boats"}}});
  (*crawl)->Add({.url = "http://b.test/", .text = "sails", .links = {{"http://a.test/", "start"}}});
  (*crawl)->Add({.url = "http://c.test/", .robots = RobotsTag::kNoIndex, .links = {{"http://b.test/", "Boats"}}});
  ASSERT_TRUE((*crawl)->Commit());
  const auto counts = Build(**crawl, OptionsIn(folder.path(), 2));
  ASSERT_TRUE(counts) << counts.error().ToString();
  EXPECT_EQ(counts->added, 2);
  EXPECT_EQ(counts->noindex, 1);
  const auto contents = Contents(folder.path());
  ASSERT_EQ(contents.size(), 2);
  const std::string& b = contents.at("http://b.test/");
  EXPECT_THAT(b, HasSubstr("term XAboats 2\n"));
  EXPECT_THAT(b, HasSubstr("term sails 1 1\n"));
  EXPECT_THAT(b, HasSubstr("value 3 "));
  const auto stats = ReadIndexStats(Env::Posix(), folder.path() + "/index", 10);
  ASSERT_TRUE(stats) << stats.error().ToString();
  EXPECT_EQ(stats->documents(), 2);
  EXPECT_GT(stats->bytes(), 1000);
  ASSERT_EQ(stats->languages.size(), 1);
  EXPECT_EQ(stats->languages[0], (std::pair<std::string, uint64_t>("en", 2)));
  EXPECT_TRUE(CheckIndex(Env::Posix(), folder.path() + "/index", true));
}

TEST(IndexBuildTest, PagesThatAreGoneAndForbiddenLeaveAndComeBack) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path());
  ASSERT_TRUE(crawl);
  const auto urls = [&] {
    EXPECT_TRUE((*crawl)->Commit());
    const auto counts = Build(**crawl, OptionsIn(folder.path()));
    EXPECT_TRUE(counts) << counts.error().ToString();
    std::string all;
    for (const auto& [url, contents] : Contents(folder.path())) all += url.substr(7) + " ";
    return all;
  };
  const int64_t time = 1'700'000'000'000;
  for (const char* name : {"a", "b", "c"}) (*crawl)->Add({.url = std::string("http://") + name, .unix_ms = time});
  EXPECT_EQ(urls(), "a b c ");
  (*crawl)->AddGone("http://a", time + 5000);
  (*crawl)->AddGone("http://b", time - 5000);  // before it was fetched
  (*crawl)->AddGone("http://c", time + 5000, 503);
  EXPECT_EQ(urls(), "b c ");
  (*crawl)->Add({.url = "http://b", .unix_ms = time + 9000, .robots = RobotsTag::kNoIndex});
  (*crawl)->AddGone("http://c", time + 9000, 301);
  EXPECT_EQ(urls(), "");
  (*crawl)->Add({.url = "http://a", .unix_ms = time + 15000});
  (*crawl)->Add({.url = "http://b", .unix_ms = time + 15000});
  EXPECT_EQ(urls(), "a b ");
}

TEST(IndexBuildTest, AnIndexThatFollowedEqualsOneFromScratchWhateverTheParts) {
  for (const uint32_t seed : {1U, 2U}) {
    const TempFolder folder;
    const auto crawl = SampleCrawl::Open(folder.path());
    ASSERT_TRUE(crawl);
    RandomCrawl random(**crawl, seed);
    IndexBuildOptions options = OptionsIn(folder.path(), 3);
    options.memory = 200'000;
    uint64_t relinked = 0;
    uint64_t commits = 0;
    for (int round = 0; round < 8; ++round) {
      random.Add(40);
      ASSERT_TRUE((*crawl)->Commit());
      random.Add(20);  // not yet to be seen
      const auto counts = Build(**crawl, options, /*links=*/round % 2 == 1);
      ASSERT_TRUE(counts) << counts.error().ToString();
      relinked += counts->relinked;
      commits += counts->commits;
    }
    ASSERT_TRUE((*crawl)->Commit());
    ASSERT_TRUE(Build(**crawl, options));
    EXPECT_GT(relinked, 10U);
    EXPECT_GT(commits, 10U);
    const auto followed = Contents(folder.path());
    EXPECT_GT(followed.size(), 30U);
    EXPECT_TRUE(CheckIndex(Env::Posix(), options.index_dir, true));
    for (const uint32_t parts : {1U, 2U, 5U}) {
      const std::string dir = folder.path() + "/scratch" + std::to_string(parts);
      const auto counts = Build(**crawl, OptionsIn(dir, parts));
      ASSERT_TRUE(counts) << counts.error().ToString();
      EXPECT_EQ(Contents(dir), followed) << seed << ", parts " << parts;
    }
    const auto again = Build(**crawl, options);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->pages + again->relinked + again->gone, 0) << "nothing is new";
  }
}

TEST(IndexBuildTest, ABuildThatIsKilledAtAnyMomentGoesOnWhereItWas) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path(), 20'000);
  ASSERT_TRUE(crawl);
  RandomCrawl random(**crawl, 7);
  IndexBuildOptions options = OptionsIn(folder.path(), 2);
  options.memory = 150'000;
  int killed = 0;
  int longest_us = 60'000;  // follows what a build takes on this machine
  for (int round = 0; round < 60 && killed < 8; ++round) {
    random.Add(40);
    ASSERT_TRUE((*crawl)->Commit());
    const int wait_us = random.Below(longest_us);
    const pid_t child = fork();
    if (child == 0) _exit(Build(**crawl, options) ? 0 : 1);
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(wait_us));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "a build failed after a kill";
    killed += WIFSIGNALED(status) ? 1 : 0;
    longest_us = WIFSIGNALED(status) ? longest_us + longest_us / 4 : std::max(500, wait_us);
  }
  EXPECT_EQ(killed, 8);
  const auto counts = Build(**crawl, options);
  ASSERT_TRUE(counts) << counts.error().ToString();
  const std::string scratch = folder.path() + "/scratch";
  ASSERT_TRUE(Build(**crawl, OptionsIn(scratch, 1)));
  EXPECT_EQ(Contents(folder.path()), Contents(scratch));
  EXPECT_TRUE(CheckIndex(Env::Posix(), options.index_dir, true));
}

TEST(IndexBuildTest, ARebuildLeavesTheOldIndexUntilItIsComplete) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path());
  ASSERT_TRUE(crawl);
  RandomCrawl(**crawl, 3).Add(100);
  ASSERT_TRUE((*crawl)->Commit());
  ASSERT_TRUE(Build(**crawl, OptionsIn(folder.path(), 2)));
  const auto before = Contents(folder.path());
  IndexBuildOptions options = OptionsIn(folder.path(), 4);
  EXPECT_EQ(Build(**crawl, options).error().code(), ErrorCode::kInvalidArgument) << "the number of parts is fixed";
  options.rebuild = true;
  options.stop = [] { return true; };
  ASSERT_TRUE(Build(**crawl, options));
  EXPECT_EQ(Contents(folder.path()), before);
  auto current = IndexCurrent::Load(Env::Posix(), options.index_dir);
  ASSERT_TRUE(current);
  EXPECT_EQ(current->generation, 1);
  EXPECT_EQ(current->building, 2);
  ASSERT_TRUE(Build(**crawl, OptionsIn(folder.path(), 0))) << "goes on with the new one";
  EXPECT_EQ(Contents(folder.path()), before);
  current = IndexCurrent::Load(Env::Posix(), options.index_dir);
  ASSERT_TRUE(current);
  EXPECT_EQ(current->generation, 2);
  EXPECT_EQ(current->parts, 4);
  EXPECT_FALSE(Env::Posix().Exists(IndexPartPath(options.index_dir, 1, 0)));
}

TEST(IndexBuildTest, ACompactedIndexIsSmallerHoldsTheSameAndGoesOn) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path());
  ASSERT_TRUE(crawl);
  RandomCrawl random(**crawl, 9);
  IndexBuildOptions options = OptionsIn(folder.path(), 2);
  options.memory = 100'000;
  for (int round = 0; round < 3; ++round) {
    random.Add(200);
    ASSERT_TRUE((*crawl)->Commit());
    ASSERT_TRUE(Build(**crawl, options));
    const auto before = Contents(folder.path());
    const auto large = ReadIndexStats(Env::Posix(), options.index_dir, 1);
    {
      const auto builder = IndexBuilder::Open(Env::Posix(), (*crawl)->Sources(), options);
      ASSERT_TRUE(builder);
      ASSERT_TRUE((*builder)->Pass(true));
      ASSERT_TRUE((*builder)->Compact());
    }
    EXPECT_EQ(Contents(folder.path()), before);
    const auto small = ReadIndexStats(Env::Posix(), options.index_dir, 1);
    ASSERT_TRUE(large && small);
    EXPECT_LT(small->bytes(), large->bytes());
    EXPECT_EQ(small->parts[0].state, large->parts[0].state);
    EXPECT_TRUE(CheckIndex(Env::Posix(), options.index_dir, true));
  }
}

// Three shards and one crawl with the same pages.
class ShardedIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      const std::string name = "shard-0" + std::to_string(i);
      shards_.push_back(SampleCrawl::Open(folder_.path() + "/" + name, 4000, name).value());
    }
    one_ = SampleCrawl::Open(folder_.path() + "/one").value();
    std::vector<SampleCrawl*> shards;
    for (const auto& shard : shards_) shards.push_back(shard.get());
    many_random_ = std::make_unique<RandomCrawl>(shards, 11);
    one_random_ = std::make_unique<RandomCrawl>(*one_, 11);
  }
  void Add(int events) {
    many_random_->Add(events);
    one_random_->Add(events);
  }
  void Commit() {
    for (const auto& shard : shards_) ASSERT_TRUE(shard->Commit());
    ASSERT_TRUE(one_->Commit());
  }
  IndexSources Sources(const std::vector<size_t>& wanted = {0, 1, 2}) {
    std::vector<const SampleCrawl*> crawls;
    for (const size_t shard : wanted) crawls.push_back(shards_[shard].get());
    return SampleCrawl::SourcesOf(crawls);
  }
  void ExpectLikeOneCrawl() {
    const IndexBuildOptions options = OptionsIn(folder_.path() + "/one", 1);
    ASSERT_TRUE(Build(*one_, options));
    const auto contents = WithoutPlaces(Contents(folder_.path() + "/one"));
    EXPECT_GT(contents.size(), 20U);
    EXPECT_EQ(WithoutPlaces(Contents(folder_.path())), contents);
    EXPECT_TRUE(CheckIndex(Env::Posix(), folder_.path() + "/index", true));
  }

  const TempFolder folder_;
  std::vector<std::unique_ptr<SampleCrawl>> shards_;
  std::unique_ptr<SampleCrawl> one_;
  std::unique_ptr<RandomCrawl> many_random_;
  std::unique_ptr<RandomCrawl> one_random_;
};

TEST_F(ShardedIndexTest, HoldsWhatThatOfOneCrawlHolds) {
  IndexBuildOptions options = OptionsIn(folder_.path(), 2);
  options.memory = 100'000;
  for (int round = 0; round < 3; ++round) {
    Add(150);
    Commit();
    const auto counts = Build(Sources(), options);
    ASSERT_TRUE(counts) << counts.error().ToString();
    ExpectLikeOneCrawl();
  }
  EXPECT_EQ(IndexPartPaths(Env::Posix(), options.index_dir)->size(), 6U);
  const auto stats = ReadIndexStats(Env::Posix(), options.index_dir, 1);
  ASSERT_TRUE(stats) << stats.error().ToString();
  EXPECT_EQ(stats->parts[5].shard, "shard-02");
  EXPECT_EQ(Build(Sources(), options)->pages, 0U) << "nothing is new";
  {
    const auto builder = IndexBuilder::Open(Env::Posix(), Sources(), options);
    ASSERT_TRUE(builder);
    ASSERT_TRUE((*builder)->Pass(true));
    ASSERT_TRUE((*builder)->Compact());
  }
  ExpectLikeOneCrawl();
  options.rebuild = true;
  options.parts = 1;
  ASSERT_TRUE(Build(Sources(), options));
  EXPECT_EQ(IndexPartPaths(Env::Posix(), options.index_dir)->size(), 3U);
  ExpectLikeOneCrawl();
}

TEST_F(ShardedIndexTest, ShardsComeAndGoAndTheirPagesStay) {
  const IndexBuildOptions options = OptionsIn(folder_.path());
  Add(200);
  Commit();
  {
    const auto builder = IndexBuilder::Open(Env::Posix(), Sources({0, 1}), options);
    ASSERT_TRUE(builder);
    ASSERT_TRUE((*builder)->Pass(true));
    // Another one comes while the builder is at work.
    ASSERT_TRUE((*builder)->Use(Sources()));
    ASSERT_TRUE((*builder)->Pass(true));
    EXPECT_EQ((*builder)->parts(), 3U);
  }
  ExpectLikeOneCrawl();
  const auto before = Contents(folder_.path());
  {
    const auto builder = IndexBuilder::Open(Env::Posix(), Sources({1, 2}), options);
    ASSERT_TRUE(builder);
    EXPECT_THAT((*builder)->absent(), testing::ElementsAre("shard-00"));
    ASSERT_TRUE((*builder)->Pass(true));
  }
  EXPECT_EQ(Contents(folder_.path()), before);
  // Its pages' links are still brought up to date, from the pages of the others.
  Add(200);
  Commit();
  ASSERT_TRUE(Build(Sources({1, 2}), options));
  ASSERT_TRUE(Build(Sources(), options));
  ExpectLikeOneCrawl();
  // What is built anew has only what is there.
  IndexBuildOptions anew = options;
  anew.rebuild = true;
  ASSERT_TRUE(Build(Sources({0, 1}), anew));
  const auto current = IndexCurrent::Load(Env::Posix(), options.index_dir);
  ASSERT_TRUE(current);
  EXPECT_THAT(current->shards, testing::ElementsAre("shard-00", "shard-01"));
  // One crawl's index is not that of shards.
  const auto wrong = Build(*shards_[0], options);
  EXPECT_TRUE(wrong) << "a shard of that name";
  EXPECT_EQ(Build(*one_, options).error().code(), ErrorCode::kInvalidArgument);
}

// Killed at any moment, also while a shard's databases are made that no file names yet.
TEST_F(ShardedIndexTest, AKilledBuildIsMadeGood) {
  const IndexBuildOptions options = OptionsIn(folder_.path());
  Add(150);
  Commit();
  int killed = 0;
  int wait_us = 500;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto built = Build(round % 2 == 0 ? Sources({0}) : Sources(), options);
      _exit(built ? 0 : 1);
    }
    usleep(static_cast<useconds_t>(wait_us));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "a build failed after a kill";
    killed += WIFSIGNALED(status) ? 1 : 0;
    wait_us = WIFSIGNALED(status) ? wait_us * 2 : 1000;
  }
  EXPECT_GT(killed, 4);
  ASSERT_TRUE(Build(Sources(), options));
  ExpectLikeOneCrawl();
}

TEST(IndexBuildTest, OnlyOneBuildAtATime) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path());
  ASSERT_TRUE(crawl);
  const auto first = IndexBuilder::Open(Env::Posix(), (*crawl)->Sources(), OptionsIn(folder.path()));
  ASSERT_TRUE(first);
  EXPECT_EQ(Build(**crawl, OptionsIn(folder.path())).error().code(), ErrorCode::kBusy);
}

TEST(IndexBuildTest, ARecordIsFoundAtThePlaceThatItsDocumentTells) {
  const TempFolder folder;
  const auto crawl = SampleCrawl::Open(folder.path(), 2000);
  ASSERT_TRUE(crawl);
  RandomCrawl(**crawl, 5).Add(200);
  ASSERT_TRUE((*crawl)->Commit());
  ASSERT_TRUE(Build(**crawl, OptionsIn(folder.path())));
  const auto paths = IndexPartPaths(Env::Posix(), folder.path() + "/index");
  ASSERT_TRUE(paths);
  const Xapian::Database database((*paths)[0]);
  const OutputSource text = *(*crawl)->Sources().text.begin();
  uint64_t last_serial = 0;
  for (auto at = database.postlist_begin(""); at != database.postlist_end(""); ++at) {
    const Xapian::Document document = database.get_document(*at);
    const auto data = DocumentData::Decode(document.get_data());
    ASSERT_TRUE(data);
    std::string bytes;
    const auto page = ReadTextAt(Env::Posix(), text, data->place, data->url, bytes);
    ASSERT_TRUE(page) << page.error().ToString();
    EXPECT_EQ(page->title, data->title);
    EXPECT_EQ(TimeValue(page->unix_ms), document.get_value(kFetchedSlot));
    last_serial = std::max(last_serial, data->place.serial);
    TextPlace wrong = data->place;
    ++wrong.record;
    EXPECT_FALSE(ReadTextAt(Env::Posix(), text, wrong, data->url, bytes));
    ++wrong.offset;
    EXPECT_FALSE(ReadTextAt(Env::Posix(), text, wrong, data->url, bytes));
  }
  EXPECT_GT(last_serial, 3);
}

// What a build, a check and the statistics say of an index that was damaged by `damage`; each must be an error that
// names the folder and the repair, or nothing at all. Afterwards it is repaired.
void ExpectNamed(const SampleCrawl& crawl, const std::string& dir, const std::map<std::string, std::string>& contents,
                 const std::string& what, bool must_be_found) {
  const auto checked = CheckIndex(Env::Posix(), dir + "/index", true);
  const auto built = Build(crawl, OptionsIn(dir, 0));
  const auto stats = ReadIndexStats(Env::Posix(), dir + "/index", 10);
  EXPECT_TRUE(!must_be_found || !checked) << what;
  for (const std::string& message : {checked ? "" : checked.error().ToString(), built ? "" : built.error().ToString(),
                                     stats ? "" : stats.error().ToString()}) {
    if (message.empty()) continue;
    EXPECT_THAT(message, HasSubstr(dir + "/index/")) << what;
    EXPECT_THAT(message, HasSubstr("portolan index build --rebuild " + dir)) << what;
  }
  IndexBuildOptions options = OptionsIn(dir, 2);
  options.rebuild = true;
  const auto rebuilt = Build(crawl, options);
  ASSERT_TRUE(rebuilt) << what << ": " << rebuilt.error().ToString();
  EXPECT_EQ(Contents(dir), contents) << what;
}

class DamagedIndexSlowTest : public testing::Test {
 protected:
  void SetUp() override {
    auto crawl = SampleCrawl::Open(folder_.path());
    ASSERT_TRUE(crawl);
    crawl_ = *std::move(crawl);
    RandomCrawl(*crawl_, 11).Add(300);
    ASSERT_TRUE(crawl_->Commit());
    ASSERT_TRUE(Build(*crawl_, OptionsIn(folder_.path(), 2)));
    contents_ = Contents(folder_.path());
  }

  // Files of the valid generation's databases.
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    const auto paths = IndexPartPaths(Env::Posix(), folder_.path() + "/index");
    EXPECT_TRUE(paths);
    for (const std::string& path : *paths) {
      const auto names = Env::Posix().List(path);
      for (const std::string& name : *names) {
        if (name != "flintlock") files.push_back(path + "/" + name);
      }
    }
    return files;
  }

  const TempFolder folder_;
  std::unique_ptr<SampleCrawl> crawl_;
  std::map<std::string, std::string> contents_;
};

TEST_F(DamagedIndexSlowTest, MissingFilesAreNamed) {
  for (size_t i = 0; i < Files().size(); ++i) {
    const std::string file = Files()[i];
    ASSERT_TRUE(Env::Posix().Remove(file));
    ExpectNamed(*crawl_, folder_.path(), contents_, "without " + file, true);
  }
  std::filesystem::remove_all(IndexPartPaths(Env::Posix(), folder_.path() + "/index")->at(1));
  ExpectNamed(*crawl_, folder_.path(), contents_, "without a database", true);
  std::filesystem::remove_all(folder_.path() + "/index");
  EXPECT_EQ(CheckIndex(Env::Posix(), folder_.path() + "/index", true).error().code(), ErrorCode::kNotFound);
}

TEST_F(DamagedIndexSlowTest, TruncatedFilesAreNamed) {
  for (size_t i = 0; i < Files().size(); ++i) {
    const std::string file = Files()[i];
    const uint64_t size = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, i % 2 == 0 ? size / 2 : 0);
    ExpectNamed(*crawl_, folder_.path(), contents_, "cut " + file, size > 8192 || file.ends_with("iamglass"));
  }
}

TEST_F(DamagedIndexSlowTest, FlippedBytesAreNamedWhereTheyAreFound) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "Xapian itself reads past its blocks when lengths in them are wrong";
#endif
  std::mt19937 random(5);
  for (int round = 0; round < 8; ++round) {
    const std::vector<std::string> files = Files();
    const std::string file = files[random() % files.size()];
    const uint64_t size = std::filesystem::file_size(file);
    if (size == 0) continue;
    std::string bytes = *ReadWholeFile(Env::Posix(), file);
    for (int flips = 0; flips < 20; ++flips) bytes[random() % size] ^= static_cast<char>(1 << random() % 8);
    {
      const auto out = Env::Posix().Open(file, OpenMode::kCreate);
      ASSERT_TRUE(out);
      ASSERT_TRUE((*out)->Append(bytes));
    }
    ExpectNamed(*crawl_, folder_.path(), contents_, "flipped " + file, false);
  }
}

TEST_F(DamagedIndexSlowTest, TheFileThatNamesItIsChecked) {
  const std::string path = folder_.path() + "/index/CURRENT";
  const std::string text = *ReadWholeFile(Env::Posix(), path);
  for (size_t i = 0; i < text.size(); i += 29) {
    std::string flipped = text;
    flipped[i] ^= 4;
    ASSERT_TRUE(ReplaceFile(Env::Posix(), path, flipped));
    ExpectNamed(*crawl_, folder_.path(), contents_, "CURRENT at " + std::to_string(i), true);
  }
}

}  // namespace
}  // namespace portolan
