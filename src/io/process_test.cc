#include "io/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace portolan {
namespace {

TEST(ProcessTest, MemoryAndTimeGrowWithUse) {
  const uint64_t before = ResidentBytes();
  const int64_t time = ProcessorNs();
  std::vector<char> memory(size_t{64} << 20);
  for (size_t i = 0; i < memory.size(); i += 512) memory[i] = static_cast<char>(i);
  EXPECT_GT(ResidentBytes(), before + (uint64_t{50} << 20));
  EXPECT_GE(PeakResidentBytes(), before + (uint64_t{50} << 20));
  EXPECT_GT(ProcessorNs(), time);
  EXPECT_FALSE(HostName().empty());
}

TEST(ProcessTest, AThreadOfLowPriorityPassesItOn) {
  std::thread([] {
    ASSERT_TRUE(LowerPriority());
    std::thread([] {
      EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 19);
      EXPECT_EQ(syscall(SYS_ioprio_get, 1, 0), 2 << 13 | 7) << "best effort, level 7";
    }).join();
  }).join();
  EXPECT_LT(getpriority(PRIO_PROCESS, 0), 19) << "other threads keep theirs";
}

}  // namespace
}  // namespace portolan
