#include "outputs/warc_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "outputs/warc_samples.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kStart = 1'769'862'601'250'000'000;  // 2026-01-31T12:30:01.250Z

struct Store {
  Store(Env& env_in, Manifest opened) : env(env_in), manifest(std::move(opened)) {}

  static WarcOutput::Options Defaults() {
    WarcOutput::Options options;
    options.directories = {"warc"};
    options.files.host = "crawler1";
    options.writing.threads = false;
    return options;
  }

  static std::unique_ptr<Store> Open(Env& env, const WarcOutput::Options& options = Defaults()) {
    auto store = std::make_unique<Store>(env, Manifest::Open(env, "state").value());
    auto opened = WarcOutput::Open(env, store->clock, store->manifest, options);
    EXPECT_TRUE(opened) << opened.error().ToString();
    store->writer = std::move(*opened);
    EXPECT_TRUE(store->Commit());
    return store;
  }

  Status Commit() {
    Checkpointable* const all[] = {writer.get()};
    return manifest.Commit(all);
  }
  Status Finish() {
    RETURN_IF_ERROR(writer->Finish());
    return Commit();
  }

  Env& env;
  Manifest manifest;
  ManualClock clock{kStart};
  std::unique_ptr<WarcOutput> writer;
};

TEST(WarcOutputTest, FileBeginsWithWarcinfoAndIsReadBackWithoutFault) {
  MemEnv env;
  auto options = Store::Defaults();
  options.files.info.contact = "https://operator.test/";
  options.files.info.user_agent = "portolan/1.0";
  auto store = Store::Open(env, options);
  for (int n = 0; n < 20; ++n) store->writer->Write(SampleItem(n));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(20));
  const auto names = env.List("warc").value();
  EXPECT_THAT(names, ElementsAre("PORTOLAN-20260131123001250-00001-crawler1.cdxj",
                                 "PORTOLAN-20260131123001250-00001-crawler1.warc.gz"));
  const std::string bytes = ReadWholeFile(env, JoinPath("warc", names[1])).value();
  WarcReader reader(MemorySource(bytes), {});
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.record().fields.Get("WARC-Filename"), names[1]);
  const std::string block(reader.ReadBlock().value());
  EXPECT_THAT(block, HasSubstr("software: portolan\r\n"));
  EXPECT_THAT(block, HasSubstr("contact: https://operator.test/\r\n"));
  EXPECT_THAT(block, HasSubstr("robots: obey (RFC 9309)\r\n"));
}

TEST(WarcOutputTest, FilesAreClosedAtTheirSizeAndIndexesMerge) {
  MemEnv env;
  auto options = Store::Defaults();
  options.files.file_size = 2000;
  options.files.index_memory = 0;
  auto store = Store::Open(env, options);
  for (int n = 0; n < 50; ++n) store->writer->Write(SampleItem(n));
  EXPECT_GT(store->writer->totals().files, 5U);
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(50));
  ASSERT_TRUE(MergeArchiveIndex(env, {"warc"}, "index.cdxj"));
  const std::string index = ReadWholeFile(env, "index.cdxj").value();
  EXPECT_EQ(std::ranges::count(index, '\n'), 50);
}

TEST(WarcOutputTest, DirectoriesShareTheLoadByBytes) {
  MemEnv env;
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2"};
  auto store = Store::Open(env, options);
  store->writer->Write(SampleItem(0, 50'000));
  for (int n = 1; n < 40; ++n) store->writer->Write(SampleItem(n));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"disk1", "disk2"}, true), SampleUrls(40));
  EXPECT_EQ(JudgeArchive(env, {"disk1"}, true).size(), 1U);
}

TEST(WarcOutputTest, AStoppedCrawlGoesOnInTheSameFile) {
  MemEnv env;
  auto store = Store::Open(env);
  for (int n = 0; n < 10; ++n) store->writer->Write(SampleItem(n));
  ASSERT_TRUE(store->Commit());
  store->writer->Write(SampleItem(99));  // after the checkpoint: never happened
  store.reset();
  store = Store::Open(env);
  for (int n = 10; n < 15; ++n) store->writer->Write(SampleItem(n));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(15));
  EXPECT_EQ(env.List("warc").value().size(), 2U);
}

