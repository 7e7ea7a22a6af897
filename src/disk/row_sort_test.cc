#include "disk/row_sort.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::vector<RowSort::Row> Sorted(RowSort& sort) {
  std::vector<RowSort::Row> out;
  EXPECT_TRUE(sort.Sort());
  RowSort::Row row;
  while (sort.Next(row).value()) out.push_back(row);
  EXPECT_FALSE(sort.Next(row).value());
  // And once more from the beginning, and from the middle.
  EXPECT_TRUE(sort.Rewind());
  for (size_t i = 0; i < out.size() / 2; ++i) EXPECT_TRUE(sort.Next(row).value());
  EXPECT_TRUE(sort.Rewind());
  for (const RowSort::Row& expected : out) {
    EXPECT_TRUE(sort.Next(row).value());
    EXPECT_EQ(row, expected);
  }
  return out;
}

TEST(RowSortTest, ComesBackInOrderWithAndWithoutRuns) {
  for (const size_t memory : {size_t{1}, size_t{32} * 10, size_t{32} * 1000, size_t{1} << 20}) {
    for (const size_t count : {0, 1, 10, 11, 999, 1000, 2500}) {
      MemEnv env;
      ASSERT_TRUE(env.CreateDirs("tmp"));
      RowSort sort(env, {.dir = "tmp", .memory = memory});
      Rng rng(count + memory);
      std::vector<RowSort::Row> rows;
      for (size_t i = 0; i < count; ++i) {
        rows.push_back({rng.Below(50), rng.Below(3), rng.Next(), i});
        ASSERT_TRUE(sort.Add(rows.back()));
        ASSERT_TRUE(env.List("tmp").value().empty()) << "a file with a name would outlive a kill";
      }
      EXPECT_EQ(sort.size(), count);
      std::ranges::sort(rows);
      ASSERT_EQ(Sorted(sort), rows) << memory << " " << count;
    }
  }
}

TEST(RowSortTest, ADirectoryThatCannotBeWrittenToIsNeededOnlyBeyondTheMemory) {
  MemEnv base;
  FaultyEnv env(base);
  env.SetPlan({.space = 0});
  RowSort sort(env, {.dir = "tmp", .memory = 32 * 4});
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(sort.Add({i, 0, 0, 0}));
  EXPECT_FALSE(sort.Add({5, 0, 0, 0}));
}

}  // namespace
}  // namespace portolan
