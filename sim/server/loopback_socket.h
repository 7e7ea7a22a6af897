// Sockets that nothing outside this machine can reach. The only place in the simulated web that binds.
//
// All of 127.0.0.0/8 is served by one socket: bound to the wildcard address, which is allowed only together with
// SO_BINDTODEVICE on the loopback interface. Where the system refuses that, the addresses of a list are bound one by
// one. Packets to this machine's outside addresses travel over the loopback interface too when they come from this
// machine: so every accepted connection and every datagram is checked for the address that it came to
// (IsLoopbackAddress).

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace portolan::sim {

// A file descriptor that closes itself.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~OwnedFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Reset();

 private:
  int fd_ = -1;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool v6() const { return storage.ss_family == AF_INET6; }
  uint16_t port() const;
};

// 127.0.0.0/8 or ::1.
bool IsLoopbackAddress(const SocketAddress& address);
// Appends "127.0.0.1" or "::1": no port.
void AppendAddress(const SocketAddress& address, std::string& out);

struct BindOptions {
  // Bind these one by one instead of all of 127.0.0.0/8 and ::1 at once.
  std::vector<std::string> addresses;
  // As if the system refused SO_BINDTODEVICE: for tests of the fallback, which binds `fallback`.
  bool no_device = false;
  std::vector<std::string> fallback = {"127.0.0.1", "::1"};
};

// Sockets of one port; the same for all addresses.
struct BoundPort {
  uint16_t port = 0;
  bool v6 = false;                 // ::1 is among them
  std::vector<OwnedFd> streams;    // listening
  std::vector<OwnedFd> datagrams;  // with IP_PKTINFO
};

// Non-blocking sockets on `port`, or on a free one for 0. kInvalidArgument for an address that is no loopback address,
// whatever else is said. A machine without IPv6 is no error.
Result<BoundPort> BindLoopback(const BindOptions& options, uint16_t port, bool streams, bool datagrams);

}  // namespace portolan::sim
