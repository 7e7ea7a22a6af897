// RemotePart: a part of an index on another machine, behind a server of Xapian's remote protocol (`portolan index
// serve`).
//
// Every step has a time limit of its own, kept by poll on the socket, whatever the server sends and however slowly.
// What it says is read by xapian_wire.h. So a part that hangs, breaks off or lies costs its hits and kStepNs at most
// per step and is named; it cannot make the searcher wait, crash or use memory. What is believed: its pages' titles,
// URLs and scores, and its statistics within what is possible. So run servers only where their machine is trusted with
// the order of results.
//
// Thread: any number; each asker has a connection, kMaxIdle of which are kept for the next question. Memory bound: per
// asker kMaxWireMessage.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/clock.h"
#include "search/search_part.h"
#include "search/xapian_wire.h"

namespace portolan {

// "127.0.0.1:8019", "[::1]:8019", "search2.example.org:8019".
struct RemoteAddress {
  std::string host;
  std::string port;
  static Result<RemoteAddress> Parse(std::string_view text);
};

class RemoteConnection;

class RemotePart : public SearchPart {
 public:
  static constexpr size_t kMaxIdle = 8;

  // `step_ns`: how long each step may take. The name is resolved here, once: resolvers have no time limit.
  static Result<std::unique_ptr<RemotePart>> Make(const Clock& clock, const std::string& address, int64_t step_ns);
  ~RemotePart() override;

  const std::string& name() const override { return name_; }
  bool local() const override { return false; }
  Result<std::unique_ptr<PartAsker>> Ask(int64_t deadline_ns) override;

 private:
  friend class RemoteAsker;
  RemotePart(const Clock& clock, std::string name, int64_t step_ns);
  void Return(std::unique_ptr<RemoteConnection> connection);

  const Clock& clock_;
  const std::string name_;
  const int64_t step_ns_;
  std::string address_;  // a sockaddr
  std::mutex mutex_;
  std::vector<std::unique_ptr<RemoteConnection>> idle_;
};

}  // namespace portolan
