#include "cli/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace portolan {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

class MemoryLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("portolan-limits-" + std::to_string(getpid()));
    Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  uint64_t Limit() const { return MemoryLimit(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(MemoryLimitTest, IsTheRamWithoutAControlGroup) {
  EXPECT_EQ(Limit(), 16384 * kMib);
  Write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(Limit(), 16384 * kMib);
}

TEST_F(MemoryLimitTest, IsTheSmallestOnTheWayUp) {
  Write("proc/self/cgroup", "12:pids:/old\n0::/a.slice/b.scope\n");
  Write("sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n");
  EXPECT_EQ(Limit(), 16384 * kMib);
  Write("sys/fs/cgroup/a.slice/memory.max", "2147483648\n");
  EXPECT_EQ(Limit(), 2048 * kMib);
  Write("sys/fs/cgroup/a.slice/b.scope/memory.max", "536870912\n");
  EXPECT_EQ(Limit(), 512 * kMib);
  // A container sees its own group as the root.
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "268435456\n");
  EXPECT_EQ(Limit(), 256 * kMib);
}

TEST_F(MemoryLimitTest, RubbishIsNoLimit) {
  Write("proc/self/cgroup", "0::/a\n");
  Write("sys/fs/cgroup/a/memory.max", "many\n");
  EXPECT_EQ(Limit(), 16384 * kMib);
  std::filesystem::remove_all(root_);
  EXPECT_EQ(Limit(), 0U);
}

TEST(ConnectionPlanTest, EverythingFitsOrLessIsUsed) {
  EXPECT_EQ(PlanConnections(1500, 1024, 1).connections, 1024U);
  EXPECT_LE(PlanConnections(1500, 1024, 1, 512).connections, 1500U - 512 - kDescriptorsForFiles);
  EXPECT_EQ(PlanConnections(1 << 20, 1024, 1).connections, 1024U);
  EXPECT_EQ(PlanConnections(1 << 20, 1024, 1).idle, 1024U);
  EXPECT_EQ(PlanConnections(1 << 20, 1024, 1).questions, 256U);
  for (const uint64_t loops : {1, 4}) {
    for (uint64_t descriptors = 0; descriptors < 5000; ++descriptors) {
      const ConnectionPlan plan = PlanConnections(descriptors, 1024, loops);
      EXPECT_LE(plan.connections, 1024U);
      if (plan.connections == 0) {
        EXPECT_LE(descriptors, kDescriptorsForFiles + 8 * loops);
      } else {
        EXPECT_GE(plan.questions, 1U);
        EXPECT_LE(plan.connections + 2 * loops * plan.idle + plan.questions - 1 + kDescriptorsForFiles, descriptors);
      }
    }
  }
}

}  // namespace
}  // namespace portolan
