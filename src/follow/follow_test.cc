// Followers beside a crawl that writes, packs, crashes and goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "flow/output_records.h"
#include "follow/follower.h"
#include "follow/link_reader.h"
#include "io/clock.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/append_file.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string UrlOf(int n) { return "http://a.test/" + std::to_string(n); }

// A crawl that writes page after page; page n links to n + 1 and to a page that is not there.
struct Crawl {
  explicit Crawl(Manifest opened) : manifest(std::move(opened)) {}

  static OutputsOptions Defaults() {
    OutputsOptions options;
    options.log.files = {.dir = "log", .names = {}, .file_size = 700};
    options.links.files = {.dir = "links", .names = {}, .file_size = 300};
    options.text.files = {.dir = "text", .names = {}, .file_size = 300};
    options.links.enabled = options.text.enabled = true;
    options.threads = false;
    return options;
  }

  // `place` is where its directories are: "" or "shard-00/".
  static Result<std::unique_ptr<Crawl>> Open(Env& env, OutputsOptions options = Defaults(),
                                             const std::string& place = "") {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, place + "state"));
    for (auto* const files : {&options.log.files, &options.links.files, &options.text.files}) {
      files->dir = place + files->dir;
    }
    auto crawl = std::make_unique<Crawl>(std::move(manifest));
    ASSIGN_OR_RETURN(crawl->outputs, Outputs::Open(env, Clock::Real(), crawl->manifest, options));
    if (crawl->manifest.sequence() == 0) RETURN_IF_ERROR(crawl->Commit());
    return crawl;
  }

  void Add(int n, FetchOutcome outcome = FetchOutcome::kAnswered, int status = 200) {
    PageResult result;
    result.outcome = outcome;
    result.status = status;
    OutputItem links{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(links.records, UrlOf(n), n);
    AppendLink(links.records, UrlOf(n + 1), 0, "next");
    AppendLink(links.records, UrlOf(-n - 1), kLinkNofollow, "gone \"" + std::to_string(n) + "\"");
    OutputItem text{.output = OutputId::kText, .records = {}};
    AppendTextRecord(text.records, {.url = UrlOf(n), .unix_ms = n, .title = "t", .text = "words"});
    result.outputs.push_back(std::move(links));
    result.outputs.push_back(std::move(text));
    outputs->Write(result, {.url = UrlOf(n)});
  }
  Status Commit() { return manifest.Commit(outputs->Checkpointables()); }

  Manifest manifest;
  std::unique_ptr<Outputs> outputs;
};

const OutputSource kLinks = LinkLogSource("state", "links");
const OutputSource kText = TextLogSource("state", "text");
const OutputSource kLog = CrawlLogSource("state", "log");

// Of three shards, in directories of their own.
OutputSources Shards(OutputSource (*source)(const std::string&, const std::string&), const std::string& folder,
                     const std::vector<std::string>& shards = {"shard-00", "shard-01", "shard-02"}) {
  std::vector<OutputSource> sources;
  for (const std::string& shard : shards) {
    sources.push_back(source(shard + "/state", shard + "/" + folder));
    sources.back().shard = shard;
  }
  return OutputSources(sources);
}

// One run of a follower that copies records into a file of its own, "NAME.copy", one line each.
Status Follow(Env& env, const OutputSources& sources) {
  const OutputSource& source = *sources.begin();
  const std::string copy_path = "copies/" + source.name + ".copy";
  RETURN_IF_ERROR(env.CreateDirs("copies"));
  ASSIGN_OR_RETURN(Follower follower, Follower::Open(env, sources, "copies/" + source.name + ".position"));
  Result<AppendFile> copy = follower.copied() == 0 ? AppendFile::Make(env, copy_path)
                                                   : AppendFile::Continue(env, copy_path, follower.copied());
  if (!copy) return std::unexpected(copy.error());
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, follower.Next([&](std::string_view record, uint32_t tag) {
      if (source.blocks == FileKind::kLinks) {
        copy->Add(std::to_string(tag) + " " + std::string(ParseLinkRecord(record, static_cast<uint8_t>(tag))->url));
      } else if (source.blocks) {
        copy->Add(ParseTextRecord(record)->url);
      } else {
        copy->Add(record);
      }
      copy->Add("\n");
      return Status();
    }));
  }
  RETURN_IF_ERROR(copy->Sync());
  if (follower.copied() == 0) RETURN_IF_ERROR(SyncDirOnce(env, "copies"));
  return follower.Save(copy->size());
}

