#include "disk/checkpointer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "disk/queue.h"
#include "io/counting_env.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";

TEST(SyncLaterTest, ASyncWaitsForItsBatch) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs(kDir));
  SyncLater later(mem);
  auto file = later.Open("state/a", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append("one"));
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(later.SyncDir(kDir));
  EXPECT_EQ(later.waiting(), 1U);
  EXPECT_EQ(ReadWholeFile(*mem.CrashedCopy(CrashMode::kLoseUnsynced), "state/a").value(), "");
  file.reset();  // closed, and still to be synced
  SyncLater::Batch batch = later.Take();
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(later.waiting(), 0U);
  ASSERT_TRUE(batch.Sync());
  EXPECT_EQ(ReadWholeFile(*mem.CrashedCopy(CrashMode::kLoseUnsynced), "state/a").value(), "one");
}

TEST(SyncLaterTest, ARemovedFileCostsNoSync) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs(kDir));
  CountingEnv counting(mem);
  SyncLater later(counting);
  for (const char* path : {"state/a", "state/b"}) {
    auto file = later.Open(path, OpenMode::kCreate).value();
    ASSERT_TRUE(file->Sync());
    ASSERT_TRUE(file->Sync());
  }
  ASSERT_TRUE(later.Remove("state/a"));
  ASSERT_TRUE(later.Take().Sync());
  EXPECT_EQ(counting.counters().syncs, 1U);
}

TEST(SyncLaterTest, WhatCouldNotBeSyncedWaitsAgain) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs(kDir));
  FaultyEnv faulty(mem);
  SyncLater later(faulty);
  for (const char* path : {"state/a", "state/b", "state/c"}) {
    auto file = later.Open(path, OpenMode::kCreate).value();
    ASSERT_TRUE(file->Append(path));
    ASSERT_TRUE(file->Sync());
  }
  faulty.SetPlan({.fail_at = faulty.operations() + 2});
  const Status failed = later.Take().Sync();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kIo);
  EXPECT_EQ(later.waiting(), 2U);
  EXPECT_TRUE(later.Take().Sync());
}

// Files that count when they are closed.
class ClosingEnv : public MemEnv {
 public:
  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override {
    ASSIGN_OR_RETURN(auto file, MemEnv::Open(path, mode, options));
    return std::make_unique<Closing>(std::move(file), *this);
  }
  std::function<void()> on_close = [] {};

 private:
  struct Closing : File {
    Closing(std::unique_ptr<File> of, ClosingEnv& in) : base(std::move(of)), env(in) {}
    ~Closing() override { env.on_close(); }
    Status Append(std::string_view bytes) override { return base->Append(bytes); }
    Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override { return base->ReadAt(offset, to, count); }
    Status Preallocate(uint64_t size) override { return base->Preallocate(size); }
    Status Truncate(uint64_t size) override { return base->Truncate(size); }
    Status Sync() override { return base->Sync(); }
    uint64_t Size() const override { return base->Size(); }
    const std::string& path() const override { return base->path(); }

    std::unique_ptr<File> base;
    ClosingEnv& env;
  };
};

