#include "fetch/testing/nginx.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "fetch/testing/script_server.h"

extern char** environ;

namespace portolan {
namespace {

constexpr const char* kProgram = "/usr/sbin/nginx";

bool Listens(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool good = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return good;
}

}  // namespace

bool Nginx::Installed() { return access(kProgram, X_OK) == 0; }

Nginx::Nginx(const std::string& dir, const std::string& listen_flags, const std::string& server_lines,
             size_t addresses) {
  // Another program may take the port between our look and nginx's; then another one is tried.
  for (int attempt = 0; attempt < 5 && pid_ < 0; ++attempt) {
    port_ = ClosedPort();
    std::string listens;
    for (size_t i = 1; i <= addresses; ++i) {
      listens += fmt::format("listen 127.0.0.{}:{}{} backlog=4096; ", i, port_, listen_flags);
    }
    const std::string config = dir + "/nginx.conf";
    std::ofstream(config) << fmt::format(
        "daemon off; master_process off; worker_processes 1; pid {0}/nginx.pid; error_log {0}/error.log;\n"
        "events {{ worker_connections 4096; }}\n"
        "http {{ access_log off; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3;\n"
        "  uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5; default_type text/html; keepalive_requests 1000000;\n"
        "  server {{ {1} root {0}; {2} }} }}\n",
        dir, listens, server_lines);
    std::string program = kProgram;
    std::string c = "-c";
    std::string e = "-e";
    std::string log = dir + "/error.log";
    std::string path = config;
    std::array<char*, 6> argv = {program.data(), c.data(), path.data(), e.data(), log.data(), nullptr};
    pid_t pid = -1;
    if (posix_spawn(&pid, kProgram, nullptr, nullptr, argv.data(), environ) != 0) return;
    for (int i = 0; i < 500; ++i) {
      if (waitpid(pid, nullptr, WNOHANG) == pid) break;  // it ended: the port, or the configuration
      if (Listens(port_)) {
        pid_ = pid;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // nginx tells nobody that it is ready
    }
  }
}

Nginx::~Nginx() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

}  // namespace portolan
