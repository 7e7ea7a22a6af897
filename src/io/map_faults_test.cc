#include "io/map_faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/env.h"

namespace portolan {
namespace {

TEST(MapFaultsTest, AFileThatShrinksWhileItIsMappedReadsAsZeros) {
  const std::string path = testing::TempDir() + "/map_faults_test_" + std::to_string(::getpid());
  ASSERT_TRUE(ReplaceFile(Env::Posix(), path, std::string(1 << 20, 'x')));
  const auto bytes = Env::Posix().Map(path).value();
  SurviveMapFaults();
  const uint64_t before = MapFaults();
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(bytes->view()[0], 'x');
  EXPECT_EQ(bytes->view()[1 << 19], '\0');
  EXPECT_EQ(bytes->view()[(1 << 19) + 1], '\0');
  EXPECT_EQ(MapFaults(), before + 1);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace portolan
