// Nginx: a real web server in a directory of its own, on a free loopback port, for as long as the object lives.
//
// The listening sockets are ours and handed to nginx as it hands them to its successor in an upgrade, so that a client
// may connect at once: it waits in the queue until nginx is ready.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace portolan {

class Nginx {
 public:
  static bool Installed();

  // Listens on 127.0.0.1 … 127.0.0.`addresses` with the flags of nginx's "listen", and serves the files in `dir`.
  // `server_lines` go into the server block.
  Nginx(const std::string& dir, const std::string& listen_flags, const std::string& server_lines, size_t addresses = 1);
  ~Nginx();
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  bool running() const { return pid_ > 0; }
  uint16_t port() const { return port_; }

 private:
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

}  // namespace portolan
