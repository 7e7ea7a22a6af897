// Power cut at every single operation that changes the disk, in a run that uses everything: two DRUMs (a set, and a map
// with large values that spills), a queue between them, and the manifest. What survives must be exactly the state of
// the last committed checkpoint, or of the one that was being committed. Twice: with commits that block, and with
// commits in three steps (checkpointer.h) between which the run goes on.

#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "disk/checkpointer.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "disk/sync_later.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "store";

struct Lines : DrumSink {
  std::vector<std::string> lines;
  Status OnAnswer(const DrumAnswer& answer) override {
    lines.push_back(std::string(answer.aux) + (answer.unique ? "+" : "-") + std::string(answer.value));
    return {};
  }
};

DrumOptions SetOptions() {
  DrumOptions options;
  options.name = "set";
  options.memory = DrumMemoryPlan::kMinMemory;
  options.only_op = DrumOp::kCheckUpdate;
  options.emit_duplicates = false;
  return options;
}

DrumOptions MapOptions() {
  DrumOptions options;
  options.name = "map";
  options.value_size = 400;  // few rows fill the memory
  options.memory = 1 << 20;
  options.bucket_bits = 5;
  return options;
}

enum class Form : uint8_t { kBlocking, kInSteps };

struct Store {
  Store(Env& base, Manifest opened) : later(base), manifest(std::move(opened)) {}

  static Result<std::unique_ptr<Store>> Open(Env& base, Form form = Form::kBlocking) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(base, kDir));
    auto store = std::make_unique<Store>(base, std::move(manifest));
    store->form = form;
    Env& env = form == Form::kInSteps ? store->later : base;
    ASSIGN_OR_RETURN(store->set, Drum::Open(env, store->manifest, store->executor, SetOptions()));
    ASSIGN_OR_RETURN(store->map, Drum::Open(env, store->manifest, store->executor, MapOptions()));
    DiskQueue::Options options;
    options.name = "queue";
    options.block_size = 256;
    options.segment_size = 1024;
    ASSIGN_OR_RETURN(store->queue, DiskQueue::Open(env, store->manifest, options));
    return store;
  }

  ~Store() { background.RunAll(); }

  std::array<Checkpointable*, 3> All() const { return {set.get(), map.get(), queue.get()}; }
  Status Commit() {
    if (form == Form::kBlocking) return manifest.Commit(All());
    if (checkpointer.active()) RETURN_IF_ERROR(Finish());
    checkpointer.Start(All(), {});
    return Finish();
  }
  Status Finish() {
    background.RunAll();
    return checkpointer.Finish();
  }

  Form form = Form::kBlocking;
  SyncLater later;
  Manifest manifest;
  InlineExecutor executor;
  DeferredExecutor background;
  Checkpointer checkpointer{manifest, &later, background};
  std::unique_ptr<Drum> set;
  std::unique_ptr<Drum> map;
  std::unique_ptr<DiskQueue> queue;
};

// The run. Stops at the first error; `committed` is the last sequence that Commit acknowledged.
Status Script(Store& store, uint64_t& committed, uint64_t last_commit) {
  Rng rng(99);
  const std::string value(400, 'v');
  for (int step = 0; step < 1500; ++step) {
    const std::string aux = "http://h" + std::to_string(rng.Below(9)) + "/" + std::to_string(rng.Below(300));
    RETURN_IF_ERROR(store.set->Add({.key = Hash64(aux), .aux = aux}));
    const auto op = static_cast<DrumOp>(rng.Below(3));
    const Status added = store.map->Add({.op = op, .key = Mix64(rng.Below(500)), .value = value, .aux = aux});
    if (!added && added.error().code() != ErrorCode::kBusy) return added;
    if (step % 97 == 50) RETURN_IF_ERROR(store.set->StartRound());
    if (step == 100 || step == 1300) RETURN_IF_ERROR(store.map->StartRound());
    if (step % 41 == 7) {
      Lines unique;
      RETURN_IF_ERROR(store.set->TakeResults(unique, 30));
      for (const std::string& line : unique.lines) RETURN_IF_ERROR(store.queue->Append(line));
    }
    if (step == 1200) {
      Lines answers;
      RETURN_IF_ERROR(store.map->TakeResults(answers, 60));
      RETURN_IF_ERROR(store.map->TakeResults(answers, ~0ULL));
    }
    if (step % 60 == 20) RETURN_IF_ERROR(store.queue->Pop(5));
    if (step % 190 == 120 && store.form == Form::kBlocking) {
      RETURN_IF_ERROR(store.Commit());
      committed = store.manifest.sequence();
      if (committed == last_commit) return {};
    }
    if (store.form == Form::kBlocking) continue;
    // The same state, with the rest of the run between the steps of writing it down.
    if (step % 190 == 120) store.checkpointer.Start(store.All(), {});
    if ((step % 190 == 141 || step % 190 == 159) && store.background.waiting() > 0) store.background.Run();
    if (step % 190 == 174) {
      RETURN_IF_ERROR(store.Finish());
      committed = store.manifest.sequence();
      if (committed == last_commit) return {};
    }
  }
  return {};
}