Status FollowAll(Env& env) {
  for (const OutputSource* const source : {&kLinks, &kText, &kLog}) RETURN_IF_ERROR(Follow(env, *source));
  return {};
}

std::string TextCopyOf(int pages) {
  std::string text;
  for (int n = 0; n < pages; ++n) text += UrlOf(n) + "\n";
  return text;
}

std::string LinksCopyOf(int pages) {
  std::string text;
  for (int n = 0; n < pages; ++n) text += "128 " + UrlOf(n) + "\n0 " + UrlOf(n + 1) + "\n2 " + UrlOf(-n - 1) + "\n";
  return text;
}

void ExpectCopies(Env& env, int pages, const std::string& what = "") {
  EXPECT_EQ(ReadWholeFile(env, "copies/links.copy").value(), LinksCopyOf(pages)) << what;
  EXPECT_EQ(ReadWholeFile(env, "copies/text.copy").value(), TextCopyOf(pages)) << what;
  const std::string log = ReadWholeFile(env, "copies/log.copy").value();
  EXPECT_EQ(std::ranges::count(log, '\n'), pages) << what;
}

TEST(FollowerTest, SeesWhatIsCommittedAndNothingElse) {
  MemEnv env;
  auto crawl = Crawl::Open(env).value();
  ASSERT_TRUE(FollowAll(env));
  ExpectCopies(env, 0);
  for (int n = 0; n < 5; ++n) crawl->Add(n);
  for (Checkpointable* const output : crawl->outputs->Checkpointables()) ASSERT_TRUE(output->Flush());
  ASSERT_TRUE(FollowAll(env));
  ExpectCopies(env, 0, "it is on disk, and a crash would take it back");
  ASSERT_TRUE(crawl->Commit());
  ASSERT_TRUE(FollowAll(env));
  ExpectCopies(env, 5);
  for (int n = 5; n < 60; ++n) {
    crawl->Add(n);
    if (n % 7 == 0) {
      ASSERT_TRUE(crawl->Commit());
    }
  }
  ASSERT_TRUE(FollowAll(env));
  ExpectCopies(env, 57);
  EXPECT_TRUE(env.Exists("log/crawl-00001.jsonl.gz")) << "files were packed meanwhile";
  EXPECT_GT(ListLogFiles(env, "links", kLinkLogNames).value().size(), 3U);
  ASSERT_TRUE(crawl->Commit());
  ASSERT_TRUE(FollowAll(env));
  ExpectCopies(env, 60);
}

TEST(FollowerTest, APositionInAFileThatWasPackedSinceGoesOnThere) {
  MemEnv env;
  auto options = Crawl::Defaults();
  options.log.files.file_size = 5000;
  auto crawl = Crawl::Open(env, options).value();
  for (int n = 0; n < 5; ++n) crawl->Add(n);
  ASSERT_TRUE(crawl->Commit());
  ASSERT_TRUE(Follow(env, kLog));
  ASSERT_TRUE(env.Exists("log/crawl-00001.jsonl"));
  for (int n = 5; n < 100; ++n) {
    crawl->Add(n);
    if (n % 10 == 0) {
      ASSERT_TRUE(crawl->Commit());
    }
  }
  ASSERT_TRUE(crawl->Commit());
  ASSERT_FALSE(env.Exists("log/crawl-00001.jsonl"));
  ASSERT_TRUE(Follow(env, kLog));
  const std::string log = ReadWholeFile(env, "copies/log.copy").value();
  EXPECT_EQ(std::ranges::count(log, '\n'), 100);
  for (int n = 0; n < 100; ++n) EXPECT_THAT(log, HasSubstr("\"url\":\"" + UrlOf(n) + "\""));
}

