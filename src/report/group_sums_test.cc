#include "report/group_sums.h"

#include "io/mem_env.h"

namespace portolan {
namespace {

// Names with repeats, added in an order that is not theirs.
void AddMany(GroupSums& sums, std::map<std::string, GroupSums::Values>& expected, int count) {
  std::minstd_rand random(7);
  for (int i = 0; i < count; ++i) {
    std::string name = "host-" + std::to_string(random() % 5000) + std::string(random() % 30, 'x');
    if (i % 1000 == 0) name.clear();
    const GroupSums::Values values = {1, random() % 1000, uint64_t{1} << 60, 0};
    ASSERT_TRUE(sums.Add(name, values));
    GroupSums::Values& sum = expected[name];
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += values[k];
  }
}

void ExpectSame(GroupSums& sums, const std::map<std::string, GroupSums::Values>& expected) {
  auto at = expected.begin();
  ASSERT_TRUE(sums.Finish([&](std::string_view name, const GroupSums::Values& values) -> Status {
    EXPECT_NE(at, expected.end());
    EXPECT_EQ(name, at->first);
    EXPECT_EQ(values, at->second);
    ++at;
    return {};
  }));
  EXPECT_EQ(at, expected.end());
}

TEST(GroupSumsTest, GivesEachNameOnceInOrderWithItsSums) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("/tmp"));
  GroupSums sums(env, {.dir = "/tmp"});
  std::map<std::string, GroupSums::Values> expected;
  AddMany(sums, expected, 20'000);
  EXPECT_EQ(sums.runs(), 0U);
  ExpectSame(sums, expected);
}

TEST(GroupSumsTest, SumsBeyondItsMemoryAreTheSame) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("/tmp"));
  GroupSums sums(env, {.dir = "/tmp", .memory = 64 << 10});
  std::map<std::string, GroupSums::Values> expected;
  AddMany(sums, expected, 20'000);
  EXPECT_GT(sums.runs(), 3U);
  ExpectSame(sums, expected);
}

TEST(GroupSumsTest, ANameLargerThanTheMemoryIsCounted) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("/tmp"));
  GroupSums sums(env, {.dir = "/tmp", .memory = 1 << 10});
  const std::string name(10'000, 'n');
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sums.Add(name, {1}));
    ASSERT_TRUE(sums.Add("short", {1}));
  }
  ExpectSame(sums, {{name, {3}}, {"short", {3}}});
}

TEST(GroupSumsTest, NothingWasAdded) {
  MemEnv env;
  GroupSums sums(env, {.dir = "/tmp"});
  ExpectSame(sums, {});
}

TEST(GroupSumsTest, TheErrorOfTheVisitorEndsIt) {
  MemEnv env;
  GroupSums sums(env, {.dir = "/tmp"});
  ASSERT_TRUE(sums.Add("a", {1}));
  const Status status =
      sums.Finish([](std::string_view, const GroupSums::Values&) -> Status { return Fail(ErrorCode::kIo, "full"); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace portolan
