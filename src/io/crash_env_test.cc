// What a crash leaves in MemEnv, and what FaultyEnv breaks: the base of every durability test.

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

class MemEnvCrashTest : public testing::Test {
 protected:
  std::unique_ptr<File> Make(const std::string& path, std::string_view bytes) {
    auto file = env_.Open(path, OpenMode::kCreate).value();
    EXPECT_TRUE(file->Append(bytes));
    return file;
  }
  std::string Contents(const std::string& path) { return ReadWholeFile(env_, path).value(); }

  MemEnv env_;
};

TEST_F(MemEnvCrashTest, UnsyncedBytesAreLost) {
  auto file = Make("f", "safe");
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(env_.SyncDir("."));
  ASSERT_TRUE(file->Append(" lost"));
  env_.Crash(CrashMode::kLoseUnsynced);
  EXPECT_EQ(Contents("f"), "safe");
}

TEST_F(MemEnvCrashTest, NameWithoutDirectorySyncIsLost) {
  ASSERT_TRUE(Make("f", "data")->Sync());
  env_.Crash(CrashMode::kLoseUnsynced);
  EXPECT_FALSE(env_.Exists("f"));
}

TEST_F(MemEnvCrashTest, UnsyncedRenameIsUndone) {
  ASSERT_TRUE(ReplaceFile(env_, "f", "old"));
  ASSERT_TRUE(Make("g", "new")->Sync());
  ASSERT_TRUE(env_.Rename("g", "f"));
  EXPECT_EQ(Contents("f"), "new");
  env_.Crash(CrashMode::kLoseUnsynced);
  EXPECT_EQ(Contents("f"), "old");
}

TEST_F(MemEnvCrashTest, UnsyncedRemovalComesBack) {
  ASSERT_TRUE(ReplaceFile(env_, "f", "old"));
  ASSERT_TRUE(env_.Remove("f"));
  env_.Crash(CrashMode::kLoseUnsynced);
  EXPECT_EQ(Contents("f"), "old");
}

TEST_F(MemEnvCrashTest, ProcessDeathKeepsEverything) {
  Make("f", "data");
  env_.Crash(CrashMode::kKeepAll);
  EXPECT_EQ(Contents("f"), "data");
}

TEST_F(MemEnvCrashTest, TornTailsVaryAndNeverTouchSyncedBytes) {
  auto file = Make("f", "0123456789");
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(env_.SyncDir("."));
  ASSERT_TRUE(file->Append("abcdefghij"));
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto copy = env_.CrashedCopy(CrashMode::kTorn, seed);
    const std::string bytes = ReadWholeFile(*copy, "f").value();
    ASSERT_EQ(bytes.substr(0, 10), "0123456789");
    ASSERT_LE(bytes.size(), 20U);
    outcomes.insert(bytes);
  }
  EXPECT_GT(outcomes.size(), 20U);
  EXPECT_EQ(Contents("f"), "0123456789abcdefghij") << "a copy leaves the original alone";
}

TEST_F(MemEnvCrashTest, UnsyncedTruncationNeverCutsDeeper) {
  auto file = Make("f", "0123456789");
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(env_.SyncDir("."));
  ASSERT_TRUE(file->Truncate(4));
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::string bytes = ReadWholeFile(*env_.CrashedCopy(CrashMode::kTorn, seed), "f").value();
    ASSERT_GE(bytes.size(), 4U);
    ASSERT_EQ(bytes.substr(0, 4), "0123");
  }
}

TEST_F(MemEnvCrashTest, OldHandlesAreDead) {
  auto file = Make("f", "x");
  auto lock = env_.Lock("LOCK").value();
  env_.Crash(CrashMode::kKeepAll);
  EXPECT_FALSE(file->Append("y"));
  EXPECT_FALSE(file->Sync());
  EXPECT_EQ(Contents("f"), "x");
  auto again = env_.Lock("LOCK");
  EXPECT_TRUE(again) << "a dead process holds no lock";
  lock.reset();
  EXPECT_FALSE(env_.Lock("LOCK")) << "and releasing its lock late frees nothing";
}