TEST(FollowerTest, AnotherCrawlInTheSamePlaceIsRefused) {
  MemEnv env;
  {
    auto crawl = Crawl::Open(env).value();
    for (int n = 0; n < 40; ++n) crawl->Add(n);
    ASSERT_TRUE(crawl->Commit());
  }
  ASSERT_TRUE(FollowAll(env));
  MemEnv other;
  auto crawl = Crawl::Open(other).value();
  crawl->Add(0);
  ASSERT_TRUE(crawl->Commit());
  ASSERT_TRUE(other.CreateDirs("copies"));
  for (const char* name : {"copies/links.position", "copies/links.copy"}) {
    ASSERT_TRUE(ReplaceFile(other, name, ReadWholeFile(env, name).value()));
  }
  EXPECT_EQ(Follow(other, kLinks).error().code(), ErrorCode::kCorrupt);
  ASSERT_TRUE(ReplaceFile(other, "copies/text.position", ReadWholeFile(env, "copies/links.position").value()));
  EXPECT_THAT(Follow(other, kText).error().message(), HasSubstr("not a position in the output 'text'"));
}

// The shards of a crawl are followed where they are; each is read from its own position, and all positions are saved at
// once.
TEST(FollowerTest, ReadsEachShardFromItsOwnPosition) {
  MemEnv env;
  std::vector<std::unique_ptr<Crawl>> crawls;
  for (const char* place : {"shard-00/", "shard-01/", "shard-02/"}) {
    crawls.push_back(Crawl::Open(env, Crawl::Defaults(), place).value());
  }
  const auto lines = [&] {
    std::set<std::string> found;
    const std::string text = ReadWholeFile(env, "copies/text.copy").value();
    for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      EXPECT_TRUE(found.insert(text.substr(at, end - at)).second) << "twice: " << text.substr(at, end - at);
    }
    return found;
  };
  std::set<std::string> truth;
  const auto add = [&](int n) {
    crawls[static_cast<size_t>(n % 3)]->Add(n);
    truth.insert(UrlOf(n));
  };
  for (int n = 0; n < 30; ++n) add(n);
  for (const auto& crawl : crawls) ASSERT_TRUE(crawl->Commit());
  ASSERT_TRUE(Follow(env, Shards(TextLogSource, "text")));
  EXPECT_EQ(lines(), truth);
  // Checkpoints of different moments.
  for (int n = 30; n < 60; ++n) {
    if (n % 3 != 1) add(n);
  }
  ASSERT_TRUE(crawls[0]->Commit());
  ASSERT_TRUE(crawls[2]->Commit());
  // One is not here for a while, and another one has moved.
  ASSERT_TRUE(Follow(env, Shards(TextLogSource, "text", {"shard-00", "shard-01"})));
  EXPECT_EQ(lines().size(), 40U);
  ASSERT_TRUE(Follow(env, Shards(TextLogSource, "text")));
  EXPECT_EQ(lines(), truth);
  ASSERT_TRUE(Follow(env, Shards(TextLogSource, "text")));
  EXPECT_EQ(lines(), truth);
  // Without a checkpoint there is nothing to follow; without any, no such output.
  EXPECT_TRUE(Follow(env, Shards(TextLogSource, "text", {"shard-00", "shard-07"})));
  EXPECT_EQ(Follow(env, Shards(TextLogSource, "text", {"shard-07", "shard-08"})).error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(Follow(env, TextLogSource("shard-00/state", "shard-00/text")).error().message(),
              HasSubstr("the positions are those of several shards"));
}

// A follower of three shards dies at each operation, and the next run makes the copy good.
TEST(FollowerCrashTest, OfSeveralShardsNoRecordIsLostOrTwice) {
  MemEnv start;
  for (int shard = 0; shard < 3; ++shard) {
    auto crawl = Crawl::Open(start, Crawl::Defaults(), "shard-0" + std::to_string(shard) + "/").value();
    for (int n = 0; n < 9; ++n) crawl->Add(100 * shard + n);
    ASSERT_TRUE(crawl->Commit());
  }
  const OutputSources sources = Shards(TextLogSource, "text");
  std::string truth;
  for (int shard = 0; shard < 3; ++shard) {
    for (int n = 0; n < 9; ++n) truth += UrlOf(100 * shard + n) + "\n";
  }
  uint64_t cuts = 0;
  for (uint64_t at = 1;; ++at) {
    const auto base = start.CrashedCopy(CrashMode::kKeepAll);
    FaultyEnv env(*base, {.power_cut_at = at});
    const Status first = Follow(env, sources);
    if (!env.power_is_cut()) break;
    ++cuts;
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const auto after = base->CrashedCopy(mode, at);
      const Status again = Follow(*after, sources);
      ASSERT_TRUE(again) << at << ": " << again.error().ToString();
      ASSERT_EQ(ReadWholeFile(*after, "copies/text.copy").value(), truth) << at;
    }
  }
  EXPECT_GT(cuts, 10U);
}

