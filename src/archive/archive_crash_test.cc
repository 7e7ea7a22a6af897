// Power cut at every single operation that changes the disk, in a run with archive, log and manifest: what survives is
// exactly the state of the last committed checkpoint, or of the one that was being committed, and the crawl goes on
// from there to a whole archive.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "archive/archive_samples.h"
#include "archive/archive_writer.h"
#include "archive/crawl_log.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr int kItems = 24;
constexpr int kCheckpointEvery = 5;
const std::vector<std::string> kDirs = {"disk1", "disk2"};

struct Store {
  explicit Store(Manifest opened) : manifest(std::move(opened)) {}

  static Result<std::unique_ptr<Store>> Open(Env& env) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, "state"));
    auto store = std::make_unique<Store>(std::move(manifest));
    ArchiveWriter::Options options;
    options.directories = kDirs;
    options.files.file_size = 2500;
    options.threads = false;
    ASSIGN_OR_RETURN(store->archive, ArchiveWriter::Open(env, store->clock, store->manifest, options));
    CrawlLog::Options log;
    log.dir = "log";
    log.file_size = 600;
    log.threads = false;
    ASSIGN_OR_RETURN(store->log, CrawlLog::Open(env, store->manifest, log));
    if (store->manifest.sequence() == 0) RETURN_IF_ERROR(store->Commit());
    return store;
  }

  Status Commit() {
    Checkpointable* const all[] = {archive.get(), log.get()};
    return manifest.Commit(all);
  }

  Manifest manifest;
  ManualClock clock{1'769'862'601'250'000'000};
  std::unique_ptr<ArchiveWriter> archive;
  std::unique_ptr<CrawlLog> log;
};

// How many items the checkpoint of this sequence holds. The first is empty, the last is that of the finished archive.
int ItemsAt(uint64_t sequence) {
  return sequence == 0 ? 0 : std::min<int>(static_cast<int>(sequence - 1) * kCheckpointEvery, kItems);
}

Status RunCrawl(Env& env) {
  ASSIGN_OR_RETURN(const auto store, Store::Open(env));
  for (int n = ItemsAt(store->manifest.sequence()); n < kItems; ++n) {
    if (!store->archive->TryWrite(SampleItem(n))) return Fail(ErrorCode::kIo, "the archive refuses");
    const std::string url = SampleUrl(n);
    if (!store->log->Add({}, {.url = url})) return Fail(ErrorCode::kIo, "the log refuses");
    if (n % kCheckpointEvery == kCheckpointEvery - 1) RETURN_IF_ERROR(store->Commit());
  }
  RETURN_IF_ERROR(store->archive->Finish());
  return store->Commit();
}

std::vector<std::string> LoggedUrls(Env& env) {
  std::vector<std::string> urls;
  const std::vector<std::string> names = env.List("log").value();
  for (const std::string& name : names) {
    const std::string text = ReadWholeFile(env, "log/" + name).value();
    EXPECT_TRUE(text.empty() || text.back() == '\n');
    constexpr std::string_view kMark = "\"url\":\"";
    for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) {
      at += kMark.size();
      urls.push_back(text.substr(at, text.find('"', at) - at));
    }
  }
  std::ranges::sort(urls);
  return urls;
}

void JudgeRecovery(MemEnv& env, const std::string& what) {
  uint64_t sequence = 0;
  {
    auto store = Store::Open(env);
    ASSERT_TRUE(store) << what << ": " << store.error().ToString();
    sequence = (*store)->manifest.sequence();
    EXPECT_EQ(JudgeArchive(env, kDirs, false), SampleUrls(ItemsAt(sequence))) << what << ", sequence " << sequence;
    EXPECT_EQ(LoggedUrls(env), SampleUrls(ItemsAt(sequence))) << what;
  }
  const Status status = RunCrawl(env);
  ASSERT_TRUE(status) << what << ": " << status.error().ToString();
  EXPECT_EQ(JudgeArchive(env, kDirs, true), SampleUrls(kItems)) << what << ", sequence " << sequence;
  EXPECT_EQ(LoggedUrls(env), SampleUrls(kItems)) << what;
}

TEST(ArchiveCrashTest, PowerCutAtEveryOperation) {
  uint64_t operations = 0;
  {
    MemEnv base;
    FaultyEnv env(base);
    ASSERT_TRUE(RunCrawl(env));
    operations = env.operations();
    EXPECT_EQ(JudgeArchive(base, kDirs, true), SampleUrls(kItems));
  }
  ASSERT_GT(operations, 100U);
  for (uint64_t at = 1; at <= operations; ++at) {
    MemEnv base;
    FaultyEnv env(base, {.power_cut_at = at});
    const bool whole = bool(RunCrawl(env));
    ASSERT_TRUE(env.power_is_cut()) << at;
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const auto after = base.CrashedCopy(mode, at);
      // The last operations remove what nobody needs any more. That they fail is no error: all that counts is there.
      if (whole) {
        ASSERT_EQ(ItemsAt(Manifest::Read(*after, "state").value().sequence()), kItems) << at;
      }
      JudgeRecovery(*after, "operation " + std::to_string(at) + ", mode " + std::to_string(static_cast<int>(mode)));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace portolan
