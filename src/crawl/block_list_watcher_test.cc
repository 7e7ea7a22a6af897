#include "crawl/block_list_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace portolan {
namespace {

namespace fs = std::filesystem;

class BlockListWatcherTest : public testing::Test {
 protected:
  BlockListWatcherTest() {
    std::string pattern = (fs::temp_directory_path() / "portolan-lists-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~BlockListWatcherTest() override { fs::remove_all(dir_); }

  std::string Path(const std::string& name) const { return JoinPath(dir_, name); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name) + ".new") << text;
    fs::rename(Path(name) + ".new", Path(name));
  }
  std::unique_ptr<BlockListWatcher> Watch(uint64_t max_names = 100) {
    const std::vector<std::string> files = {Path("a"), Path("b")};
    return std::make_unique<BlockListWatcher>(Env::Posix(), files, max_names,
                                              LoadBlockLists(Env::Posix(), files, max_names).value());
  }

  std::string dir_;
};

TEST_F(BlockListWatcherTest, AListIsReadWhenItHasChangedAndRests) {
  Write("a", "one.example\n");
  Write("b", "two.example\n");
  const auto watcher = Watch();
  EXPECT_EQ(watcher->Look(), nullptr);
  Write("b", "three.example\n");
  EXPECT_EQ(watcher->Look(), nullptr) << "it may still be written";
  const auto list = watcher->Look();
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->Has("one.example") && list->Has("three.example"));
  EXPECT_FALSE(list->Has("two.example"));
  EXPECT_EQ(watcher->Look(), nullptr);
  Write("b", "# the same\nTHREE.example\n");
  watcher->Look();
  EXPECT_EQ(watcher->Look(), nullptr) << "no other names";
}

TEST_F(BlockListWatcherTest, GarbageKeepsTheLastGoodListAndIsNamedUntilItIsGood) {
  Write("a", "one.example\n");
  Write("b", "two.example\n");
  const auto watcher = Watch(2);
  for (const std::string text : {"<html>\n", "", "x.example\ny.example\n"}) {
    Write("b", text);
    watcher->Look();
    EXPECT_EQ(watcher->Look(), nullptr);
    EXPECT_THAT(watcher->Trouble(), testing::HasSubstr(Path("b"))) << text;
  }
  fs::remove(Path("b"));
  watcher->Look();
  EXPECT_EQ(watcher->Look(), nullptr);
  EXPECT_THAT(watcher->Trouble(), testing::HasSubstr(Path("b")));
  Write("b", "two.example\n");
  watcher->Look();
  EXPECT_EQ(watcher->Look(), nullptr) << "the list in force is this one";
  EXPECT_EQ(watcher->Trouble(), "");
}

}  // namespace
}  // namespace portolan