TEST(OutputPositionTest, GoldenTextAndDamage) {
  MemEnv env;
  EXPECT_EQ(LoadPositions(env, "p", "links").value(), OutputPositions{});
  const OutputPositions one{.shards = {{"", {.serial = 3, .offset = 1234}}}, .copied = 77};
  const OutputPositions two{.shards = {{"shard-00", {.serial = 3, .offset = 1234}}, {"shard-11", {}}}, .copied = 77};
  for (const OutputPositions* const positions : {&one, &two}) {
    ASSERT_TRUE(SavePositions(env, "p", "links", *positions));
    const std::string text = ReadWholeFile(env, "p").value();
    EXPECT_EQ(text.substr(0, text.find("crc32c")),
              positions == &one ? "PORTOLAN-POSITION 1\noutput links\nserial 3\noffset 1234\ncopied 77\n"
                                : "PORTOLAN-POSITION 2\noutput links\nposition shard-00 3 1234\n"
                                  "position shard-11 1 0\ncopied 77\n");
    EXPECT_EQ(LoadPositions(env, "p", "links").value(), *positions);
    for (size_t at = 0; at < text.size(); ++at) {
      std::string broken = text;
      broken[at] ^= 1;
      ASSERT_TRUE(ReplaceFile(env, "p", broken));
      EXPECT_EQ(LoadPositions(env, "p", "links").error().code(), ErrorCode::kCorrupt) << at;
    }
  }
}

// The power is cut at each operation of a crawl with followers beside it. What comes back is a committed state, and
// after the next run the copies are those of the crawl, record by record.
TEST(FollowerCrashTest, AfterEveryCutTheCopyIsTheCrawlsTruth) {
  constexpr int kPages = 12;
  constexpr int kEvery = 3;
  const auto pages_at = [&](uint64_t sequence) {
    return sequence == 0 ? 0 : std::min<int>(static_cast<int>(sequence - 1) * kEvery, kPages);
  };
  const auto run = [&](Env& env) -> Status {
    ASSIGN_OR_RETURN(const auto crawl, Crawl::Open(env));
    for (int n = pages_at(crawl->manifest.sequence()); n < kPages; ++n) {
      crawl->Add(n);
      if (crawl->outputs->stalled()) return Fail(ErrorCode::kIo, "an output is stalled");
      if (n % kEvery != kEvery - 1) continue;
      RETURN_IF_ERROR(crawl->Commit());
      RETURN_IF_ERROR(FollowAll(env));
    }
    return {};
  };
  uint64_t operations = 0;
  {
    MemEnv base;
    FaultyEnv env(base);
    ASSERT_TRUE(run(env));
    operations = env.operations();
    ExpectCopies(base, kPages);
  }
  ASSERT_GT(operations, 100U);
  for (uint64_t at = 1; at <= operations; ++at) {
    MemEnv base;
    FaultyEnv env(base, {.power_cut_at = at});
    static_cast<void>(run(env));
    ASSERT_TRUE(env.power_is_cut()) << at;
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const auto after = base.CrashedCopy(mode, at);
      const std::string what = "operation " + std::to_string(at) + ", mode " + std::to_string(static_cast<int>(mode));
      {
        const auto crawl = Crawl::Open(*after);
        ASSERT_TRUE(crawl) << what << ": " << crawl.error().ToString();
        const Status followed = FollowAll(*after);
        ASSERT_TRUE(followed) << what << ": " << followed.error().ToString();
        ExpectCopies(*after, pages_at((*crawl)->manifest.sequence()), what);
      }
      const Status status = run(*after);
      ASSERT_TRUE(status) << what << ": " << status.error().ToString();
      ASSERT_TRUE(FollowAll(*after));
      ExpectCopies(*after, kPages, what);
      if (HasFailure()) return;
    }
  }
}

