#include "disk/remove_later.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "disk/drum.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Nobody : DrumSink {
  Status OnAnswer(const DrumAnswer&) override { return {}; }
};

void Touch(Env& env, const std::string& path) { ASSERT_TRUE(env.Open(path, OpenMode::kCreate)); }

TEST(RemoveLaterTest, FilesGoWhenTheJobRuns) {
  MemEnv env;
  DeferredExecutor executor;
  ASSERT_TRUE(env.CreateDirs("d"));
  for (const char* name : {"a", "b", "c"}) Touch(env, std::string("d/") + name);
  RemoveLater removals(env, executor);
  removals.Remove({"d/a", "d/b"});
  removals.Remove({"d/missing"});
  EXPECT_THAT(env.List("d").value(), ElementsAre("a", "b", "c"));
  executor.RunAll();
  EXPECT_THAT(env.List("d").value(), ElementsAre("c"));
  EXPECT_THAT(removals.TakeFailed(), ElementsAre("d/missing"));
  EXPECT_THAT(removals.TakeFailed(), IsEmpty());
}

TEST(RemoveLaterTest, AJobThatComesTooLateTouchesNothing) {
  DeferredExecutor executor;
  {
    MemEnv env;
    ASSERT_TRUE(env.CreateDirs("d"));
    Touch(env, "d/a");
    {
      RemoveLater removals(env, executor);
      removals.Remove({"d/a"});
    }
    EXPECT_FALSE(env.Exists("d/a")) << "what waits goes with its owner";
    Touch(env, "d/a");  // the same name, of a store that was opened again
    executor.Run();
    EXPECT_TRUE(env.Exists("d/a"));
    RemoveLater removals(env, executor);
    removals.Remove({"d/a"});
  }
  executor.RunAll();  // the Env is gone
}

TEST(RemoveLaterTest, ManyThreadsRemoveEachFileOnce) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  WorkerPool pool(3);
  RemoveLater removals(env, pool);
  for (int i = 0; i < 500; ++i) {
    const std::string path = "d/" + std::to_string(i);
    Touch(env, path);
    removals.Remove({path});
  }
  {
    RemoveLater more(env, pool);
    Touch(env, "d/last");
    more.Remove({"d/last"});
  }
  EXPECT_FALSE(env.Exists("d/last"));
}

// ---- a DRUM's files

class DrumRemovalTest : public testing::Test {
 protected:
  DrumRemovalTest() : manifest_(Manifest::Open(faulty_, "s").value()) {
    DrumOptions options;
    options.name = "seen";
    options.memory = DrumMemoryPlan::kMinMemory;
    options.only_op = DrumOp::kCheckUpdate;
    drum_ = Drum::Open(faulty_, manifest_, executor_, options).value();
  }
  ~DrumRemovalTest() override { executor_.RunAll(); }
  // Fills two runs and memory, merges, and takes all answers but the last.
  void Round(uint64_t begin, uint64_t count) {
    for (uint64_t i = begin; i < begin + count; ++i) {
      ASSERT_TRUE(drum_->Add({.key = Mix64(i), .aux = "x"}));
    }
    ASSERT_TRUE(drum_->StartRound());
    executor_.RunAll();
    ASSERT_EQ(drum_->TakeResults(nobody_, count - 1).value(), count - 1);
  }
  size_t Files() { return mem_.List("s").value().size(); }

  MemEnv mem_;
  FaultyEnv faulty_{mem_};
  DeferredExecutor executor_;
  Manifest manifest_;
  std::unique_ptr<Drum> drum_;
  Nobody nobody_;
};

TEST_F(DrumRemovalTest, WhoTakesTheLastAnswerRemovesNothing) {
  Round(0, 10);
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  executor_.RunAll();
  EXPECT_THAT(mem_.List("s").value(), ElementsAre("seen-000003.z"));
  Round(5, 10);
  const auto before = mem_.List("s").value();
  EXPECT_EQ(before.size(), 4U) << "old and new Z, tuples, answers";
  const uint64_t operations = faulty_.operations();
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  EXPECT_EQ(faulty_.operations(), operations) << "nothing on disk is changed by its owner";
  EXPECT_EQ(mem_.List("s").value(), before);
  EXPECT_EQ(executor_.waiting(), 1U);
  executor_.RunAll();
  EXPECT_THAT(mem_.List("s").value(), ElementsAre("seen-000005.z"));
  EXPECT_EQ(drum_->keys(), 15U);
}

TEST_F(DrumRemovalTest, RunsBeginBeforeOldFilesAreGone) {
  Round(0, 10);
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  ASSERT_EQ(executor_.waiting(), 1U);
  ASSERT_TRUE(drum_->Add({.key = Mix64(3), .aux = "x"}));
  ASSERT_TRUE(drum_->StartRound().value());
  executor_.Run(1);  // the round, before the removal
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  EXPECT_EQ(drum_->keys(), 10U);
  executor_.RunAll();
  EXPECT_EQ(Files(), 1U);
}

TEST_F(DrumRemovalTest, WhatCouldNotBeRemovedGoesWithTheNextCommit) {
  Round(0, 10);
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  faulty_.SetPlan({.fail_at = faulty_.operations() + 1});
  executor_.RunAll();
  EXPECT_EQ(Files(), 2U) << "Z, and one that stayed";
  Checkpointable* const all[] = {drum_.get()};
  ASSERT_TRUE(manifest_.Commit(all));
  EXPECT_EQ(Files(), 3U) << "Z, the open batch's log and the manifest";
}

TEST_F(DrumRemovalTest, NothingOfItStaysBehindADrumThatGoes) {
  Round(0, 10);
  ASSERT_EQ(drum_->TakeResults(nobody_, 10).value(), 1U);
  ASSERT_EQ(executor_.waiting(), 1U);
  drum_.reset();
  EXPECT_THAT(mem_.List("s").value(), ElementsAre("seen-000003.z"));
}

}  // namespace
}  // namespace portolan