// Everything a user of the store can find out about it.
std::vector<std::string> Observe(Env& env) {
  auto opened = Store::Open(env);
  if (!opened) return {"error: " + opened.error().ToString()};
  Store& store = **opened;
  Lines lines;
  if (Status status = store.set->Drain(lines); !status) return {"error: " + status.error().ToString()};
  lines.lines.push_back("keys of the set: " + std::to_string(store.set->keys()));
  if (Status status = store.map->Drain(lines); !status) return {"error: " + status.error().ToString()};
  lines.lines.push_back("keys of the map: " + std::to_string(store.map->keys()));
  auto queued = store.queue->Pop(1'000'000);
  if (!queued) return {"error: " + queued.error().ToString()};
  for (const std::string& record : *queued) lines.lines.push_back("queued " + record);
  // And it continues from there.
  if (Status status = store.Commit(); !status) return {"error: " + status.error().ToString()};
  return lines.lines;
}

class DiskCrashTest : public testing::TestWithParam<Form> {
 protected:
  // What is there after each commit of an undisturbed run, the empty state first.
  void SetUp() override {
    MemEnv empty;
    expected_.push_back(Observe(empty));
    for (uint64_t commit = 1; commit <= kCommits; ++commit) {
      MemEnv env;
      uint64_t committed = 0;
      ASSERT_TRUE(Script(*Store::Open(env).value(), committed, commit));
      ASSERT_EQ(committed, commit);
      expected_.push_back(Observe(env));
      ASSERT_FALSE(expected_.back().front().starts_with("error")) << expected_.back().front();
      ASSERT_NE(expected_.back(), expected_[commit - 1]) << "commit " << commit << " changes nothing";
    }
  }

  static constexpr uint64_t kCommits = 7;
  std::vector<std::vector<std::string>> expected_;
};

TEST_P(DiskCrashTest, EveryPowerCutLeavesACommittedState) {
  uint64_t spilled = 0;
  uint64_t cuts = 0;
  for (uint64_t cut = 1;; ++cut) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    uint64_t committed = 0;
    {
      auto store = Store::Open(env, GetParam());
      if (store) {
        static_cast<void>(Script(**store, committed, kCommits));
        spilled = std::max(spilled, (*store)->map->spilled_rows());
      }
    }
    if (!env.power_is_cut()) break;
    ++cuts;
    const std::pair<CrashMode, uint64_t> outcomes[] = {{CrashMode::kLoseUnsynced, 0},
                                                       {CrashMode::kKeepAll, 0},
                                                       {CrashMode::kTorn, cut},
                                                       {CrashMode::kTorn, cut + 1'000'000}};
    for (const auto& [mode, seed] : outcomes) {
      auto survived = mem.CrashedCopy(mode, seed);
      const uint64_t sequence = Manifest::Open(*survived, kDir).value().sequence();
      ASSERT_TRUE(sequence == committed || sequence == committed + 1)
          << "cut at " << cut << ": found " << sequence << ", acknowledged " << committed;
      ASSERT_EQ(Observe(*survived), expected_[sequence]) << "cut at " << cut << " mode " << static_cast<int>(mode);
    }
  }
  EXPECT_GT(cuts, 500U);
  EXPECT_GT(spilled, 0U) << "the run must also cut power within a spill";
  std::printf("power cut at each of %lu operations, four outcomes each\n", static_cast<unsigned long>(cuts));
}

// A write that fails once is reported, and nothing is lost: the caller continues or tries again.
TEST_P(DiskCrashTest, EverySingleFailureLeavesAUsableStore) {
  for (uint64_t at = 1;; at += 3) {
    MemEnv mem;
    FaultyEnv env(mem, {.short_write_at = at});
    auto opened = Store::Open(env, GetParam());
    if (!opened) continue;
    uint64_t committed = 0;
    const Status status = Script(**opened, committed, kCommits);
    if (status) {
      // Never reached, or a block of the queue that was written at the second attempt: nothing may be missing.
      opened->reset();
      ASSERT_EQ(Observe(mem), expected_[kCommits]) << "at " << at;
      if (env.operations() < at) break;
      continue;
    }
    // The same store, not reopened, can still commit and answer.
    Lines lines;
    const Status drained = (*opened)->set->Drain(lines);
    if (!drained) {
      ASSERT_TRUE((*opened)->set->Drain(lines)) << "at " << at << ": " << drained.error().ToString();
    }
    const Status again = (*opened)->Commit();
    ASSERT_TRUE(again) << "at " << at << ": " << status.error().ToString() << " then " << again.error().ToString();
    opened->reset();
    ASSERT_FALSE(Observe(mem).front().starts_with("error")) << "at " << at << ": " << Observe(mem).front();
  }
}

TEST_P(DiskCrashTest, FullDiskIsSaidAndWorkGoesOnWithSpace) {
  for (const uint64_t space : {2'000U, 10'000U, 40'000U, 90'000U}) {
    MemEnv mem;
    FaultyEnv env(mem, {.space = space});
    auto store = Store::Open(env, GetParam()).value();
    uint64_t committed = 0;
    const Status status = Script(*store, committed, kCommits);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace) << status.error().ToString();
    // What is committed is still there.
    ASSERT_EQ(Observe(*mem.CrashedCopy(CrashMode::kLoseUnsynced)), expected_[committed]);
    env.AddSpace(10'000'000);
    Lines lines;
    Status drained = store->set->Drain(lines);
    if (!drained) drained = store->set->Drain(lines);  // the error of the round that failed came out once
    ASSERT_TRUE(drained) << drained.error().ToString();
    ASSERT_TRUE(store->Commit());
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DiskCrashTest, testing::Values(Form::kBlocking, Form::kInSteps), [](const auto& form) {
  return std::string(form.param == Form::kBlocking ? "Blocking" : "InSteps");
});

}  // namespace
}  // namespace portolan