std::vector<std::string> Broken(Env& env, size_t memory) {
  std::vector<std::string> lines;
  const Status status =
      ForEachBrokenLink(env, env, kLinks, kLog, {.dir = "tmp", .memory = memory}, [&](const LinkLine& link) {
        lines.push_back(std::string(link.source) + " -> " + std::string(link.target) + " " +
                        std::to_string(link.status) + " " + std::string(link.outcome));
        return Status();
      });
  EXPECT_TRUE(status) << status.error().ToString();
  return lines;
}

TEST(BrokenLinksTest, OutcomesAreJoinedWhateverTheOrder) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  auto crawl = Crawl::Open(env).value();
  const auto ended = [&](int n, FetchOutcome outcome, int status, bool again = false, std::string_view denied = {}) {
    PageResult result;
    result.outcome = outcome;
    result.status = status;
    crawl->outputs->Write(result, {.url = UrlOf(n), .again = again, .denied = denied});
  };
  ended(-1, FetchOutcome::kAnswered, 404);
  for (int n = 0; n < 6; ++n) crawl->Add(n);
  ended(-2, FetchOutcome::kAnswered, 503, /*again=*/true);
  ended(-2, FetchOutcome::kAnswered, 200);
  ended(-3, FetchOutcome::kDnsNotFound, 0);
  ended(-4, FetchOutcome::kAnswered, 200, false, "robots_denied");
  ended(-5, FetchOutcome::kAnswered, 500, /*again=*/true);
  ended(-5, FetchOutcome::kAnswered, 410);
  ASSERT_TRUE(crawl->Commit());
  EXPECT_THAT(Broken(env, 1 << 20), ElementsAre(UrlOf(0) + " -> " + UrlOf(-1) + " 404 answered",
                                                UrlOf(2) + " -> " + UrlOf(-3) + " 0 dns_not_found",
                                                UrlOf(4) + " -> " + UrlOf(-5) + " 410 answered"));
}

TEST(BrokenLinksTest, TargetsOfOtherShardsAreJoinedToo) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  auto first = Crawl::Open(env, Crawl::Defaults(), "shard-00/").value();
  auto second = Crawl::Open(env, Crawl::Defaults(), "shard-01/").value();
  first->Add(0);
  second->Add(1, FetchOutcome::kAnswered, 404);  // page 0 links to it
  second->Add(7);
  first->Add(8, FetchOutcome::kAnswered, 500);  // page 7 links to it
  ASSERT_TRUE(first->Commit());
  ASSERT_TRUE(second->Commit());
  std::vector<std::string> found;
  ASSERT_TRUE(ForEachBrokenLink(env, env, Shards(LinkLogSource, "links", {"shard-00", "shard-01"}),
                                Shards(CrawlLogSource, "log", {"shard-00", "shard-01"}),
                                {.dir = "tmp", .memory = 1 << 20}, [&](const LinkLine& link) {
                                  found.push_back(std::string(link.source) + " " + std::string(link.target) + " " +
                                                  std::to_string(link.status));
                                  return Status();
                                }));
  EXPECT_THAT(found, ElementsAre(UrlOf(0) + " " + UrlOf(1) + " 404", UrlOf(7) + " " + UrlOf(8) + " 500"));
}

TEST(BrokenLinksTest, MoreThanFitsInMemory) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  auto options = Crawl::Defaults();
  options.log.files.file_size = options.links.files.file_size = 100'000;
  auto crawl = Crawl::Open(env, options).value();
  constexpr int kPages = 3000;
  std::vector<std::string> expected;
  for (int n = 0; n < kPages; ++n) {
    crawl->Add(n, FetchOutcome::kAnswered, n % 10 == 3 ? 404 : 200);
    if (n % 10 == 2) expected.push_back(UrlOf(n) + " -> " + UrlOf(n + 1) + " 404 answered");
    if (n % 500 == 0) {
      ASSERT_TRUE(crawl->Commit());
    }
  }
  ASSERT_TRUE(crawl->Commit());
  EXPECT_EQ(Broken(env, 8192), expected);
}

}  // namespace
}  // namespace portolan
