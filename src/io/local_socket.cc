#include "io/local_socket.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "io/env.h"

namespace portolan {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::unexpected<Error> Failed(const std::string& path, const char* what) {
  const ErrorCode code = errno == ENOENT || errno == ECONNREFUSED ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Fail(code, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

// Calls `use` with a socket address for `path`; `use` returns 0 for success. A long path is reached through its
// directory's descriptor.
template <typename Use>
Status WithAddress(const std::string& path, const char* what, Use use) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = path;
  const bool direct = path.size() < sizeof(address.sun_path);
  const std::string above = DirName(path);
  const Descriptor dir(direct ? -1 : open(above.empty() ? "." : above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!direct) {
    if (dir.get() < 0) return Failed(path, "open");
    name = fmt::format("/proc/self/fd/{}/{}", dir.get(), path.substr(path.rfind('/') + 1));
    if (name.size() >= sizeof(address.sun_path)) {
      return Fail(ErrorCode::kInvalidArgument, path + ": the name of a socket is too long");
    }
  }
  std::copy(name.begin(), name.end(), address.sun_path);
  if (use(reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return Failed(path, what);
  return {};
}

}  // namespace

Result<std::unique_ptr<LocalServer>> LocalServer::Listen(EventLoop& loop, const std::string& path, OnLine on_line) {
  std::unique_ptr<LocalServer> server(new LocalServer(loop, path, std::move(on_line)));
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Failed(path, "socket");
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return Fail(ErrorCode::kExists, path + ": exists and is not a socket");
    unlink(path.c_str());
  }
  // Before the name exists, so that other users can never connect, not even for a moment.
  if (fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) return Failed(path, "chmod");
  RETURN_IF_ERROR(WithAddress(path, "bind",
                              [&](const sockaddr* address, socklen_t size) { return bind(fd.get(), address, size); }));
  server->fd_ = fd.Release();  // from here on the server removes the name
  if (listen(server->fd_, kMaxClients) != 0) return Failed(path, "listen");
  LocalServer* const raw = server.get();
  ASSIGN_OR_RETURN(server->watch_,
                   loop.WatchFd(server->fd_, true, false, [raw](EventLoop::Readiness) { raw->OnConnect(); }));
  server->watched_ = true;
  return server;
}

LocalServer::~LocalServer() {
  while (!clients_.empty()) Drop(clients_.begin()->first);
  if (watched_) loop_.Cancel(watch_);
  if (fd_ < 0) return;
  close(fd_);
  unlink(path_.c_str());
}

void LocalServer::OnConnect() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (clients_.size() >= kMaxClients) {
    close(fd);
    return;
  }
  const ClientId id = next_++;
  Client& client = clients_[id];
  client.fd = fd;
  client.timer = loop_.AddTimer(kClientNs, [this, id] { Drop(id); });
  auto watch = loop_.WatchFd(fd, true, false, [this, id](EventLoop::Readiness) { OnReadable(id); });
  if (!watch) return Drop(id);
  client.watch = *watch;
  client.watched = true;
}

void LocalServer::OnReadable(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  char bytes[kMaxLine];
  const ssize_t got = recv(client.fd, bytes, sizeof(bytes), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Drop(id);
  client.line.append(bytes, static_cast<size_t>(got));
  const size_t end = client.line.find('\n');
  if (end == std::string::npos) {
    if (client.line.size() >= kMaxLine) Drop(id);
    return;
  }
  // One question per connection; anything after it is ignored.
  loop_.Cancel(client.watch);
  client.watched = false;
  const std::string line = client.line.substr(0, end);
  on_line_(id, line);
}

void LocalServer::Answer(ClientId id, std::string_view line) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  const std::string text = std::string(line) + "\n";
  // A line fits into an empty socket buffer; if it cannot be written, the client did not ask properly.
  static_cast<void>(send(found->second.fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  Drop(id);
}

void LocalServer::Drop(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  if (found->second.watched) loop_.Cancel(found->second.watch);
  loop_.Cancel(found->second.timer);
  close(found->second.fd);
  clients_.erase(found);
}

Result<std::string> AskLocal(const std::string& path, std::string_view line, int64_t timeout_ns) {
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return Failed(path, "socket");
  RETURN_IF_ERROR(WithAddress(
      path, "connect", [&](const sockaddr* address, socklen_t size) { return connect(fd.get(), address, size); }));
  const std::string question = std::string(line) + "\n";
  if (send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(question.size())) {
    return Failed(path, "send");
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  std::string answer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int ready = left.count() <= 0 ? 0 : poll(&wait, 1, static_cast<int>(left.count()) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Fail(ErrorCode::kBusy, path + ": no answer in time");
    char bytes[4096];
    const ssize_t got = recv(fd.get(), bytes, sizeof(bytes), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Fail(ErrorCode::kNotFound, path + ": the connection was closed without an answer");
    answer.append(bytes, static_cast<size_t>(got));
    if (const size_t end = answer.find('\n'); end != std::string::npos) return answer.substr(0, end);
    if (answer.size() > sizeof(bytes)) return Fail(ErrorCode::kCorrupt, path + ": the answer has no line end");
  }
}

}  // namespace portolan
