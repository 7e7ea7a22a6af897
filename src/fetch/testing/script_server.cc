#include "fetch/testing/script_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"

namespace portolan {
namespace {

int ListenOnLoopback(uint16_t* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  socklen_t size = sizeof(address);
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  CHECK(listen(fd, 512) == 0);
  *port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

ScriptConnection::~ScriptConnection() { Close(); }

bool ScriptConnection::Accept(SSL_CTX* context) {
  ssl_ = SSL_new(context);
  CHECK(ssl_ != nullptr && SSL_set_fd(ssl_, fd_) == 1);
  return SSL_accept(ssl_) == 1;
}

std::string ScriptConnection::ReadHead() {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char byte = 0;
    const auto got = ssl_ != nullptr ? SSL_read(ssl_, &byte, 1) : static_cast<int>(recv(fd_, &byte, 1, 0));
    if (got <= 0) return "";
    head += byte;
  }
  return head;
}

bool ScriptConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = std::min<size_t>(bytes.size(), 1 << 20);
    const auto sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(size))
                                      : static_cast<int>(send(fd_, bytes.data(), size, MSG_NOSIGNAL));
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void ScriptConnection::Reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  Close();
}

void ScriptConnection::Close() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  ssl_ = nullptr;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void ScriptConnection::Goodbye() { SSL_shutdown(ssl_); }

std::string ScriptConnection::Read(size_t bytes) {
  std::string read(bytes, '\0');
  return recv(fd_, read.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes) ? read : "";
}

void ScriptConnection::WaitForPeerEnd() {
  char byte = 0;
  while (recv(fd_, &byte, 1, 0) > 0) {
  }
}

bool ScriptConnection::tls_resumed() const { return ssl_ != nullptr && SSL_session_reused(ssl_) == 1; }

ScriptServer::ScriptServer(Script script, SSL_CTX* context) : script_(std::move(script)), context_(context) {
  listener_ = ListenOnLoopback(&port_);
  acceptor_ = std::thread([this] { AcceptAll(); });
}

ScriptServer::~ScriptServer() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  for (const int fd : open_) close(fd);
}

std::string ScriptServer::Url(std::string_view path, std::string_view host) const {
  return fmt::format("http{}://{}:{}{}", context_ != nullptr ? "s" : "", host, port_, path);
}

void ScriptServer::AcceptAll() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ++connections_;
    // A second descriptor lets the destructor wake the script whatever the script did with its own.
    const int watcher = dup(fd);
    const std::lock_guard lock(mutex_);
    if (stopping_) shutdown(fd, SHUT_RDWR);
    open_.push_back(watcher);
    threads_.emplace_back([this, fd, watcher] {
      sigset_t pipe;
      sigemptyset(&pipe);
      sigaddset(&pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
      {
        ScriptConnection connection(fd);
        if (context_ == nullptr || connection.Accept(context_)) script_(connection);
        const std::lock_guard inner(mutex_);
        std::erase(open_, watcher);
        close(watcher);
      }
    });
  }
}

uint16_t ClosedPort() {
  uint16_t port = 0;
  close(ListenOnLoopback(&port));
  return port;
}

}  // namespace portolan
