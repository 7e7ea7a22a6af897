#include "io/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "io/clock.h"
#include "io/env.h"
#include "io/spawn_program.h"

namespace portolan {
namespace {

class ChildProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "portolan-child-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::unique_ptr<ChildProcess> Shell(const std::string& script) {
    auto child = ChildProcess::Start({.words = {"/bin/sh", "-c", script},
                                      .environment = {{"SAID", "yes"}, {"PATH", "/usr/bin:/bin"}},
                                      .output = dir_ + "/out"});
    EXPECT_TRUE(child) << child.error().ToString();
    return std::move(*child);
  }
  std::string Output() { return ReadWholeFile(Env::Posix(), dir_ + "/out").value(); }

  std::string dir_;
};

TEST_F(ChildProcessTest, HasItsEnvironmentAndItsOutputAndSaysHowItEnded) {
  const auto child = Shell("echo $SAID; echo $PATH; echo loud >&2; exit 3");
  ASSERT_TRUE(child->Wait(10 * kSecond));
  EXPECT_FALSE(child->Ended()->signalled);
  EXPECT_EQ(child->Ended()->code, 3);
  EXPECT_EQ(Output(), "yes\n/usr/bin:/bin\nloud\n");
}

TEST_F(ChildProcessTest, AProgramThatIsNotThereIsAnErrorAtOnce) {
  const auto child = ChildProcess::Start({.words = {"/no/such/program"}, .environment = {}, .output = dir_ + "/out"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(child.error().message().find("/no/such/program"), std::string::npos);
}

TEST_F(ChildProcessTest, GetsNoOtherFilesAndNoSignalsBlockedOrIgnored) {
  const int leak = open("/dev/zero", O_RDONLY);  // without O_CLOEXEC
  sigset_t some;
  sigset_t before;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &some, &before);
  const auto ignored = signal(SIGPIPE, SIG_IGN);
  const auto child = Shell("readlink /proc/$$/fd/*; grep -E '^Sig(Blk|Ign)' /proc/self/status");
  signal(SIGPIPE, ignored);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  close(leak);
  EXPECT_TRUE(sigismember(&after, SIGUSR1)) << "the caller's signals are as they were";
  EXPECT_FALSE(sigismember(&after, SIGUSR2));
  ASSERT_TRUE(child->Wait(10 * kSecond));
  const std::string out = dir_ + "/out\n";
  EXPECT_EQ(Output(), "/dev/null\n" + out + out + "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

// The thread, not only the process: threads that start programs live as long as they need them.
TEST_F(ChildProcessTest, EndsWithTheThreadThatStartedIt) {
  pid_t pid = 0;
  std::thread([&] {
    const auto spawned = SpawnProgram({.words = {"/bin/sleep", "100"}, .environment = {}, .death_signal = SIGTERM});
    ASSERT_TRUE(spawned);
    pid = *spawned;
    EXPECT_EQ(kill(pid, 0), 0);
  }).join();
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST_F(ChildProcessTest, IsKilledWithItsObject) {
  auto child = Shell("sleep 100");
  const pid_t pid = child->pid();
  EXPECT_FALSE(child->Ended());
  child.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace portolan
