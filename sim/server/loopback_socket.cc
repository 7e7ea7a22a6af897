#include "sim/server/loopback_socket.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "flow/address.h"

namespace portolan::sim {
namespace {

constexpr int kBacklog = 4096;
constexpr int kFreePortTries = 50;
constexpr int kDatagramBufferBytes = 4 << 20;  // a burst of some ten thousand questions

struct Target {
  Address address;
  bool all = false;  // all of the family's loopback addresses
};

SocketAddress ToSocketAddress(const Target& target, uint16_t port) {
  SocketAddress out;
  if (target.address.v6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    std::memcpy(&v6->sin6_addr, target.address.bytes.data(), 16);
    out.size = sizeof(sockaddr_in6);
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    if (!target.all) std::memcpy(&v4->sin_addr, target.address.bytes.data(), 4);
    out.size = sizeof(sockaddr_in);
  }
  return out;
}

Result<OwnedFd> OpenBound(const Target& target, int type, uint16_t port) {
  OwnedFd fd(::socket(target.address.v6 ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return std::unexpected(Error::FromErrno(errno, "socket"));
  const int one = 1;
  if (target.address.v6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (type == SOCK_STREAM) {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);  // accepted sockets have it from here
  } else {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kDatagramBufferBytes, sizeof kDatagramBufferBytes);
    const int level = target.address.v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    const int option = target.address.v6 ? IPV6_RECVPKTINFO : IP_PKTINFO;
    if (::setsockopt(fd.get(), level, option, &one, sizeof one) != 0) {
      return std::unexpected(Error::FromErrno(errno, "setsockopt PKTINFO"));
    }
  }
  if (target.all && ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) != 0) {
    return std::unexpected(Error::FromErrno(errno, "setsockopt SO_BINDTODEVICE lo"));
  }
  const SocketAddress address = ToSocketAddress(target, port);
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    return std::unexpected(Error::FromErrno(errno, fmt::format("bind {} port {}", target.address.ToString(), port)));
  }
  if (type == SOCK_STREAM && ::listen(fd.get(), kBacklog) != 0) {
    return std::unexpected(Error::FromErrno(errno, "listen"));
  }
  return fd;
}

Result<uint16_t> PortOf(int fd) {
  SocketAddress address;
  if (::getsockname(fd, address.get(), &address.size) != 0) {
    return std::unexpected(Error::FromErrno(errno, "getsockname"));
  }
  return address.port();
}

bool HasIpv6() { return OpenBound({*Address::Parse("::1"), false}, SOCK_DGRAM, 0).has_value(); }

bool MayBindToDevice() {
  const OwnedFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0;
}

Result<std::vector<Target>> TargetsOf(const BindOptions& options) {
  std::vector<Target> targets;
  const bool listed = !options.addresses.empty();
  if (!listed && !options.no_device && MayBindToDevice()) {
    targets.push_back({Address::V4(INADDR_LOOPBACK), true});
    if (HasIpv6()) targets.push_back({*Address::Parse("::1"), false});
    return targets;
  }
  for (const std::string& text : listed ? options.addresses : options.fallback) {
    const auto address = Address::Parse(text);
    if (!address) return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no address", text));
    if (!IsLoopbackAddress(ToSocketAddress({*address, false}, 0))) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: the simulated web is served on 127.0.0.0/8 and ::1 only", text));
    }
    if (address->v6 && !listed && !HasIpv6()) continue;
    targets.push_back({*address, false});
  }
  if (targets.empty()) return Fail(ErrorCode::kInvalidArgument, "no address to serve");
  return targets;
}

Result<BoundPort> BindAll(const std::vector<Target>& targets, uint16_t port, bool streams, bool datagrams) {
  BoundPort bound;
  bound.port = port;
  for (const Target& target : targets) {
    bound.v6 = bound.v6 || target.address.v6;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      if (!(type == SOCK_STREAM ? streams : datagrams)) continue;
      ASSIGN_OR_RETURN(OwnedFd fd, OpenBound(target, type, bound.port));
      if (bound.port == 0) {
        ASSIGN_OR_RETURN(bound.port, PortOf(fd.get()));
      }
      (type == SOCK_STREAM ? bound.streams : bound.datagrams).push_back(std::move(fd));
    }
  }
  return bound;
}

}  // namespace

void OwnedFd::Reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

uint16_t SocketAddress::port() const {
  return v6() ? ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port)
              : ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

bool IsLoopbackAddress(const SocketAddress& address) {
  if (address.v6()) return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr);
  return address.storage.ss_family == AF_INET &&
         (ntohl(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr) >> 24) == 127;
}

void AppendAddress(const SocketAddress& address, std::string& out) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.v6()) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr, text, sizeof text);
  }
  out += text;
}

Result<BoundPort> BindLoopback(const BindOptions& options, uint16_t port, bool streams, bool datagrams) {
  ASSIGN_OR_RETURN(const std::vector<Target> targets, TargetsOf(options));
  // A port that is free for the first socket may be taken for the next one: then another is tried.
  for (int i = 1;; ++i) {
    auto bound = BindAll(targets, port, streams, datagrams);
    if (bound || port != 0 || i == kFreePortTries) return bound;
  }
}

}  // namespace portolan::sim
