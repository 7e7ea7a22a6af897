#include "io/spawn_program.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

extern char** environ;

namespace portolan {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What the child needs: it shares the parent's memory (or, where a sanitizer makes a fork of vfork, has a copy) and may
// only make system calls.
struct Plan {
  char* const* words;
  char* const* environment;
  std::array<int, 3> files;
  int death_signal;
  pid_t parent;
  const sigset_t* none;
  int report;  // a pipe: the child's errno; its end without one: the program runs
};

// In the child, until it is another program. All signals are blocked: a handler would run in the parent's memory. Not
// inlined, so that it works below the frame to which the parent comes back.
[[noreturn, gnu::noinline]] void BecomeProgram(Plan& plan) {
  const auto give_up = [&] {
    const int fault = errno == 0 ? ECHILD : errno;
    while (::write(plan.report, &fault, sizeof(fault)) < 0 && errno == EINTR) {
    }
    ::_exit(126);
  };
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &normal, nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, plan.death_signal);
  errno = 0;
  if (::getppid() != plan.parent) give_up();  // it ended before that call
  // First out of the way of 0 to 2, then to their places, where they stay open.
  const int report = ::fcntl(plan.report, F_DUPFD_CLOEXEC, 3);
  if (report < 0) give_up();
  plan.report = report;
  for (int& fd : plan.files) {
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) give_up();
  }
  for (int to = 0; to < 3; ++to) {
    if (::dup2(plan.files[static_cast<size_t>(to)], to) < 0) give_up();
  }
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);  // those that somebody opened without O_CLOEXEC
  ::sigprocmask(SIG_SETMASK, plan.none, nullptr);
  ::execve(plan.words[0], plan.words, plan.environment);
  give_up();
  ::_exit(126);
}

}  // namespace

Result<pid_t> SpawnProgram(const SpawnOptions& options) {
  const std::vector<char*> words = Pointers(options.words);
  const std::vector<char*> environment = Pointers(options.environment);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return std::unexpected(Error::FromErrno(errno, "open /dev/null"));
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    const int fault = errno;
    ::close(nothing);
    return std::unexpected(Error::FromErrno(fault, "pipe"));
  }
  const auto file = [&](int fd) { return fd < 0 ? nothing : fd; };
  sigset_t all;
  sigset_t none;
  sigset_t before;
  sigfillset(&all);
  sigemptyset(&none);
  Plan plan{.words = words.data(),
            .environment = environment.data(),
            .files = {file(options.input), file(options.output), file(options.messages)},
            .death_signal = options.death_signal,
            .parent = ::getpid(),
            .none = &none,
            .report = report[1]};
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) BecomeProgram(plan);
  int fault = pid < 0 ? errno : 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(nothing);
  ::close(report[1]);
  if (pid > 0) {
    while (::read(report[0], &fault, sizeof(fault)) < 0 && errno == EINTR) {
    }
  }
  ::close(report[0]);
  if (fault == 0) return pid;
  while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return std::unexpected(Error::FromErrno(fault, "start " + options.words[0]));
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) all.emplace_back(*at);
  return all;
}

}  // namespace portolan
