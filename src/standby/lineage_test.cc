#include "standby/lineage.h"

#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr std::string_view kGolden = "own 00f1e2d3c4b5a697\ncrc32c 719a862d\n";

TEST(LineageTest, GoldenText) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  EXPECT_EQ(ReadLineage(env, "d").value(), std::nullopt);
  const Lineage lineage{.kind = Lineage::Kind::kOwn, .id = 0x00f1e2d3c4b5a697};
  ASSERT_TRUE(WriteLineage(env, "d", lineage));
  EXPECT_EQ(ReadWholeFile(env, "d/lineage").value(), kGolden);
  EXPECT_EQ(ReadLineage(env, "d").value(), lineage);
}

TEST(LineageTest, AnythingElseIsNamedDamaged) {
  for (const std::string text :
       {"", "own 00f1e2d3c4b5a697\n", "own 00f1e2d3c4b5a697\ncrc32c 719a862e\n",
        "copy 00f1e2d3c4b5a697\ncrc32c 719a862d\n", "own 0000000000000000\ncrc32c 00000000\n"}) {
    MemEnv env;
    ASSERT_TRUE(env.CreateDirs("d"));
    ASSERT_TRUE((*env.Open("d/lineage", OpenMode::kCreate))->Append(text));
    const auto read = ReadLineage(env, "d");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace portolan
