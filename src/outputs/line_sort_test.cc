#include "outputs/line_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

void Put(Env& env, const std::string& path, std::string_view text) {
  const auto file = env.Open(path, OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append(text));
}

std::string Sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(LineSortTest, ManyRunsAreMergedToTheSameAsOneSort) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  Rng rng(4);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 60'000; ++i) {
    std::string line(rng.Below(120), static_cast<char>(1 + rng.Below(255)));
    std::ranges::replace(line, '\n', 'x');
    line += std::to_string(rng.Below(5000));
    text += line + "\n";
    lines.push_back(std::move(line));
  }
  Put(env, "d/in", text);
  const std::string expected = Sorted(lines);
  for (const size_t memory : {size_t{64} << 10, size_t{1} << 20, size_t{64} << 20}) {  // 90 runs: two passes; 6; none
    ASSERT_TRUE(SortLines(env, "d/in", text.size(), "d/out", memory));
    EXPECT_EQ(ReadWholeFile(env, "d/out").value(), expected);
    EXPECT_EQ(env.List("d").value(), (std::vector<std::string>{"in", "out"}));
  }
}

TEST(LineSortTest, OnlyTheValidLengthCounts) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  Put(env, "d/in", "b\na\nrest of a torn li");
  ASSERT_TRUE(SortLines(env, "d/in", 4, "d/out", 1 << 20));
  EXPECT_EQ(ReadWholeFile(env, "d/out").value(), "a\nb\n");
  EXPECT_EQ(SortLines(env, "d/in", 7, "d/out", 1 << 20).error().code(), ErrorCode::kCorrupt);
}

TEST(LineSortTest, MergeKeepsEqualLinesAndTakesNoInputs) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  Put(env, "d/1", "a\nc\n");
  Put(env, "d/2", "a\nb\nc\n");
  Put(env, "d/3", "");
  const std::vector<std::string> inputs = {"d/1", "d/2", "d/3"};
  ASSERT_TRUE(MergeLines(env, inputs, "d/out"));
  EXPECT_EQ(ReadWholeFile(env, "d/out").value(), "a\na\nb\nc\nc\n");
  ASSERT_TRUE(MergeLines(env, {}, "d/none"));
  EXPECT_EQ(ReadWholeFile(env, "d/none").value(), "");
  EXPECT_TRUE(env.Exists("d/1"));
}

TEST(LineSortTest, LinesLongerThanTheBufferAreRead) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("d"));
  const std::string longest = std::string(900'000, 'z') + "\n";
  Put(env, "d/in", longest + "a\n" + longest);
  ASSERT_TRUE(SortLines(env, "d/in", UINT64_MAX, "d/out", 64 << 10));
  EXPECT_EQ(ReadWholeFile(env, "d/out").value(), "a\n" + longest + longest);
}

}  // namespace
}  // namespace portolan