TEST(WarcOutputTest, FilesOfOthersAreNeverTouched) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("warc"));
  const auto put = [&](const std::string& name) { ASSERT_TRUE(ReplaceFile(env, JoinPath("warc", name), "x")); };
  put("OTHER-20260131123001250-00009-host.warc.gz");
  put("notes.txt");
  {
    auto store = Store::Open(env);
    store->writer->Write(SampleItem(1));
  }
  EXPECT_EQ(Store::Open(env)->env.List("warc").value().size(), 2U);
  // Our prefix without a checkpoint: another crawl's archive, not leftovers.
  put("PORTOLAN-20260131123001250-00009-host.warc.gz");
  MemEnv& same = env;
  const Manifest fresh = Manifest::Open(same, "other-state").value();
  ManualClock clock;
  EXPECT_EQ(WarcOutput::Open(same, clock, fresh, Store::Defaults()).error().code(), ErrorCode::kExists);
}

TEST(WarcOutputTest, MissingOrShortFilesAreNamed) {
  MemEnv env;
  {
    auto store = Store::Open(env);
    store->writer->Write(SampleItem(1));
    ASSERT_TRUE(store->Commit());
  }
  const std::string name = "warc/PORTOLAN-20260131123001250-00001-crawler1.warc.gz";
  const std::string bytes = ReadWholeFile(env, name).value();
  ASSERT_TRUE(ReplaceFile(env, name, bytes.substr(1)));
  const Manifest manifest = Manifest::Open(env, "state").value();
  ManualClock clock;
  EXPECT_EQ(WarcOutput::Open(env, clock, manifest, Store::Defaults()).error().code(), ErrorCode::kCorrupt);
  ASSERT_TRUE(env.Remove(name));
  EXPECT_EQ(WarcOutput::Open(env, clock, manifest, Store::Defaults()).error().code(), ErrorCode::kCorrupt);
}

TEST(WarcOutputTest, FullDiskPausesAndLosesNothing) {
  MemEnv base;
  FaultyEnv env(base);
  auto options = Store::Defaults();
  options.files.file_size = 3000;
  std::vector<ErrorCode> errors;
  options.writing.on_error = [&](const Error& error) { errors.push_back(error.code()); };
  auto store = Store::Open(env, options);
  env.SetPlan({.space = 5000});
  int written = 0;
  for (; written < 100 && !store->writer->stalled(); ++written) store->writer->Write(SampleItem(written));
  ASSERT_LT(written, 100);
  store->writer->Write(SampleItem(written++));  // it takes what it is given, and keeps it
  EXPECT_GT(store->writer->waiting_bytes(), 0U);
  EXPECT_THAT(errors, ElementsAre(ErrorCode::kNoSpace));
  EXPECT_TRUE(store->writer->stalled());
  EXPECT_FALSE(store->writer->Flush());
  store->writer->Resume();  // still full
  EXPECT_TRUE(store->writer->stalled());
  env.AddSpace(1 << 20);
  store->writer->Resume();
  EXPECT_FALSE(store->writer->stalled());
  EXPECT_EQ(store->writer->waiting_bytes(), 0U);
  for (; written < 100; ++written) store->writer->Write(SampleItem(written));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(100));
}

// Each operation finds a full disk, once. If it was a write, Resume continues, nothing is missing and nothing is there
// twice. If it was a sync, bytes may be lost that a second sync would not notice: the lane stays stalled, and the
// committed state stays valid.
TEST(WarcOutputTest, AnyOperationMayFindAFullDisk) {
  constexpr int kItems = 30;
  struct End {
    uint64_t operations = 0;
    int committed = 0;        // items
    int being_committed = 0;  // when it ended
    bool lost = false;
  };
  auto options = Store::Defaults();
  options.files.file_size = 3000;
  const auto run = [&](FaultyEnv& env, std::optional<uint64_t> full_at, int& pauses) {
    End end;
    auto store = Store::Open(env, options);
    const uint64_t before = env.operations();
    if (full_at) env.SetPlan({.full_at = before + *full_at});
    const auto pause = [&] {
      ++pauses;
      store->writer->Resume();
    };
    const auto commit = [&](int items) {
      end.being_committed = items;
      Status status = store->Commit();
      if (!status && status.error().code() == ErrorCode::kNoSpace) {
        pause();
        status = store->Commit();
      }
      EXPECT_TRUE(status || status.error().code() == ErrorCode::kIo) << status.error().ToString();
      if (status) end.committed = items;
      end.lost = !status;
    };
    for (int n = 0; n < kItems && !end.lost; ++n) {
      store->writer->Write(SampleItem(n));
      if (store->writer->stalled()) pause();
      if (store->writer->stalled()) {
        end.lost = true;
        break;
      }
      if (n % 7 == 6) commit(n + 1);
    }
    if (!end.lost) store->writer->CloseFiles();
    if (store->writer->stalled()) pause();
    if (!end.lost) commit(kItems);
    if (end.lost && store->writer->stalled()) {  // if not it was the manifest
      store->writer->Resume();
      EXPECT_FALSE(store->Commit()) << "it must be stalled";
    }
    end.operations = env.operations() - before;
    return end;
  };
  uint64_t operations = 0;
  int pauses = 0;
  {
    MemEnv base;
    FaultyEnv env(base);
    const End end = run(env, std::nullopt, pauses);
    EXPECT_FALSE(end.lost);
    operations = end.operations;
  }
  ASSERT_GT(operations, 50U);
  EXPECT_EQ(pauses, 0);
  int losses = 0;
  for (uint64_t at = 1; at <= operations; ++at) {
    MemEnv base;
    FaultyEnv env(base);
    const End end = run(env, at, pauses);
    losses += end.lost ? 1 : 0;
    const auto left = base.CrashedCopy(CrashMode::kLoseUnsynced);
    auto store = Store::Open(*left, options);
    ASSERT_FALSE(HasFailure()) << "operation " << at;
    const std::vector<std::string> urls = JudgeArchive(*left, {"warc"}, !end.lost);
    EXPECT_TRUE(urls == SampleUrls(end.committed) || (end.lost && urls == SampleUrls(end.being_committed)))
        << urls.size() << " URLs, committed " << end.committed;
    EXPECT_TRUE(end.lost || end.committed == kItems);
    ASSERT_FALSE(HasFailure()) << "operation " << at;
  }
  EXPECT_GT(losses, 10);
  EXPECT_GT(pauses, 10);
}

