#include "io/small_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "io/env.h"

namespace portolan {
namespace {

namespace fs = std::filesystem;

class SmallFileTest : public testing::Test {
 protected:
  SmallFileTest() {
    std::string pattern = (fs::temp_directory_path() / "portolan-small-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~SmallFileTest() override { fs::remove_all(dir_); }

  std::string Path(const std::string& name) const { return JoinPath(dir_, name); }
  std::string Contents(const std::string& name) const { return ReadWholeFile(Env::Posix(), Path(name)).value(); }
  static mode_t ModeOf(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }

  std::string dir_;
};

TEST_F(SmallFileTest, SecretsAreTheOwnersAlone) {
  ASSERT_TRUE(ReplaceSmallFile(Path("a"), "old", {.durable = true}));
  EXPECT_EQ(ModeOf(Path("a")) & 0600, 0600U);
  ASSERT_TRUE(ReplaceSmallFile(Path("a"), "new", {.secret = true, .durable = true}));
  EXPECT_EQ(Contents("a"), "new");
  EXPECT_EQ(ModeOf(Path("a")), 0600U);
  EXPECT_FALSE(fs::exists(Path("a.new")));
}

TEST_F(SmallFileTest, LinksAreReplacedAndNotFollowed) {
  ASSERT_TRUE(ReplaceSmallFile(Path("victim"), "precious"));
  fs::create_symlink(Path("victim"), Path("a.new"));
  fs::create_symlink(Path("victim"), Path("a"));
  EXPECT_FALSE(OverwriteSmallFile(Path("a"), "other"));
  ASSERT_TRUE(ReplaceSmallFile(Path("a"), "mine"));
  EXPECT_EQ(Contents("victim"), "precious");
  EXPECT_EQ(Contents("a"), "mine");
  EXPECT_FALSE(fs::is_symlink(Path("a")));
}

TEST_F(SmallFileTest, OverwritingCutsWhatWasLonger) {
  ASSERT_TRUE(ReplaceSmallFile(Path("a"), "a long text"));
  ASSERT_TRUE(OverwriteSmallFile(Path("a"), "short"));
  EXPECT_EQ(Contents("a"), "short");
  EXPECT_FALSE(OverwriteSmallFile(Path("none"), "x"));
}

TEST_F(SmallFileTest, AskingWhetherALockIsHeldTakesNothing) {
  EXPECT_FALSE(IsLocked(Path("lock")));
  {
    const auto lock = Env::Posix().Lock(Path("lock"));
    ASSERT_TRUE(lock);
    EXPECT_TRUE(IsLocked(Path("lock")));
    EXPECT_TRUE(IsLocked(Path("lock")));
  }
  EXPECT_FALSE(IsLocked(Path("lock")));
}

// Each holder removes the file before it lets go, as a crawl does that could not begin. A process that opened it before
// must not mistake a lock on a file without a name for the lock.
TEST_F(SmallFileTest, LockOnARemovedFileIsHeldByNobody) {
  std::atomic<int> holders{0};
  std::atomic<int> most{0};
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const auto lock = Env::Posix().Lock(Path("lock"));
        if (!lock) continue;
        ++held;
        const int now = ++holders;
        if (now > most) most = now;
        std::this_thread::yield();
        --holders;
        static_cast<void>(Env::Posix().Remove(Path("lock")));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(held, 0);
}

}  // namespace
}  // namespace portolan
