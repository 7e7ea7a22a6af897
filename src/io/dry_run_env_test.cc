#include "io/dry_run_env.h"

#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan {
namespace {

void Put(Env& env, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(env.CreateDirs(DirName(path)));
  auto file = env.Open(path, OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append(bytes));
}

TEST(DryRunEnvTest, ChangesAreSeenAndNotMade) {
  MemEnv mem;
  Put(mem, "d/cut", "0123456789");
  Put(mem, "d/gone", "abc");
  Put(mem, "d/same", "xyz");
  DryRunEnv dry(mem);
  {
    auto file = dry.Open("d/cut", OpenMode::kAppend).value();
    ASSERT_TRUE(file->Truncate(4));
    ASSERT_TRUE(file->Append("new"));
    EXPECT_EQ(file->Size(), 7U);
  }
  ASSERT_TRUE(dry.Remove("d/gone"));
  Put(dry, "d/made", "made");
  EXPECT_EQ(ReadWholeFile(dry, "d/cut").value(), "0123new");
  EXPECT_EQ(ReadWholeFile(dry, "d/same").value(), "xyz");
  EXPECT_EQ(ReadWholeFile(dry, "d/made").value(), "made");
  EXPECT_FALSE(dry.Open("d/gone", OpenMode::kRead));
  EXPECT_FALSE(dry.Exists("d/gone"));
  EXPECT_FALSE(dry.Remove("d/gone"));
  EXPECT_EQ(dry.List("d").value(), (std::vector<std::string>{"cut", "made", "same"}));
  ASSERT_TRUE(dry.Rename("d/same", "d/moved"));
  EXPECT_EQ(ReadWholeFile(dry, "d/moved").value(), "xyz");
  EXPECT_FALSE(dry.Exists("d/same"));

  EXPECT_EQ(mem.List("d").value(), (std::vector<std::string>{"cut", "gone", "same"}));
  EXPECT_EQ(ReadWholeFile(mem, "d/cut").value(), "0123456789");
  ASSERT_EQ(dry.Cuts().size(), 1U);
  EXPECT_EQ(dry.Cuts()[0].path, "d/cut");
  EXPECT_EQ(dry.Cuts()[0].bytes, 6U);
  ASSERT_EQ(dry.Removals().size(), 1U);
  EXPECT_EQ(dry.Removals()[0].path, "d/gone");
  EXPECT_EQ(dry.Removals()[0].bytes, 3U);
}

TEST(DryRunEnvTest, DirectoriesThatWouldBeMadeAreToldApart) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs("d/there"));
  DryRunEnv dry(mem);
  for (const char* dir : {"d/there", "d/new", "d/new/", "./d//new/.", "d/other", "d/other/new"}) {
    ASSERT_TRUE(dry.CreateDirs(dir));
  }
  EXPECT_EQ(dry.Identity("d/there").value(), mem.Identity("d/there").value());
  const std::string made = dry.Identity("d/new").value();
  EXPECT_EQ(dry.Identity("d/new/").value(), made);
  EXPECT_EQ(dry.Identity("./d//new/.").value(), made);
  for (const char* dir : {"d/there", "d/other", "d/other/new"}) EXPECT_NE(dry.Identity(dir).value(), made) << dir;
  EXPECT_FALSE(dry.Identity("d/none"));
}

TEST(DryRunEnvTest, MemoryIsBounded) {
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs("d"));
  DryRunEnv dry(mem, 10);
  auto file = dry.Open("d/a", OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append("12345678"));
  const Status full = file->Append("345");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kNoSpace);
  ASSERT_TRUE(file->Truncate(2));
  EXPECT_TRUE(file->Append("345"));
  EXPECT_EQ(ReadWholeFile(dry, "d/a").value(), "12345");
}

}  // namespace
}  // namespace portolan