TEST(WarcOutputTest, ThreadsWriteWhileTheOwnerGoesOn) {
  MemEnv env;
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2", "disk3"};
  options.writing.threads = true;
  options.files.file_size = 20'000;
  options.behind_bytes = 4000;
  auto store = Store::Open(env, options);
  std::mutex mutex;
  std::condition_variable changed;
  int flushes = 0;
  int done = 0;
  for (int n = 0; n < 600; ++n) {
    while (store->writer->waiting_bytes() > 4000) std::this_thread::yield();  // as an owner does
    store->writer->Write(SampleItem(n));
    const std::lock_guard lock(mutex);
    if (n % 50 == 10 && flushes == done) {
      ++flushes;
      store->writer->StartFlush([&](const Status& status) {
        EXPECT_TRUE(status);
        const std::lock_guard inner(mutex);
        ++done;
        changed.notify_all();
      });
    }
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return flushes == done; });
  }
  EXPECT_GT(flushes, 1);
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(store->writer->totals().items, 600U);
  EXPECT_EQ(JudgeArchive(env, {"disk1", "disk2", "disk3"}, true), SampleUrls(600));
}

TEST(WarcOutputTest, AStalledThreadFailsFlushesAndLetsOthersGoOn) {
  MemEnv base;
  FaultyEnv env(base);
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2"};
  options.writing.threads = true;
  std::mutex mutex;
  std::condition_variable changed;
  int errors = 0;
  options.writing.on_error = [&](const Error&) {
    const std::lock_guard lock(mutex);
    ++errors;
    changed.notify_all();
  };
  auto store = Store::Open(env, options);
  env.SetPlan({.full_at = env.operations() + 1});
  store->writer->Write(SampleItem(0));
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return errors == 1; });
  }
  EXPECT_EQ(store->writer->Flush().error().code(), ErrorCode::kNoSpace) << "it says why it is stalled";
  for (int n = 1; n < 10; ++n) store->writer->Write(SampleItem(n));
  store->writer->Resume();
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"disk1", "disk2"}, true), SampleUrls(10));
}

TEST(WarcOutputTest, AThreadThatMetABrokenDiskStandsStillForGood) {
  MemEnv base;
  FaultyEnv env(base);
  auto store = Store::Open(env);
  env.SetPlan({.fail_at = env.operations() + 1});
  store->writer->Write(SampleItem(0));
  EXPECT_EQ(store->writer->Finish().error().code(), ErrorCode::kIo);
  store->writer->Resume();
  EXPECT_TRUE(store->writer->stalled());
  EXPECT_EQ(store->writer->Flush().error().code(), ErrorCode::kIo);
}

