#include "io/holding_env.h"

#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan {
namespace {

TEST(HoldingEnvTest, HeldFilesStayUntilTheyAreReleased) {
  MemEnv base;
  HoldingEnv env(base);
  ASSERT_TRUE(env.CreateDirs("d"));
  for (const std::string name : {"a", "b", "c"}) ASSERT_TRUE((*env.Open("d/" + name, OpenMode::kCreate))->Append(name));
  ASSERT_TRUE(env.Hold({"d/a", "d/b"}));
  ASSERT_TRUE(env.Remove("d/a"));
  ASSERT_TRUE(env.Remove("d/b"));
  ASSERT_TRUE(env.Remove("d/c"));
  EXPECT_FALSE(env.Exists("d/c"));
  EXPECT_EQ(*ReadWholeFile(env, "d/a"), "a");
  EXPECT_EQ(env.waiting(), 2U);

  ASSERT_TRUE(env.Hold({"d/b"}));
  EXPECT_FALSE(env.Exists("d/a"));
  EXPECT_EQ(*ReadWholeFile(env, "d/b"), "b");
  ASSERT_TRUE(env.Hold({}));
  EXPECT_FALSE(env.Exists("d/b"));
  EXPECT_EQ(env.waiting(), 0U);
}

TEST(HoldingEnvTest, AFileThatIsGoneAlreadyIsNoError) {
  MemEnv base;
  HoldingEnv env(base);
  ASSERT_TRUE(env.CreateDirs("d"));
  ASSERT_TRUE((*env.Open("d/a", OpenMode::kCreate))->Append("a"));
  ASSERT_TRUE(env.Hold({"d/a"}));
  ASSERT_TRUE(env.Remove("d/a"));
  ASSERT_TRUE(base.Remove("d/a"));
  EXPECT_TRUE(env.Hold({}));
  EXPECT_EQ(env.waiting(), 0U);
}

}  // namespace
}  // namespace portolan
