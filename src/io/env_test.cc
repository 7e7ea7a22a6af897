// What every Env promises, run on the real file system (buffered and direct) and on the one in memory.

#include "io/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "io/counting_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Kind : uint8_t { kPosix, kPosixDirect, kMem };

class EnvTest : public testing::TestWithParam<Kind> {
 protected:
  EnvTest() {
    if (GetParam() == Kind::kMem) {
      env_ = &mem_;
      dir_ = "crawl";
      EXPECT_TRUE(env_->CreateDirs(dir_));
    } else {
      std::string pattern = std::filesystem::temp_directory_path() / "portolan-env-XXXXXX";
      dir_ = mkdtemp(pattern.data());
      env_ = &Env::Posix();
    }
    options_.direct = GetParam() == Kind::kPosixDirect;
  }
  ~EnvTest() override {
    if (GetParam() != Kind::kMem) std::filesystem::remove_all(dir_);
  }

  std::string Path(std::string_view name) const { return JoinPath(dir_, name); }
  std::string Contents(std::string_view name) { return ReadWholeFile(*env_, Path(name)).value(); }

  MemEnv mem_;
  Env* env_;
  std::string dir_;
  FileOptions options_;
};

TEST_P(EnvTest, AppendsAndReadsAtAnyPlace) {
  auto file = env_->Open(Path("f"), OpenMode::kCreate, options_).value();
  std::string expected;
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    const std::string piece(rng.Below(9000), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->Append(piece));
    expected += piece;
    ASSERT_EQ(file->Size(), expected.size());
    const uint64_t at = rng.Below(expected.size() + 10);
    std::string got(5000, '\0');
    got.resize(file->ReadAt(at, got.data(), got.size()).value());
    ASSERT_EQ(got, at < expected.size() ? expected.substr(at, 5000) : "") << "at " << at;
  }
  ASSERT_TRUE(file->Sync());
  file.reset();
  EXPECT_EQ(Contents("f"), expected);
}

TEST_P(EnvTest, AppendModeGoesOnAtTheEnd) {
  for (const char* piece : {"one ", "two ", "three"}) {
    auto file = env_->Open(Path("f"), OpenMode::kAppend, options_).value();
    ASSERT_TRUE(file->Append(piece));
    ASSERT_TRUE(file->Sync());
  }
  EXPECT_EQ(Contents("f"), "one two three");
}

TEST_P(EnvTest, CreateModeCutsToNothing) {
  ASSERT_TRUE(ReplaceFile(*env_, Path("f"), "old contents"));
  {
    auto file = env_->Open(Path("f"), OpenMode::kCreate, options_).value();
  }
  EXPECT_EQ(Contents("f"), "");
}