// The one primitive that the manifest stands on, tried at every operation and in every mode.
TEST(ReplaceFileTest, IsOldOrNewWholeWhereverThePowerIsCut) {
  for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
    uint64_t last = 0;
    for (uint64_t cut = 1;; ++cut) {
      MemEnv mem;
      ASSERT_TRUE(ReplaceFile(mem, "m", "old contents"));
      FaultyEnv faulty(mem, {.power_cut_at = cut});
      const Status status = ReplaceFile(faulty, "m", "new contents");
      if (!faulty.power_is_cut()) {
        ASSERT_TRUE(status);
        last = cut;
        break;
      }
      ASSERT_FALSE(status);
      for (uint64_t seed = 0; seed < 20; ++seed) {
        auto copy = mem.CrashedCopy(mode, seed);
        const std::string bytes = ReadWholeFile(*copy, "m").value();
        ASSERT_TRUE(bytes == "old contents" || bytes == "new contents") << "cut at " << cut << ": " << bytes;
      }
    }
    EXPECT_EQ(last, 6U) << "open, append, sync, rename, directory sync: five places to cut";
  }
}

TEST(FaultyEnvTest, FailsJustTheOne) {
  MemEnv mem;
  FaultyEnv env(mem, {.fail_at = 2});
  auto file = env.Open("f", OpenMode::kCreate).value();
  const Status failed = file->Append("lost");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kIo);
  EXPECT_TRUE(file->Append("kept"));
  EXPECT_EQ(ReadWholeFile(env, "f").value(), "kept");
  EXPECT_EQ(env.operations(), 3U);
}

TEST(FaultyEnvTest, ShortWriteLeavesHalf) {
  MemEnv mem;
  FaultyEnv env(mem, {.short_write_at = 2});
  auto file = env.Open("f", OpenMode::kCreate).value();
  EXPECT_FALSE(file->Append("12345678"));
  EXPECT_EQ(ReadWholeFile(env, "f").value(), "1234");
}

TEST(FaultyEnvTest, PowerCutEndsEverything) {
  MemEnv mem;
  FaultyEnv env(mem, {.power_cut_at = 3});
  auto file = env.Open("f", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append("12"));
  EXPECT_FALSE(file->Append("3456"));
  EXPECT_TRUE(env.power_is_cut());
  char byte = 0;
  EXPECT_FALSE(file->ReadAt(0, &byte, 1));
  EXPECT_FALSE(env.Open("f", OpenMode::kRead));
  EXPECT_FALSE(env.Rename("f", "g"));
  EXPECT_EQ(ReadWholeFile(mem, "f").value(), "1234");
}

TEST(FaultyEnvTest, SpaceRunsOutAndComesBack) {
  MemEnv mem;
  FaultyEnv env(mem, {.space = 10});
  auto file = env.Open("f", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append("12345678"));
  const Status full = file->Append("abcd");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(file->Size(), 10U) << "what fits is written";
  env.AddSpace(100);
  EXPECT_TRUE(file->Append("abcd"));
  EXPECT_EQ(env.FreeSpace(".").value(), 96U);
}

TEST(FaultyEnvTest, SpaceMayBeOfOneDirectoryOnly) {
  MemEnv mem;
  FaultyEnv env(mem, {.space = 3, .space_below = "full"});
  ASSERT_TRUE(env.CreateDirs("full"));
  EXPECT_TRUE(env.Open("elsewhere", OpenMode::kCreate).value()->Append("12345678"));
  EXPECT_GT(env.FreeSpace(".").value(), 3U);
  EXPECT_EQ(env.FreeSpace("full").value(), 3U);
  EXPECT_FALSE(env.Open("full/f", OpenMode::kCreate).value()->Append("12345678"));
}

TEST(FaultyEnvTest, ASyncThatFindsNoRoomDropsTheBytesAndSaysSoOnce) {
  MemEnv mem;
  FaultyEnv env(mem, {.full_at = 3});
  auto file = env.Open("f", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append("12345678"));
  EXPECT_EQ(file->Sync().error().code(), ErrorCode::kNoSpace);
  EXPECT_TRUE(file->Sync());
  ASSERT_TRUE(env.SyncDir("."));
  mem.Crash(CrashMode::kLoseUnsynced);
  EXPECT_EQ(ReadWholeFile(mem, "f").value(), "");
}

TEST(SyncOnceTest, NoErrorOfASyncIsAFullDisk) {
  MemEnv mem;
  FaultyEnv env(mem, {.full_at = 2});
  auto file = env.Open("f", OpenMode::kCreate).value();
  EXPECT_EQ(SyncOnce(*file).error().code(), ErrorCode::kIo);
  env.SetPlan({.full_at = env.operations() + 1});
  EXPECT_EQ(SyncDirOnce(env, ".").error().code(), ErrorCode::kIo);
  env.SetPlan({});
  EXPECT_TRUE(SyncOnce(*file));
  EXPECT_TRUE(SyncDirOnce(env, "."));
}

}  // namespace
}  // namespace portolan
