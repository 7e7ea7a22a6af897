#include "bench/crawl/child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "io/clock.h"

namespace portolan::bench {
namespace {

constexpr char kReady = 'R';

double CpuOf(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
}

size_t ReadSome(int fd, char* to, size_t size) {
  for (;;) {
    const ssize_t count = ::read(fd, to, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return 0;
  }
}

[[noreturn]] void RunBody(const Child::Body& body, int to_parent, int from_parent) {
  const Child::Parent parent = {.say_ready = [&] { WriteAll(to_parent, {&kReady, 1}); },
                                .wait_end =
                                    [&] {
                                      char ignored = 0;
                                      ReadSome(from_parent, &ignored, 1);
                                    }};
  const auto value = body(parent);
  Child::Json told;
  if (value) {
    told["value"] = *value;
  } else {
    told["error"] = value.error().message();
  }
  WriteAll(to_parent, told.dump());
  ::_exit(0);
}

}  // namespace

void PinToCore(int core) {
  if (core < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(core), &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

Result<std::unique_ptr<Child>> Child::Start(int core, const Body& body) {
  std::array<int, 2> up{};
  std::array<int, 2> down{};
  if (::pipe2(up.data(), O_CLOEXEC) != 0) return std::unexpected(Error::FromErrno(errno, "pipe"));
  if (::pipe2(down.data(), O_CLOEXEC) != 0) {
    const int why = errno;
    for (const int fd : up) ::close(fd);
    return std::unexpected(Error::FromErrno(why, "pipe"));
  }
  std::fflush(nullptr);  // nothing is to be written twice
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(up[0]);
    ::close(down[1]);
    PinToCore(core);
    RunBody(body, up[1], down[0]);
  }
  const int why = errno;
  ::close(up[1]);
  ::close(down[0]);
  if (pid < 0) {
    ::close(up[0]);
    ::close(down[1]);
    return std::unexpected(Error::FromErrno(why, "fork"));
  }
  std::unique_ptr<Child> child(new Child(pid, up[0], down[1]));
  char first = 0;
  const size_t count = ReadSome(up[0], &first, 1);
  if (count == 1 && first == kReady) return child;
  // It ended or failed before: what it says begins with this byte.
  std::string text(count, first);
  std::array<char, 4096> buffer;
  while (const size_t more = ReadSome(up[0], buffer.data(), buffer.size())) text.append(buffer.data(), more);
  const Json told = Json::parse(text, nullptr, false);
  return Fail(ErrorCode::kIo, told.is_object() && told.contains("error") ? told["error"].get<std::string>()
                                                                         : "a part of the benchmark died");
}

Child::~Child() {
  if (!waited_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(from_child_);
  if (to_child_ >= 0) ::close(to_child_);
}

Result<ChildEnd> Child::Wait(double max_seconds) {
  ::close(std::exchange(to_child_, -1));
  std::string text;
  std::array<char, 4096> buffer;
  // What it says comes in one piece, at its end.
  pollfd waits = {from_child_, POLLIN, 0};
  const int64_t until = Clock::Real().NowNs() + static_cast<int64_t>(max_seconds * 1e9);
  while (max_seconds > 0) {
    const int64_t left_ms = (until - Clock::Real().NowNs()) / 1'000'000;
    if (left_ms <= 0) return Fail(ErrorCode::kBusy, fmt::format("not done after {:.0f} s, and killed", max_seconds));
    if (::poll(&waits, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000))) > 0) break;
  }
  while (const size_t count = ReadSome(from_child_, buffer.data(), buffer.size())) text.append(buffer.data(), count);
  rusage usage{};
  int status = 0;
  while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  waited_ = true;
  const Json told = Json::parse(text, nullptr, false);
  if (!told.is_object()) return Fail(ErrorCode::kIo, "a part of the benchmark died");
  if (told.contains("error")) return Fail(ErrorCode::kIo, told["error"].get<std::string>());
  return ChildEnd{told["value"], CpuOf(usage)};
}

Result<ProgramEnd> RunProgram(int core, const std::vector<std::string>& words, const std::string& dir, double seconds) {
  std::fflush(nullptr);
  const int64_t begin = Clock::Real().NowNs();
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(Error::FromErrno(errno, "fork"));
  if (pid == 0) {
    PinToCore(core);
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    if (::chdir(dir.c_str()) != 0) ::_exit(126);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  // A descriptor of the process becomes readable when it ends.
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd waits = {process, POLLIN, 0};
  if (process < 0 || ::poll(&waits, 1, static_cast<int>(seconds * 1000)) == 0) ::kill(pid, SIGTERM);
  const double took = static_cast<double>(Clock::Real().NowNs() - begin) * 1e-9;
  if (process >= 0 && ::poll(&waits, 1, 3000) == 0) ::kill(pid, SIGKILL);
  if (process >= 0) ::close(process);
  rusage usage{};
  int status = 0;
  while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return Fail(ErrorCode::kNotFound, words[0] + ": not installed");
  return ProgramEnd{took, CpuOf(usage), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

}  // namespace portolan::bench
