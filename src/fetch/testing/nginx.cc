#include "fetch/testing/nginx.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

extern char** environ;

namespace portolan {
namespace {

constexpr const char* kProgram = "/usr/sbin/nginx";
constexpr int kBacklog = 4096;

// 127.0.0.`last` with the port, or with any free one where it is 0; -1 if it is in use.
int Listen(size_t last, uint16_t* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);  // nginx takes it as it is
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x7f000000 + static_cast<uint32_t>(last));
  address.sin_port = htons(*port);
  socklen_t size = sizeof(address);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 || listen(fd, kBacklog) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    close(fd);
    return -1;
  }
  *port = ntohs(address.sin_port);
  return fd;
}

// The same port on every address.
std::vector<int> ListenOnAll(size_t addresses, uint16_t* port) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    *port = 0;
    std::vector<int> fds;
    while (fds.size() < addresses) {
      const int fd = Listen(fds.size() + 1, port);
      if (fd < 0) break;
      fds.push_back(fd);
    }
    if (fds.size() == addresses) return fds;
    for (const int fd : fds) close(fd);
  }
  return {};
}

}  // namespace

bool Nginx::Installed() { return access(kProgram, X_OK) == 0; }

Nginx::Nginx(const std::string& dir, const std::string& listen_flags, const std::string& server_lines,
             size_t addresses) {
  const std::vector<int> fds = ListenOnAll(addresses, &port_);
  if (fds.empty()) return;
  std::string listens;
  std::string inherited = "NGINX=";
  for (size_t i = 0; i < fds.size(); ++i) {
    listens += fmt::format("listen 127.0.0.{}:{}{} backlog={}; ", i + 1, port_, listen_flags, kBacklog);
    inherited += fmt::format("{};", fds[i]);
    fcntl(fds[i], F_SETFD, 0);
  }
  std::string config = dir + "/nginx.conf";
  std::ofstream(config) << fmt::format(
      "daemon off; worker_processes 1; pid {0}/nginx.pid; error_log {0}/error.log;\n"
      "events {{ worker_connections 4096; }}\n"
      "http {{ access_log off; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3;\n"
      "  uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5; default_type text/html; keepalive_requests 1000000;\n"
      "  server {{ {1} root {0}; {2} }} }}\n",
      dir, listens, server_lines);
  std::vector<char*> environment = {inherited.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  std::string program = kProgram;
  std::string c = "-c";
  std::string e = "-e";
  std::string log = dir + "/error.log";
  std::array<char*, 6> argv = {program.data(), c.data(), config.data(), e.data(), log.data(), nullptr};
  if (posix_spawn(&pid_, kProgram, nullptr, nullptr, argv.data(), environment.data()) != 0) pid_ = -1;
  for (const int fd : fds) close(fd);
}

Nginx::~Nginx() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

}  // namespace portolan