// Closing the last handle on a removed file may take long. No other thread waits for that.
TEST(SyncLaterTest, FilesAreClosedWithoutTheLock) {
  ClosingEnv env;
  ASSERT_TRUE(env.CreateDirs(kDir));
  SyncLater later(env);
  uint64_t closed = 0;
  uint64_t locked = 0;
  std::vector<std::future<size_t>> asked;
  env.on_close = [&] {
    ++closed;
    asked.push_back(std::async(std::launch::async, [&] { return later.waiting(); }));
    if (asked.back().wait_for(std::chrono::seconds(2)) != std::future_status::ready) ++locked;
  };
  const auto noted = [&](const char* path) {
    auto file = later.Open(path, OpenMode::kCreate).value();
    ASSERT_TRUE(file->Sync());
  };
  noted("state/a");
  noted("state/b");
  noted("state/c");
  EXPECT_EQ(closed, 0U) << "the notes hold them";
  ASSERT_TRUE(later.Remove("state/a"));
  EXPECT_EQ(closed, 1U);
  later.HoldRemovals();
  ASSERT_TRUE(later.Remove("state/b"));
  later.TakeRemovals();
  EXPECT_EQ(closed, 2U);
  ASSERT_TRUE(later.Rename("state/c", "state/d"));
  EXPECT_EQ(closed, 3U);
  noted("state/e");
  {
    auto again = later.Open("state/e", OpenMode::kAppend).value();
    ASSERT_TRUE(again->Sync());
    EXPECT_EQ(closed, 4U) << "one note per file";
  }
  EXPECT_EQ(locked, 0U);
  env.on_close = [] {};
}

TEST(SyncLaterTest, ARenamedFileIsSyncedBefore) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs(kDir));
  SyncLater later(mem);
  ASSERT_TRUE(ReplaceFile(later, "state/a", "whole"));
  EXPECT_EQ(later.waiting(), 0U);
  EXPECT_EQ(ReadWholeFile(*mem.CrashedCopy(CrashMode::kLoseUnsynced), "state/a").value(), "whole");
}

struct Bench {
  explicit Bench(Env& base) : later(base), manifest(Manifest::Open(base, kDir).value()) {
    DiskQueue::Options options;
    options.name = "queue";
    options.segment_size = 1;  // each block begins one
    queue = DiskQueue::Open(later, manifest, options).value();
  }
  SyncLater later;
  Manifest manifest;
  std::unique_ptr<DiskQueue> queue;
};

std::vector<std::string> Left(Env& env) { return Bench(env).queue->Pop(100).value(); }

TEST(CheckpointerTest, WhatIsSuperfluousIsRemovedElsewhere) {
  MemEnv mem;
  Bench bench(mem);
  DeferredExecutor executor;
  Checkpointer checkpointer(bench.manifest, &bench.later, executor);
  Checkpointable* const all[] = {bench.queue.get()};
  for (const char* record : {"a", "b"}) {
    ASSERT_TRUE(bench.queue->Append(record));
    checkpointer.Start(all, {});
    executor.RunAll();
    ASSERT_TRUE(checkpointer.Finish());
  }
  ASSERT_EQ(bench.queue->Pop(1).value().size(), 1U);
  ASSERT_EQ(bench.queue->Pop(1).value().size(), 1U);  // the first segment is left behind
  checkpointer.Start(all, {});
  executor.RunAll();
  ASSERT_TRUE(checkpointer.Finish());
  const size_t told = mem.List(kDir).value().size();
  executor.RunAll();
  EXPECT_LT(mem.List(kDir).value().size(), told);
}

// A structure whose flush finishes when the test says so, as the archive's does when its threads finish.
struct Slow : Checkpointable {
  Status Flush() override { return {}; }
  void StartFlush(std::function<void(Status)> done) override { waiting = std::move(done); }
  ManifestSection Describe() const override { return {.name = "slow", .kind = "slow", .files = {}, .numbers = {}}; }
  Status Committed() override {
    ++committed;
    return {};
  }
  std::function<void(Status)> waiting;
  int committed = 0;
};

