// LocalServer, AskLocal: another process on this machine sends one line and gets one line back, over a Unix-domain
// socket that has a name in the file system.
//
// Only the server's user may connect (mode 0600); a socket that a dead process left behind is replaced. The caller must
// make sure by other means (a lock) that only one server listens. Paths may have any length: the system's limit of 107
// bytes is avoided through /proc/self/fd.
//
// Thread: LocalServer belongs to its loop's thread. Memory bound: kMaxClients × kMaxLine bytes; clients beyond that
// number, or silent for kClientNs, are disconnected.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "io/event_loop.h"

namespace portolan {

class LocalServer {
 public:
  using ClientId = uint64_t;
  // Called with a whole line, without its line end. Answer may be called inside it or later.
  using OnLine = std::function<void(ClientId client, const std::string& line)>;

  static constexpr size_t kMaxClients = 16;
  static constexpr size_t kMaxLine = 256;
  static constexpr int64_t kClientNs = 60'000'000'000;

  static Result<std::unique_ptr<LocalServer>> Listen(EventLoop& loop, const std::string& path, OnLine on_line);
  // Disconnects all clients and removes the name.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Sends one line (given without its line end) and closes the connection. Ignored for a client that is gone.
  void Answer(ClientId client, std::string_view line);

 private:
  struct Client {
    int fd = -1;
    std::string line;
    EventLoop::Id watch{};
    EventLoop::Id timer{};
    bool watched = false;
  };

  LocalServer(EventLoop& loop, std::string path, OnLine on_line)
      : loop_(loop), path_(std::move(path)), on_line_(std::move(on_line)) {}
  void OnConnect();
  void OnReadable(ClientId id);
  void Drop(ClientId id);

  EventLoop& loop_;
  const std::string path_;
  const OnLine on_line_;
  int fd_ = -1;
  EventLoop::Id watch_{};
  bool watched_ = false;
  ClientId next_ = 1;
  std::unordered_map<ClientId, Client> clients_;
};

// Blocks. kNotFound: there is no server. kBusy: no answer within `timeout_ns`.
Result<std::string> AskLocal(const std::string& path, std::string_view line, int64_t timeout_ns);

}  // namespace portolan