TEST(WarcOutputTest, OneDirectoryUnderTwoNamesIsRefused) {
  MemEnv env;
  auto options = Store::Defaults();
  options.directories = {"disk1", "warc"};
  {
    auto store = Store::Open(env, options);
    for (int n = 0; n < 10; ++n) store->writer->Write(SampleItem(n));
    ASSERT_TRUE(store->Commit());
  }
  const Manifest manifest = Manifest::Open(env, "state").value();
  ManualClock clock;
  for (const char* again : {"warc", "warc/", "./warc", "warc/.", ".//warc"}) {
    options.directories = {"warc", again};
    const auto opened = WarcOutput::Open(env, clock, manifest, options);
    ASSERT_FALSE(opened) << again;
    EXPECT_EQ(opened.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(opened.error().message(), HasSubstr(std::string("warc and ") + again));
  }
  EXPECT_EQ(JudgeArchive(env, {"disk1", "warc"}, false), SampleUrls(10)) << "nothing was touched";
}

TEST(WarcOutputTest, ADirectoryThatIsNewToTheManifestNeedsACommit) {
  MemEnv env;
  auto options = Store::Defaults();
  const ManualClock clock{kStart};
  for (const size_t directories : {1, 2, 2, 3}) {
    const bool known = directories == options.directories.size() && env.Exists("state");
    while (options.directories.size() < directories) {
      options.directories.push_back("more" + std::to_string(options.directories.size()));
    }
    Manifest manifest = Manifest::Open(env, "state").value();
    auto writer = WarcOutput::Open(env, clock, manifest, options).value();
    EXPECT_EQ(writer->needs_commit(), !known) << directories;
    Checkpointable* const all[] = {writer.get()};
    ASSERT_TRUE(manifest.Commit(all));
    EXPECT_FALSE(writer->needs_commit());
    // From here on a kill does no harm: these are leftovers of this crawl.
    for (int n = 0; n < 5; ++n) writer->Write(SampleItem(n));
    static_cast<void>(writer->Finish());
  }
}

// The part file of a finished checkpoint is no longer needed; failing to remove it does no harm.
TEST(WarcOutputTest, APartThatCannotBeRemovedIsNoError) {
  const std::string part = "warc/PORTOLAN-20260131123001250-00001-crawler1.cdxj.part";
  for (const bool gone : {false, true}) {
    MemEnv base;
    FaultyEnv env(base);
    auto store = Store::Open(env);
    store->writer->Write(SampleItem(0));
    ASSERT_TRUE(store->writer->Finish());
    ASSERT_TRUE(base.Exists(part));
    if (gone) {
      ASSERT_TRUE(base.Remove(part));
      EXPECT_TRUE(store->Commit());
    } else {
      Checkpointable* const all[] = {store->writer.get()};
      const ManifestSection sections[] = {store->writer->Describe()};
      ASSERT_TRUE(store->manifest.WriteNext(sections));
      env.SetPlan({.fail_at = env.operations() + 1});
      EXPECT_TRUE(store->manifest.Adopt({sections[0]}, all));
      EXPECT_TRUE(base.Exists(part)) << "it was to fail";
    }
    store.reset();
    Store::Open(env);
    EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(1)) << "the next recovery removes it";
  }
}

TEST(WarcOutputTest, BadOptionsAreRefused) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "state").value();
  ManualClock clock;
  auto options = Store::Defaults();
  options.directories = {};
  EXPECT_EQ(WarcOutput::Open(env, clock, manifest, options).error().code(), ErrorCode::kInvalidArgument);
  options.directories = {"a", "a"};
  EXPECT_EQ(WarcOutput::Open(env, clock, manifest, options).error().code(), ErrorCode::kInvalidArgument);
}

TEST(ArchiveFileNameTest, OnlyOwnNamesAreRead) {
  using Kind = ArchiveFileName::Kind;
  const auto kind = [](std::string_view name) { return ParseArchiveFileName(name, "P")->kind; };
  EXPECT_EQ(kind("P-20260131123001250-00007-host.example.warc.gz"), Kind::kWarc);
  EXPECT_EQ(kind("P-20260131123001250-00007-host.example.cdxj"), Kind::kIndex);
  EXPECT_EQ(kind("P-20260131123001250-00007-host.cdxj.part"), Kind::kPart);
  EXPECT_EQ(kind("P-20260131123001250-00007-host.cdxj.tmp"), Kind::kTemporary);
  EXPECT_EQ(kind("P-20260131123001250-00007-host.cdxj.tmp.3"), Kind::kTemporary);
  EXPECT_EQ(ParseArchiveFileName("P-20260131123001250-123456-h.warc.gz", "P")->serial, 123456U);
  for (const std::string_view name :
       {"Q-20260131123001250-00007-h.warc.gz", "P-2026-00007-h.warc.gz", "P-20260131123001250-00007-h.warc",
        "P-20260131123001250-00000-h.warc.gz", "P-20260131123001250-x-h.warc.gz", "P", "index.cdxj"}) {
    EXPECT_FALSE(ParseArchiveFileName(name, "P")) << name;
  }
}

}  // namespace
}  // namespace portolan
