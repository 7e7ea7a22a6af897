#include "standby/copy_mark.h"

#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr std::string_view kGolden = "whole 00f1e2d3c4b5a697\ncrc32c ed61fd02\n";

TEST(CopyMarkTest, GoldenText) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  EXPECT_EQ(ReadCopyMark(env, "d").value(), std::nullopt);
  const CopyMark mark{.whole = true, .history = 0x00f1e2d3c4b5a697};
  ASSERT_TRUE(WriteCopyMark(env, "d", mark));
  EXPECT_EQ(ReadWholeFile(env, "d/copy").value(), kGolden);
  EXPECT_EQ(ReadCopyMark(env, "d").value(), mark);
  ASSERT_TRUE(RemoveCopyMark(env, "d"));
  ASSERT_TRUE(RemoveCopyMark(env, "d"));
  EXPECT_EQ(ReadCopyMark(env, "d").value(), std::nullopt);
}

TEST(CopyMarkTest, AnythingElseIsNamedDamaged) {
  for (const std::string text : {"", "whole 00f1e2d3c4b5a697\n", "whole 00f1e2d3c4b5a697\ncrc32c 00000000\n",
                                 "partial 00f1e2d3c4b5a697\ncrc32c ed61fd02\n", "whole 0000000000000000\ncrc32c 0\n"}) {
    MemEnv env;
    ASSERT_TRUE(env.CreateDirs("d"));
    ASSERT_TRUE((*env.Open("d/copy", OpenMode::kCreate))->Append(text));
    const auto read = ReadCopyMark(env, "d");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace portolan
