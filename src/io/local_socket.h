// LocalServer, AskLocal: a question of one line from another process of this machine, and its answer of one line, over
// a Unix-domain socket that has a name in the file system.
//
// The name is the server's alone (mode 0600); one that a dead process left behind is replaced. Who listens must know
// otherwise that nobody else does (a lock). Paths of any length: the system's limit of 107 bytes is met by way of
// /proc/self/fd.
//
// Thread: LocalServer belongs to its loop's thread. Memory bound: kMaxClients of kMaxLine bytes; who comes beyond that,
// or says nothing for kClientNs, is hung up on.

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
  // A whole line, without its end. Answer may be called from within or later.
  using OnLine = std::function<void(ClientId client, const std::string& line)>;

  static constexpr size_t kMaxClients = 16;
  static constexpr size_t kMaxLine = 256;
  static constexpr int64_t kClientNs = 60'000'000'000;

  static Result<std::unique_ptr<LocalServer>> Listen(EventLoop& loop, const std::string& path, OnLine on_line);
  // Hangs up on everybody; the name goes.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // One line, without its end, and the end of the connection. Ignored for a client that is gone.
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

// Blocks. kNotFound: nobody listens there. kBusy: no answer within `timeout_ns`.
Result<std::string> AskLocal(const std::string& path, std::string_view line, int64_t timeout_ns);

}  // namespace portolan
