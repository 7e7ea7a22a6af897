#include "archive/archive_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>

#include "archive/archive_samples.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kStart = 1'769'862'601'250'000'000;  // 2026-01-31T12:30:01.250Z

struct Store {
  Store(Env& env_in, Manifest opened) : env(env_in), manifest(std::move(opened)) {}

  static ArchiveWriter::Options Defaults() {
    ArchiveWriter::Options options;
    options.directories = {"warc"};
    options.files.host = "crawler1";
    options.threads = false;
    return options;
  }

  static std::unique_ptr<Store> Open(Env& env, const ArchiveWriter::Options& options = Defaults()) {
    auto store = std::make_unique<Store>(env, Manifest::Open(env, "state").value());
    auto opened = ArchiveWriter::Open(env, store->clock, store->manifest, options);
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
  std::unique_ptr<ArchiveWriter> writer;
};

TEST(ArchiveWriterTest, FileBeginsWithWarcinfoAndIsReadBackWithoutFault) {
  MemEnv env;
  auto options = Store::Defaults();
  options.files.info.contact = "https://operator.test/";
  options.files.info.user_agent = "portolan/1.0";
  auto store = Store::Open(env, options);
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
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

TEST(ArchiveWriterTest, FilesAreClosedAtTheirSizeAndIndexesMerge) {
  MemEnv env;
  auto options = Store::Defaults();
  options.files.file_size = 2000;
  options.files.index_memory = 0;
  auto store = Store::Open(env, options);
  for (int n = 0; n < 50; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
  EXPECT_GT(store->writer->totals().files, 5U);
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(50));
  ASSERT_TRUE(MergeArchiveIndex(env, {"warc"}, "index.cdxj"));
  const std::string index = ReadWholeFile(env, "index.cdxj").value();
  EXPECT_EQ(std::ranges::count(index, '\n'), 50);
}

TEST(ArchiveWriterTest, DirectoriesShareTheLoadByBytes) {
  MemEnv env;
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2"};
  auto store = Store::Open(env, options);
  EXPECT_TRUE(store->writer->TryWrite(SampleItem(0, 50'000)));
  for (int n = 1; n < 40; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"disk1", "disk2"}, true), SampleUrls(40));
  EXPECT_EQ(JudgeArchive(env, {"disk1"}, true).size(), 1U);
}

TEST(ArchiveWriterTest, AStoppedCrawlGoesOnInTheSameFile) {
  MemEnv env;
  auto store = Store::Open(env);
  for (int n = 0; n < 10; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
  ASSERT_TRUE(store->Commit());
  EXPECT_TRUE(store->writer->TryWrite(SampleItem(99)));  // after the checkpoint: never happened
  store.reset();
  store = Store::Open(env);
  for (int n = 10; n < 15; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(15));
  EXPECT_EQ(env.List("warc").value().size(), 2U);
}

TEST(ArchiveWriterTest, FilesOfOthersAreNeverTouched) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("warc"));
  const auto put = [&](const std::string& name) { ASSERT_TRUE(ReplaceFile(env, JoinPath("warc", name), "x")); };
  put("OTHER-20260131123001250-00009-host.warc.gz");
  put("notes.txt");
  {
    auto store = Store::Open(env);
    EXPECT_TRUE(store->writer->TryWrite(SampleItem(1)));
  }
  EXPECT_EQ(Store::Open(env)->env.List("warc").value().size(), 2U);
  // Our prefix without a checkpoint: somebody's archive, not leftovers.
  put("PORTOLAN-20260131123001250-00009-host.warc.gz");
  MemEnv& same = env;
  const Manifest fresh = Manifest::Open(same, "other-state").value();
  ManualClock clock;
  EXPECT_EQ(ArchiveWriter::Open(same, clock, fresh, Store::Defaults()).error().code(), ErrorCode::kExists);
}

TEST(ArchiveWriterTest, MissingOrShortFilesAreNamed) {
  MemEnv env;
  {
    auto store = Store::Open(env);
    EXPECT_TRUE(store->writer->TryWrite(SampleItem(1)));
    ASSERT_TRUE(store->Commit());
  }
  const std::string name = "warc/PORTOLAN-20260131123001250-00001-crawler1.warc.gz";
  const std::string bytes = ReadWholeFile(env, name).value();
  ASSERT_TRUE(ReplaceFile(env, name, bytes.substr(1)));
  const Manifest manifest = Manifest::Open(env, "state").value();
  ManualClock clock;
  EXPECT_EQ(ArchiveWriter::Open(env, clock, manifest, Store::Defaults()).error().code(), ErrorCode::kCorrupt);
  ASSERT_TRUE(env.Remove(name));
  EXPECT_EQ(ArchiveWriter::Open(env, clock, manifest, Store::Defaults()).error().code(), ErrorCode::kCorrupt);
}

TEST(ArchiveWriterTest, FullDiskPausesAndLosesNothing) {
  MemEnv base;
  FaultyEnv env(base);
  auto options = Store::Defaults();
  options.files.file_size = 3000;
  std::vector<ErrorCode> errors;
  options.on_error = [&](const Error& error) { errors.push_back(error.code()); };
  auto store = Store::Open(env, options);
  env.SetPlan({.space = 5000});
  int written = 0;
  while (written < 100 && store->writer->TryWrite(SampleItem(written))) ++written;
  ASSERT_LT(written, 100);
  EXPECT_THAT(errors, ElementsAre(ErrorCode::kNoSpace));
  EXPECT_TRUE(store->writer->stalled());
  EXPECT_FALSE(store->writer->Flush());
  store->writer->Resume();  // still full
  EXPECT_TRUE(store->writer->stalled());
  env.AddSpace(1 << 20);
  store->writer->Resume();
  EXPECT_FALSE(store->writer->stalled());
  for (; written < 100; ++written) ASSERT_TRUE(store->writer->TryWrite(SampleItem(written)));
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(100));
}

// Each operation fails once; after Resume nothing is missing and nothing is there twice.
TEST(ArchiveWriterTest, AnyOperationMayFailOnce) {
  const auto run = [](FaultyEnv& env, const FaultPlan& plan, int& stops) {
    auto options = Store::Defaults();
    options.files.file_size = 3000;
    auto store = Store::Open(env, options);
    env.SetPlan(plan);
    const uint64_t before = env.operations();
    for (int n = 0; n < 30; ++n) {
      ArchiveItem item = SampleItem(n);
      if (!store->writer->TryWrite(std::move(item))) return uint64_t{0};
      if (store->writer->stalled()) {
        ++stops;
        store->writer->Resume();
      }
      if (n % 7 == 6 && !store->writer->Flush()) {
        ++stops;
        store->writer->Resume();
        EXPECT_TRUE(store->writer->Flush());
      }
    }
    store->writer->CloseFiles();
    if (store->writer->stalled()) {
      ++stops;
      store->writer->Resume();
    }
    Status flushed = store->writer->Flush();
    if (!flushed) {
      ++stops;
      store->writer->Resume();
      flushed = store->writer->Flush();
    }
    EXPECT_TRUE(flushed);
    EXPECT_FALSE(store->writer->stalled());
    const uint64_t operations = env.operations() - before;
    env.SetPlan({});
    EXPECT_TRUE(store->Commit());
    EXPECT_EQ(JudgeArchive(env, {"warc"}, true), SampleUrls(30));
    return operations;
  };
  int stops = 0;
  uint64_t first = 0;
  uint64_t operations = 0;
  {
    MemEnv base;
    FaultyEnv env(base);
    Store::Open(env);
    first = env.operations();
    MemEnv clean;
    FaultyEnv counting(clean);
    operations = run(counting, {}, stops);
  }
  ASSERT_GT(operations, 20U);
  EXPECT_EQ(stops, 0);
  for (uint64_t at = first + 1; at <= first + operations; ++at) {
    for (const bool half : {false, true}) {
      MemEnv base;
      FaultyEnv env(base);
      FaultPlan plan;
      (half ? plan.short_write_at : plan.fail_at) = at;
      ASSERT_GT(run(env, plan, stops), 0U) << at;
      if (testing::Test::HasFailure()) FAIL() << "operation " << at << (half ? ", half written" : "");
    }
  }
  EXPECT_GT(stops, static_cast<int>(operations));
}

TEST(ArchiveWriterTest, ThreadsWriteWhileTheOwnerGoesOn) {
  MemEnv env;
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2", "disk3"};
  options.threads = true;
  options.files.file_size = 20'000;
  options.queue_bytes = 4000;
  auto store = Store::Open(env, options);
  std::mutex mutex;
  std::condition_variable changed;
  int flushes = 0;
  int done = 0;
  for (int n = 0; n < 600; ++n) {
    ArchiveItem item = SampleItem(n);
    while (!store->writer->TryWrite(std::move(item))) std::this_thread::yield();
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

TEST(ArchiveWriterTest, AStalledThreadFailsFlushesAndLetsOthersGoOn) {
  MemEnv base;
  FaultyEnv env(base);
  auto options = Store::Defaults();
  options.directories = {"disk1", "disk2"};
  options.threads = true;
  std::mutex mutex;
  std::condition_variable changed;
  int errors = 0;
  options.on_error = [&](const Error&) {
    const std::lock_guard lock(mutex);
    ++errors;
    changed.notify_all();
  };
  auto store = Store::Open(env, options);
  env.SetPlan({.fail_at = env.operations() + 1});
  EXPECT_TRUE(store->writer->TryWrite(SampleItem(0)));
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return errors == 1; });
  }
  EXPECT_EQ(store->writer->Flush().error().code(), ErrorCode::kBusy);
  for (int n = 1; n < 10; ++n) EXPECT_TRUE(store->writer->TryWrite(SampleItem(n)));
  store->writer->Resume();
  ASSERT_TRUE(store->Finish());
  EXPECT_EQ(JudgeArchive(env, {"disk1", "disk2"}, true), SampleUrls(10));
}

TEST(ArchiveWriterTest, BadOptionsAreRefused) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "state").value();
  ManualClock clock;
  auto options = Store::Defaults();
  options.directories = {};
  EXPECT_EQ(ArchiveWriter::Open(env, clock, manifest, options).error().code(), ErrorCode::kInvalidArgument);
  options.directories = {"a", "a"};
  EXPECT_EQ(ArchiveWriter::Open(env, clock, manifest, options).error().code(), ErrorCode::kInvalidArgument);
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
