#include "search/index_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "io/spawn_program.h"

namespace portolan {
namespace {

constexpr const char* kServerProgram = "/usr/bin/xapian-tcpsrv";

sockaddr_in AddressOf(const std::string& host, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) address.sin_family = AF_UNSPEC;
  return address;
}

// A port that nobody listens on.
Result<uint16_t> FreePort(const std::string& host) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = AddressOf(host, 0);
  socklen_t size = sizeof(address);
  const bool bound = socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  if (socket >= 0) ::close(socket);
  if (!bound) return std::unexpected(Error::FromErrno(error, host));
  return ntohs(address.sin_port);
}

// Waits for a greeting, since the server complains about clients that go without having read it.
bool Listens(const std::string& host, uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const sockaddr_in address = AddressOf(host, port);
  const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (connected) {
    pollfd greeting{.fd = socket, .events = POLLIN, .revents = 0};
    std::array<char, 4096> bytes{};
    if (::poll(&greeting, 1, 1000) > 0) [[maybe_unused]]
      const auto got = ::recv(socket, bytes.data(), bytes.size(), 0);
  }
  ::close(socket);
  return connected;
}

}  // namespace

Result<std::unique_ptr<IndexServer>> IndexServer::Start(const std::vector<std::string>& dirs, const std::string& host,
                                                        uint16_t port) {
  if (::access(kServerProgram, X_OK) != 0) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} is missing: install the package xapian-tools to serve an index", kServerProgram));
  }
  if (AddressOf(host, port).sin_family != AF_INET) {
    return Fail(ErrorCode::kInvalidArgument, host + ": xapian-tcpsrv needs an IPv4 address");
  }
  if (port == 0) {
    ASSIGN_OR_RETURN(port, FreePort(host));
  } else if (Listens(host, port)) {
    return Fail(ErrorCode::kIo, fmt::format("{}:{} is in use", host, port));
  }
  std::vector<std::string> words = {kServerProgram,
                                    "--quiet",
                                    "--interface",
                                    host,
                                    "--port",
                                    fmt::format("{}", port),
                                    "--idle-timeout",
                                    fmt::format("{}", kIdleMs),
                                    "--active-timeout",
                                    fmt::format("{}", kActiveMs),
                                    "--"};
  words.insert(words.end(), dirs.begin(), dirs.end());
  // It ends its connections' processes when it is asked to end. What it complains about is for the operator.
  ASSIGN_OR_RETURN(const pid_t pid, SpawnProgram({.words = std::move(words),
                                                  .environment = {"PATH=/usr/bin:/bin"},
                                                  .messages = STDERR_FILENO,
                                                  .death_signal = SIGTERM}));
  std::unique_ptr<IndexServer> server(new IndexServer(pid, port));
  const int64_t deadline = Clock::Real().NowNs() + kStartNs;
  while (server->Runs() && Clock::Real().NowNs() < deadline) {
    if (Listens(host, port)) return server;
    ::poll(nullptr, 0, 10);
  }
  return Fail(ErrorCode::kIo, fmt::format("xapian-tcpsrv does not start on {}:{}", host, port));
}

bool IndexServer::Runs() {
  if (pid_ == 0) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
  ::kill(-pid_, SIGKILL);  // connections that it left behind
  pid_ = 0;
  return false;
}

void IndexServer::Stop() {
  if (!Runs()) return;
  ::kill(-pid_, SIGTERM);
  const int64_t deadline = Clock::Real().NowNs() + kSecond;
  while (Runs()) {
    if (Clock::Real().NowNs() > deadline) ::kill(-pid_, SIGKILL);
    ::poll(nullptr, 0, 5);
  }
}

IndexServer::~IndexServer() { Stop(); }

}  // namespace portolan
