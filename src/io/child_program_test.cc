#include "io/child_program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace portolan {
namespace {

ChildResult Shell(const std::string& script, std::string_view input = {}, const ChildLimits& limits = {},
                  const std::atomic<bool>* stop = nullptr) {
  return RunChildProgram({"/bin/sh", "-c", script}, input, limits, stop);
}

TEST(ChildProgramTest, BytesGoInAndComeOut) {
  const std::string much(3 << 20, 'x');
  const ChildResult result = Shell("cat", much, {.max_output = 4 << 20});
  EXPECT_EQ(result.end, ChildEnd::kExited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, much);
}

TEST(ChildProgramTest, EndsHaveNames) {
  EXPECT_EQ(Shell("exit 7").code, 7);
  const ChildResult killed = Shell("kill -SEGV $$");
  EXPECT_EQ(killed.end, ChildEnd::kSignalled);
  EXPECT_EQ(killed.code, SIGSEGV);
  EXPECT_EQ(Shell("cat /dev/zero", {}, {.max_output = 1000}).end, ChildEnd::kTooMuchOutput);
  EXPECT_EQ(RunChildProgram({"/no/such/program"}, "x", {}).end, ChildEnd::kNotStarted);
}

TEST(ChildProgramTest, AProgramThatStallsIsKilledWithItsChildren) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Shell("sleep 100 & sleep 100", {}, {.max_wait_ns = 200'000'000}).end, ChildEnd::kTimeout);
  // It neither reads nor writes, nor ends after it closed its output.
  EXPECT_EQ(Shell("exec >&- <&-; sleep 100", std::string(1 << 20, 'x'), {.max_wait_ns = 200'000'000}).end,
            ChildEnd::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ChildProgramTest, StopEndsIt) {
  std::atomic<bool> stop = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  EXPECT_EQ(Shell("sleep 100", {}, {.max_wait_ns = 60'000'000'000}, &stop).end, ChildEnd::kStopped);
  later.join();
}

TEST(ChildProgramTest, InputThatNobodyReadsIsNoFault) {
  EXPECT_EQ(Shell("exec <&-; echo done", std::string(8 << 20, 'x')).output, "done\n");
}

TEST(ChildProgramTest, ItHasNoEnvironmentOfOurs) {
  ::setenv("PORTOLAN_SECRET", "yes", 1);
  EXPECT_EQ(Shell("echo \"$PORTOLAN_SECRET$LANG\"").output, "C.UTF-8\n");
}

}  // namespace
}  // namespace portolan