TEST_P(EnvTest, TruncateThenAppend) {
  auto file = env_->Open(Path("f"), OpenMode::kCreate, options_).value();
  ASSERT_TRUE(file->Append(std::string(10'000, 'a')));
  ASSERT_TRUE(file->Truncate(5'000));
  ASSERT_TRUE(file->Append("b"));
  ASSERT_TRUE(file->Sync());
  EXPECT_EQ(file->Size(), 5'001U);
  file.reset();
  EXPECT_EQ(Contents("f"), std::string(5'000, 'a') + "b");
}

TEST_P(EnvTest, PreallocateKeepsTheSize) {
  auto file = env_->Open(Path("f"), OpenMode::kCreate, options_).value();
  ASSERT_TRUE(file->Preallocate(1 << 20));
  EXPECT_EQ(file->Size(), 0U);
  ASSERT_TRUE(file->Append("x"));
  ASSERT_TRUE(file->Sync());
  file.reset();
  EXPECT_EQ(Contents("f"), "x");
}

TEST_P(EnvTest, MissingFileSaysWhich) {
  const auto file = env_->Open(Path("none"), OpenMode::kRead, options_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(file.error().message(), HasSubstr(Path("none")));
  EXPECT_EQ(env_->Remove(Path("none")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(env_->Rename(Path("none"), Path("x")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(env_->List(Path("none")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(env_->Open(Path("no/dir"), OpenMode::kCreate, options_).error().code(), ErrorCode::kNotFound);
}

TEST_P(EnvTest, ListsSortedNamesOfFilesAndFolders) {
  ASSERT_TRUE(env_->CreateDirs(Path("sub/deeper")));
  ASSERT_TRUE(ReplaceFile(*env_, Path("b"), ""));
  ASSERT_TRUE(ReplaceFile(*env_, Path("a"), ""));
  ASSERT_TRUE(ReplaceFile(*env_, Path("sub/c"), ""));
  EXPECT_THAT(env_->List(dir_).value(), ElementsAre("a", "b", "sub"));
  EXPECT_THAT(env_->List(Path("sub")).value(), ElementsAre("c", "deeper"));
  ASSERT_TRUE(env_->Remove(Path("a")));
  EXPECT_FALSE(env_->Exists(Path("a")));
  EXPECT_TRUE(env_->Exists(Path("sub")));
}

TEST_P(EnvTest, RenameReplaces) {
  ASSERT_TRUE(ReplaceFile(*env_, Path("new"), "new"));
  ASSERT_TRUE(ReplaceFile(*env_, Path("old"), "old"));
  ASSERT_TRUE(env_->Rename(Path("new"), Path("old")));
  EXPECT_EQ(Contents("old"), "new");
  EXPECT_FALSE(env_->Exists(Path("new")));
}

TEST_P(EnvTest, LockIsHeldByOne) {
  auto first = env_->Lock(Path("LOCK"));
  ASSERT_TRUE(first);
  const auto second = env_->Lock(Path("LOCK"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kBusy);
  first->reset();
  EXPECT_TRUE(env_->Lock(Path("LOCK")));
}

TEST_P(EnvTest, ReadExactlyNamesTheShortFile) {
  ASSERT_TRUE(ReplaceFile(*env_, Path("f"), "abc"));
  auto file = env_->Open(Path("f"), OpenMode::kRead).value();
  char buffer[8];
  EXPECT_TRUE(ReadExactly(*file, 1, buffer, 2));
  const auto status = ReadExactly(*file, 1, buffer, 8);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(status.error().message(), HasSubstr("at 1: wanted 8 bytes, the file ends after 2"));
}

TEST_P(EnvTest, CountersSeeTheTraffic) {
  CountingEnv counting(*env_);
  ASSERT_TRUE(ReplaceFile(counting, Path("f"), std::string(1000, 'x')));
  EXPECT_EQ(ReadWholeFile(counting, Path("f")).value().size(), 1000U);
  EXPECT_EQ(counting.counters().bytes_written, 1000U);
  EXPECT_EQ(counting.counters().bytes_read, 1000U);
  EXPECT_EQ(counting.counters().syncs, 1U);
  EXPECT_EQ(counting.traffic(), 2000U);
}

TEST_P(EnvTest, IdentityIsOfTheDirectoryNotOfItsName) {
  ASSERT_TRUE(env_->CreateDirs(Path("one")));
  ASSERT_TRUE(env_->CreateDirs(Path("two")));
  const std::string one = env_->Identity(Path("one")).value();
  for (const char* name : {"one/", "./one", "one/.", ".//one"})
    EXPECT_EQ(env_->Identity(Path(name)).value(), one) << name;
  EXPECT_NE(env_->Identity(Path("two")).value(), one);
  EXPECT_EQ(env_->Identity(Path("none")).error().code(), ErrorCode::kNotFound);
  if (GetParam() == Kind::kMem) return;  // it has no links
  std::filesystem::create_directory_symlink("one", Path("link"));
  EXPECT_EQ(env_->Identity(Path("link")).value(), one);
}

TEST_P(EnvTest, FreeSpaceIsKnown) { EXPECT_GT(env_->FreeSpace(dir_).value(), 0U); }

std::string KindName(const testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::kPosix ? "Posix" : info.param == Kind::kMem ? "Mem" : "PosixDirect";
}
INSTANTIATE_TEST_SUITE_P(All, EnvTest, testing::Values(Kind::kPosix, Kind::kPosixDirect, Kind::kMem), KindName);

TEST(PathTest, JoinAndDirName) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(DirName("a/b/c"), "a/b");
  EXPECT_EQ(DirName("c"), ".");
  EXPECT_EQ(DirName("/c"), "/");
}

TEST(PosixEnvTest, ReadOnlyDirectoryIsNamed) {
  std::string pattern = std::filesystem::temp_directory_path() / "portolan-ro-XXXXXX";
  const std::string dir = mkdtemp(pattern.data());
  ASSERT_EQ(chmod(dir.c_str(), 0555), 0);
  const uid_t self = geteuid();
  if (self == 0) {
    ASSERT_EQ(seteuid(65534), 0);  // root may write everywhere
  }
  const Status status = ReplaceFile(Env::Posix(), JoinPath(dir, "f"), "x");
  ASSERT_EQ(seteuid(self), 0);
  std::filesystem::remove_all(dir);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kReadOnly);
}

TEST(PosixEnvTest, FullDiskIsNoSpace) {
  auto file = Env::Posix().Open("/dev/full", OpenMode::kAppend);
  ASSERT_TRUE(file);
  const Status status = (*file)->Append("x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
  EXPECT_THAT(status.error().message(), HasSubstr("write /dev/full"));
}

}  // namespace
}  // namespace portolan
