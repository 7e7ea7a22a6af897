// Which directories are synced on the real file system. This cannot be asked afterwards, so the system call is replaced
// here, for the whole test program.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "io/env.h"

namespace {

std::atomic<std::vector<ino_t>*> synced_inodes = nullptr;  // null: not recorded
std::atomic<int> refusal = 0;                              // an errno instead of a sync

}  // namespace

// In place of the C library's.
extern "C" int fsync(int fd) {
  struct stat info{};
  if (std::vector<ino_t>* noted = synced_inodes; noted != nullptr && ::fstat(fd, &info) == 0) {
    noted->push_back(info.st_ino);
  }
  if (refusal != 0) {
    errno = refusal;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CreateDirsTest : public testing::Test {
 protected:
  CreateDirsTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "portolan-dirs-XXXXXX";
    dir_ = mkdtemp(pattern.data());
    synced_inodes = &synced_;
  }
  ~CreateDirsTest() override {
    synced_inodes = nullptr;
    refusal = 0;
    std::filesystem::remove_all(dir_);
  }

  ino_t InodeOf(const std::string& name) const {
    struct stat info{};
    EXPECT_EQ(::stat(JoinPath(dir_, name).c_str(), &info), 0) << name;
    return info.st_ino;
  }

  std::string dir_;
  std::vector<ino_t> synced_;
};

TEST_F(CreateDirsTest, TheNameOfEachNewLevelIsMadeDurable) {
  ASSERT_TRUE(Env::Posix().CreateDirs(dir_));
  EXPECT_THAT(synced_, IsEmpty()) << "it was there";
  ASSERT_TRUE(Env::Posix().CreateDirs(dir_ + "/a/b//c/"));
  EXPECT_THAT(synced_, ElementsAre(InodeOf("."), InodeOf("a"), InodeOf("a/b")));
  synced_.clear();
  ASSERT_TRUE(Env::Posix().CreateDirs(dir_ + "/a/b/d"));
  EXPECT_THAT(synced_, ElementsAre(InodeOf("a/b")));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ + "/a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ + "/a/b/d"));
}

TEST_F(CreateDirsTest, AFileSystemThatCannotSyncDirectoriesWillDo) {
  refusal = EINVAL;
  EXPECT_TRUE(Env::Posix().CreateDirs(dir_ + "/a"));
  refusal = ENOSPC;
  EXPECT_EQ(Env::Posix().CreateDirs(dir_ + "/b").error().code(), ErrorCode::kIo);
}

TEST_F(CreateDirsTest, AFileInTheWayIsNamed) {
  ASSERT_TRUE(ReplaceFile(Env::Posix(), dir_ + "/f", "x"));
  const Status file = Env::Posix().CreateDirs(dir_ + "/f/a");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(file.error().message(), testing::HasSubstr(dir_ + "/f/a: " + dir_ + "/f: Not a directory"));
  EXPECT_FALSE(Env::Posix().CreateDirs(""));
}

// Pages of a file that are in the page cache.
size_t PagesInCache(int fd, size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return 0;
  EXPECT_EQ(::mincore(mapped, size, pages.data()), 0);
  ::munmap(mapped, size);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char in) { return (in & 1) != 0; }));
}

TEST(PosixFileTest, WhatWillBeNeededComesToThePageCacheBeforeItIsRead) {
  constexpr size_t kSize = size_t{1} << 20;
  const std::string path = std::filesystem::temp_directory_path() / ("portolan-hint-" + std::to_string(::getpid()));
  {
    const auto file = Env::Posix().Open(path, OpenMode::kCreate).value();
    ASSERT_TRUE(file->Append(std::string(kSize, 'x')));
    ASSERT_TRUE(file->Sync());
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_NE(fd, -1);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  const size_t kept = PagesInCache(fd, kSize);
  if (kept == 0) {
    const auto file = Env::Posix().Open(path, OpenMode::kRead).value();
    file->WillNeed(kSize / 2, 0);
    EXPECT_EQ(PagesInCache(fd, kSize), 0U) << "a hint for nothing";
    file->WillNeed(kSize / 2, 64 << 10);
    for (int tries = 0; tries < 500 && PagesInCache(fd, kSize) == 0; ++tries) ::usleep(10'000);
    const size_t asked = PagesInCache(fd, kSize);
    EXPECT_GE(asked, 1U);
    EXPECT_LT(asked, kSize / 4096) << "not the whole file";
  }
  ::close(fd);
  std::filesystem::remove(path);
  if (kept > 0) GTEST_SKIP() << "this file system keeps everything in memory";
}

}  // namespace
}  // namespace portolan
