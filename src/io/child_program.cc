#include "io/child_program.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>

#include "io/spawn_program.h"

namespace portolan {
namespace {

constexpr int kTickMs = 50;

using SteadyClock = std::chrono::steady_clock;

// Moves bytes both ways until the program closes its side. kExited: it did.
ChildEnd Exchange(int fd, std::string_view input, const ChildLimits& limits, SteadyClock::time_point deadline,
                  const std::atomic<bool>* stop, std::string& output) {
  std::array<char, 1 << 14> buffer;
  bool writing = true;
  for (;;) {
    if (writing && input.empty()) {
      ::shutdown(fd, SHUT_WR);
      writing = false;
    }
    if (stop != nullptr && stop->load()) return ChildEnd::kStopped;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0) return ChildEnd::kTimeout;
    pollfd wait{.fd = fd, .events = static_cast<short>(POLLIN | (writing ? POLLOUT : 0)), .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left + 1, kTickMs)));
    if (ready < 0 && errno != EINTR) return ChildEnd::kExited;
    if (ready <= 0) continue;
    if (writing && (wait.revents & POLLOUT) != 0) {
      const ssize_t sent =
          ::send(fd, input.data(), std::min<size_t>(input.size(), 1 << 18), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        input.remove_prefix(static_cast<size_t>(sent));
      } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        writing = false;  // it does not read any more; what it wrote still counts
      }
    }
    if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return ChildEnd::kExited;
    if (output.size() + static_cast<size_t>(got) > limits.max_output) return ChildEnd::kTooMuchOutput;
    output.append(buffer.data(), static_cast<size_t>(got));
  }
}

// kExited: it has ended.
ChildEnd AwaitEnd(pid_t pid, SteadyClock::time_point deadline, const std::atomic<bool>* stop) {
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // glibc 2.36 declares no function for C++
  ChildEnd end = ChildEnd::kTimeout;
  while (fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0) break;
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left + 1, kTickMs))) > 0) {
      end = ChildEnd::kExited;
      break;
    }
    if (stop != nullptr && stop->load()) {
      end = ChildEnd::kStopped;
      break;
    }
  }
  if (fd >= 0) ::close(fd);
  return end;
}

}  // namespace

ChildResult RunChildProgram(const std::vector<std::string>& words, std::string_view input, const ChildLimits& limits,
                            const std::atomic<bool>* stop) {
  ChildResult result;
  const SteadyClock::time_point deadline = SteadyClock::now() + std::chrono::nanoseconds(limits.max_wait_ns);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    result.output = Error::FromErrno(errno, "socketpair").message();
    return result;
  }
  const auto spawned = SpawnProgram(
      {.words = words, .environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, .input = ends[1], .output = ends[1]});
  ::close(ends[1]);
  if (!spawned) {
    ::close(ends[0]);
    result.output = spawned.error().message();
    return result;
  }
  const pid_t pid = *spawned;
  result.end = Exchange(ends[0], input, limits, deadline, stop, result.output);
  ::close(ends[0]);
  int status = 0;
  // It closed its output: it is about to end, if it is honest.
  if (result.end == ChildEnd::kExited) result.end = AwaitEnd(pid, deadline, stop);
  if (result.end == ChildEnd::kExited) {
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::kill(-pid, SIGKILL);  // what it left behind
    if (WIFSIGNALED(status)) result.end = ChildEnd::kSignalled;
    result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return result;
  }
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return result;
}

std::string ProgramBeside(const std::string& name) {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length <= 0) return name;
  const std::string_view path(self.data(), static_cast<size_t>(length));
  return std::string(path.substr(0, path.rfind('/') + 1)) + name;
}

}  // namespace portolan