TEST(CheckpointerTest, TheStateIsThatOfTheStart) {
  MemEnv mem;
  Bench bench(mem);
  DeferredExecutor executor;
  Checkpointer checkpointer(bench.manifest, &bench.later, executor);
  ASSERT_TRUE(bench.queue->Append("before"));
  Checkpointable* const all[] = {bench.queue.get()};
  int written = 0;
  checkpointer.Start(all, [&] { ++written; });
  ASSERT_TRUE(bench.queue->Append("after"));
  ASSERT_EQ(bench.queue->Pop(1).value(), std::vector<std::string>{"before"});
  EXPECT_TRUE(checkpointer.active());
  EXPECT_FALSE(checkpointer.written());
  EXPECT_EQ(Left(*mem.CrashedCopy(CrashMode::kKeepAll)), std::vector<std::string>());
  while (executor.waiting() > 0) executor.Run();
  EXPECT_EQ(written, 1);
  EXPECT_EQ(Left(*mem.CrashedCopy(CrashMode::kLoseUnsynced)), std::vector<std::string>{"before"});
  ASSERT_TRUE(checkpointer.Finish());
  EXPECT_FALSE(checkpointer.active());
  EXPECT_EQ(bench.manifest.sequence(), 1U);
  EXPECT_EQ(Left(*mem.CrashedCopy(CrashMode::kLoseUnsynced)), std::vector<std::string>{"before"});
}

TEST(CheckpointerTest, TheManifestWaitsForTheSlowest) {
  MemEnv mem;
  Bench bench(mem);
  DeferredExecutor executor;
  Checkpointer checkpointer(bench.manifest, &bench.later, executor);
  Slow slow;
  Checkpointable* const all[] = {bench.queue.get(), &slow};
  checkpointer.Start(all, {});
  executor.RunAll();
  EXPECT_FALSE(checkpointer.written());
  slow.waiting({});
  executor.RunAll();
  EXPECT_TRUE(checkpointer.written());
  EXPECT_EQ(slow.committed, 0);
  ASSERT_TRUE(checkpointer.Finish());
  EXPECT_EQ(slow.committed, 1);

  // One that fails late leaves the last state, and the next attempt is a new one.
  checkpointer.Start(all, {});
  slow.waiting(Fail(ErrorCode::kNoSpace, "full"));
  executor.RunAll();
  const Status failed = checkpointer.Finish();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(bench.manifest.sequence(), 1U);
  checkpointer.Start(all, {});
  slow.waiting({});
  executor.RunAll();
  EXPECT_TRUE(checkpointer.Finish());
  EXPECT_EQ(bench.manifest.sequence(), 2U);
}

TEST(CheckpointerTest, ItWorksWithThreads) {
  MemEnv mem;
  Bench bench(mem);
  WorkerPool pool(1);
  Checkpointer checkpointer(bench.manifest, &bench.later, pool);
  Slow slow;
  Checkpointable* const all[] = {bench.queue.get(), &slow};
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(bench.queue->Append(std::to_string(i)));
    checkpointer.Start(all, {});
    std::thread other([&] { slow.waiting({}); });
    ASSERT_TRUE(bench.queue->Append("x"));
    ASSERT_TRUE(checkpointer.Finish());
    other.join();
    ASSERT_EQ(bench.queue->Pop(2).value().size(), 2U);
  }
  EXPECT_EQ(bench.manifest.sequence(), 50U);
}

// A structure that is copied in three parts, each written elsewhere.
struct Large : Checkpointable {
  Status Flush() override { return {}; }
  void StartFlush(std::function<void(Status)> when_done) override {
    done = std::move(when_done);
    parts = 3;
    written = 0;
  }
  bool ContinueFlush(Executor& writer) override {
    --parts;
    writer.Submit([this, last = parts == 0] {
      ++written;
      if (last) std::exchange(done, nullptr)(status);
    });
    return parts > 0;
  }
  ManifestSection Describe() const override {
    return {.name = "large", .kind = "large", .files = {}, .numbers = {{"written", written}}};
  }
  Status Committed() override { return {}; }

  std::function<void(Status)> done;
  Status status;
  int parts = 0;
  uint64_t written = 0;
};

