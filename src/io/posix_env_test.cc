// What the real file system is told and cannot be asked about afterwards: which directories were synced. The system
// call is caught here, so this holds for the whole of this test program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "io/env.h"

namespace {

std::atomic<std::vector<ino_t>*> synced_inodes = nullptr;  // null: nobody listens
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

}  // namespace
}  // namespace portolan
