#include "io/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

extern char** environ;

namespace portolan {
namespace {

constexpr int kCannotStart = 126;  // exit code of a child whose program does not start
constexpr int kLookMs = 10;

std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const auto replaced = [&](const auto& pair) {
      return entry.starts_with(pair.first) && entry.substr(pair.first.size()).starts_with('=');
    };
    if (std::ranges::none_of(more, replaced)) all.emplace_back(entry);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  // Everything that needs memory is done before the fork: in the child only system calls are allowed.
  std::vector<std::string> words = options.words;
  std::vector<std::string> environment = EnvironmentWith(options.environment);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(environment);
  const int output = ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (output < 0) return std::unexpected(Error::FromErrno(errno, "open " + options.output));
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCannotStart);  // it ended before that call
    if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) ::_exit(kCannotStart);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(kCannotStart);
  }
  const int fault = errno;
  ::close(output);
  if (input >= 0) ::close(input);
  if (pid < 0) return std::unexpected(Error::FromErrno(fault, "start " + options.words[0]));
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid));
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