TEST(CheckpointerTest, TheManifestWaitsForWhatIsCopiedInParts) {
  MemEnv mem;
  Bench bench(mem);
  DeferredExecutor executor;
  Checkpointer checkpointer(bench.manifest, &bench.later, executor);
  Large large;
  Checkpointable* const all[] = {&large, bench.queue.get()};
  ASSERT_TRUE(bench.queue->Append("before"));
  checkpointer.Start(all, {});
  executor.RunAll();
  EXPECT_FALSE(checkpointer.written());
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kMore);
  ASSERT_TRUE(bench.queue->Append("after"));
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kMore);
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kOver);
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kOver);
  EXPECT_EQ(large.written, 0U);
  executor.RunAll();
  EXPECT_TRUE(checkpointer.written());
  ASSERT_TRUE(checkpointer.Finish());
  EXPECT_EQ(bench.manifest.sections().at(0).numbers.at("written"), 3U);
  EXPECT_EQ(Left(*mem.CrashedCopy(CrashMode::kLoseUnsynced)), std::vector<std::string>{"before"});

  large.status = Fail(ErrorCode::kNoSpace, "full");
  checkpointer.Start(all, {});
  while (checkpointer.Continue() != Checkpointer::Step::kOver) {
  }
  executor.RunAll();
  EXPECT_FALSE(checkpointer.Finish());
  EXPECT_EQ(bench.manifest.sequence(), 1U);
}

TEST(CheckpointerTest, CopiesDoNotPileUp) {
  MemEnv mem;
  Bench bench(mem);
  DeferredExecutor executor;
  Checkpointer checkpointer(bench.manifest, &bench.later, executor);
  struct InTwenty : Large {
    bool ContinueFlush(Executor& writer) override {
      const bool last = ++calls == 20;
      writer.Submit([this, last] {
        if (last) std::exchange(done, nullptr)({});
      });
      return !last;
    }
    int calls = 0;
  } bounded;
  Checkpointable* const all[] = {&bounded};
  checkpointer.Start(all, {});
  for (size_t i = 0; i < Checkpointer::kMostPieces; ++i) EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kMore);
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kLater);
  EXPECT_EQ(bounded.calls, static_cast<int>(Checkpointer::kMostPieces));
  executor.Run();
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kMore);
  EXPECT_EQ(checkpointer.Continue(), Checkpointer::Step::kLater);
  while (checkpointer.Continue() != Checkpointer::Step::kOver) executor.RunAll();
  executor.RunAll();
  ASSERT_TRUE(checkpointer.Finish());
}

TEST(CheckpointerTest, PartsAreCopiedByWhoWaits) {
  MemEnv mem;
  Bench bench(mem);
  WorkerPool pool(1);
  Checkpointer checkpointer(bench.manifest, &bench.later, pool);
  Large large;
  Checkpointable* const all[] = {bench.queue.get(), &large};
  for (uint64_t i = 1; i <= 50; ++i) {
    checkpointer.Start(all, {});
    if (i % 2 == 0) checkpointer.Continue();
    ASSERT_TRUE(checkpointer.Finish());
    ASSERT_EQ(bench.manifest.sequence(), i);
    ASSERT_EQ(large.written, 3U);
  }
}

// The manifest's rename happened, the sync of its directory did not: it is unknown which state is on disk, and the
// error code says so.
TEST(CheckpointerTest, AnUnknownStateIsAnIoError) {
  MemEnv mem;
  uint64_t doubtful = 0;
  for (uint64_t at = 1;; ++at) {
    MemEnv fresh;
    FaultyEnv faulty(fresh);
    Bench bench(faulty);
    InlineExecutor executor;
    Checkpointer checkpointer(bench.manifest, &bench.later, executor);
    ASSERT_TRUE(bench.queue->Append("a"));
    faulty.SetPlan({.fail_at = faulty.operations() + at});
    Checkpointable* const all[] = {bench.queue.get()};
    const Status status = checkpointer.Commit(all);
    if (status) break;
    if (status.error().message().find("may stand") != std::string::npos) ++doubtful;
  }
  EXPECT_EQ(doubtful, 1U);
}

}  // namespace
}  // namespace portolan
