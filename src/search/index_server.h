// IndexServer: a server of Xapian's remote protocol for the parts of an index, so that searchers on other machines can
// ask them (remote_part.h).
//
// Xapian's server is no part of its library's interface, so it is the program xapian-tcpsrv of the package
// xapian-tools, as a child. It only reads. Each connection is a process of its own, which a hostile question can keep
// busy; the protocol knows no passwords and lets a client read the whole index. So it listens on loopback only: to
// reach it from another machine, put a tunnel (ssh, WireGuard) before it.
//
// Thread: one owner. It ends with its owner: by Stop, by the destructor, and by the system when this process is killed.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/clock.h"

namespace portolan {

class IndexServer {
 public:
  static constexpr int64_t kStartNs = 10 * kSecond;
  static constexpr int kIdleMs = 60'000;   // a connection without a question is closed
  static constexpr int kActiveMs = 5'000;  // and one whose client does not read

  // `host` is an address of this machine ("127.0.0.1"); port 0: any that is free. kNotFound: xapian-tcpsrv is not
  // installed. kIo: it does not start; what it said is on standard error.
  static Result<std::unique_ptr<IndexServer>> Start(const std::vector<std::string>& dirs, const std::string& host,
                                                    uint16_t port);
  ~IndexServer();
  IndexServer(const IndexServer&) = delete;
  IndexServer& operator=(const IndexServer&) = delete;

  uint16_t port() const { return port_; }
  // Ends it and all its connections.
  void Stop();
  // False: it has ended by itself.
  bool Runs();

 private:
  IndexServer(pid_t pid, uint16_t port) : pid_(pid), port_(port) {}

  pid_t pid_;  // 0: it has ended
  uint16_t port_;
};

}  // namespace portolan
