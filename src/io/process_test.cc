#include "io/process.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace portolan
