// Nginx: a real web server in a directory of its own, on a free loopback port, for as long as the object lives.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace portolan {

class Nginx {
 public:
  static bool Installed();

  // `server_lines` go into the server block after "listen 127.0.0.1:PORT<listen_flags>;". Files are served from root().
  Nginx(const std::string& dir, const std::string& listen_flags, const std::string& server_lines);
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
