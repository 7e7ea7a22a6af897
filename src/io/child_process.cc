#include "io/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "io/spawn_program.h"

namespace portolan {
namespace {

constexpr int kLookMs = 10;

std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all = OwnEnvironment();
  for (const auto& [name, value] : more) {
    std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    all.push_back(name + "=" + value);
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  const int output = ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (output < 0) return std::unexpected(Error::FromErrno(errno, "open " + options.output));
  const auto pid = SpawnProgram({.words = options.words,
                                 .environment = EnvironmentWith(options.environment),
                                 .output = output,
                                 .messages = output});
  ::close(output);
  if (!pid) return std::unexpected(pid.error());
  return std::unique_ptr<ChildProcess>(new ChildProcess(*pid));
}

ChildProcess::~ChildProcess() {
  if (Ended()) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ChildEnding> ChildProcess::Ended() {
  if (ending_) return ending_;
  int status = 0;
  rusage used{};
  if (::wait4(pid_, &status, WNOHANG, &used) != pid_) return std::nullopt;
  const auto ns = [](const timeval& time) { return time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000; };
  ending_ = ChildEnding{.signalled = WIFSIGNALED(status),
                        .code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                        .processor_ns = ns(used.ru_utime) + ns(used.ru_stime)};
  return ending_;
}

void ChildProcess::Signal(int signal) {
  if (!Ended()) ::kill(pid_, signal);
}

bool ChildProcess::Wait(int64_t max_wait_ns) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(max_wait_ns);
  while (!Ended()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    ::poll(nullptr, 0, kLookMs);
  }
  return true;
}

std::string ThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return path;
}

std::string FindProgram(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string paths = variable == nullptr ? "" : variable;
  paths += ":/usr/sbin:/usr/local/sbin:/usr/bin";
  for (std::string_view rest = paths; !rest.empty();) {
    const std::string_view dir = rest.substr(0, rest.find(':'));
    const std::string path = std::string(dir) + "/" + name;
    if (!dir.empty() && ::access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(rest.size(), dir.size() + 1));
  }
  return {};
}

uint16_t FreeLoopbackPort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  return bound ? ntohs(address.sin_port) : uint16_t{0};
}

}  // namespace portolan
