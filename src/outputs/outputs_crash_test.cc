// Power cut at every single operation that changes the disk, in a run with archive, log and manifest: what survives is
// exactly the state of the last committed checkpoint, or of the one that was being committed, and the crawl goes on
// from there to a whole archive.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "disk/block_file.h"
#include "disk/record_block.h"
#include "flow/output_records.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/crawl_log.h"
#include "outputs/log_text.h"
#include "outputs/outputs.h"
#include "outputs/warc_output.h"
#include "outputs/warc_samples.h"

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
    OutputsOptions options;
    options.warc.directories = kDirs;
    options.warc.files.file_size = 2500;
    options.log.files.dir = "log";
    options.log.files.file_size = 600;
    options.links.enabled = options.text.enabled = true;
    options.links.files.dir = "links";
    options.links.files.file_size = 300;
    options.text.files.dir = "text";
    options.text.files.file_size = 300;
    options.threads = false;
    ASSIGN_OR_RETURN(store->outputs, Outputs::Open(env, store->clock, store->manifest, options));
    if (store->manifest.sequence() == 0) RETURN_IF_ERROR(store->Commit());
    return store;
  }

  Status Commit() { return manifest.Commit(outputs->Checkpointables()); }

  Manifest manifest;
  ManualClock clock{1'769'862'601'250'000'000};
  std::unique_ptr<Outputs> outputs;
};

// How many items the checkpoint of this sequence holds. The first is empty, the last is that of the finished archive.
int ItemsAt(uint64_t sequence) {
  return sequence == 0 ? 0 : std::min<int>(static_cast<int>(sequence - 1) * kCheckpointEvery, kItems);
}

Status RunCrawl(Env& env) {
  ASSIGN_OR_RETURN(const auto store, Store::Open(env));
  for (int n = ItemsAt(store->manifest.sequence()); n < kItems; ++n) {
    PageResult result;
    result.archive = SampleItem(n);
    OutputItem links{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(links.records, SampleUrl(n), n);
    AppendLink(links.records, SampleUrl(n + 1), kLinkNofollow, "next");
    OutputItem text{.output = OutputId::kText, .records = {}};
    AppendTextRecord(text.records, {.url = SampleUrl(n), .unix_ms = n, .text = "words"});
    result.outputs.push_back(std::move(links));
    result.outputs.push_back(std::move(text));
    store->outputs->Write(result, {.url = SampleUrl(n)});
    if (store->outputs->stalled()) return Fail(ErrorCode::kIo, "an output is stalled");
    if (n % kCheckpointEvery == kCheckpointEvery - 1) RETURN_IF_ERROR(store->Commit());
  }
  RETURN_IF_ERROR(store->outputs->Finish());
  RETURN_IF_ERROR(store->Commit());
  return store->outputs->FinishPacking();
}

std::vector<std::string> LoggedUrls(Env& env) {
  std::vector<std::string> urls;
  const auto files = ListLogFiles(env, "log", kCrawlLogNames).value();
  for (const auto& [serial, file] : files) {
    const auto text = LogText::Open(env, file).value();
    EXPECT_TRUE(ForEachLineOf(*text, 1 << 20, [&](std::string_view line) {
      constexpr std::string_view kMark = "\"url\":\"";
      const size_t at = line.find(kMark) + kMark.size();
      urls.emplace_back(line.substr(at, line.find('"', at) - at));
      return true;
    }));
  }
  std::ranges::sort(urls);
  return urls;
}

// The pages of the link log or the text log, each of whose files must be whole.
std::vector<std::string> RecordedUrls(Env& env, const std::string& dir, const LogNames& names, FileKind kind) {
  std::vector<std::string> urls;
  const auto files = ListLogFiles(env, dir, names).value();
  for (const auto& [serial, file] : files) {
    BlockFileReader reader = BlockFileReader::Open(env, file.path, kind).value();
    RecordBlockReader records;
    for (;;) {
      const auto block = reader.Next();
      EXPECT_TRUE(block) << block.error().ToString();
      if (!block || !*block) break;
      records.Start(**block, kind == FileKind::kLinks ? 1 : 0);
      while (records.Next()) {
        if (kind == FileKind::kText) urls.emplace_back(ParseTextRecord(records.record())->url);
        if (kind == FileKind::kText || records.tag() != kLinkPage) continue;
        urls.emplace_back(ParseLinkRecord(records.record(), kLinkPage)->url);
      }
      EXPECT_TRUE(records.ok());
    }
  }
  std::ranges::sort(urls);
  return urls;
}

void JudgeLogs(Env& env, int items, const std::string& what) {
  EXPECT_EQ(LoggedUrls(env), SampleUrls(items)) << what;
  EXPECT_EQ(RecordedUrls(env, "links", kLinkLogNames, FileKind::kLinks), SampleUrls(items)) << what;
  EXPECT_EQ(RecordedUrls(env, "text", kTextLogNames, FileKind::kText), SampleUrls(items)) << what;
}

void JudgeRecovery(MemEnv& env, const std::string& what) {
  uint64_t sequence = 0;
  {
    auto store = Store::Open(env);
    ASSERT_TRUE(store) << what << ": " << store.error().ToString();
    sequence = (*store)->manifest.sequence();
    EXPECT_EQ(JudgeArchive(env, kDirs, false), SampleUrls(ItemsAt(sequence))) << what << ", sequence " << sequence;
    JudgeLogs(env, ItemsAt(sequence), what);
  }
  const Status status = RunCrawl(env);
  ASSERT_TRUE(status) << what << ": " << status.error().ToString();
  EXPECT_EQ(JudgeArchive(env, kDirs, true), SampleUrls(kItems)) << what << ", sequence " << sequence;
  JudgeLogs(env, kItems, what);
}

TEST(OutputsCrashTest, PowerCutAtEveryOperation) {
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
      // The last operations remove files that are no longer needed. Their failure is not an error: all data is there.
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
