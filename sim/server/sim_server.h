// SimServer: the simulated web on real sockets of this machine's loopback: DNS, HTTP/1, TLS and HTTP/2.
//
//   auto sockets = BindSimSockets(options);            // ports are known now, so that the world's URLs can have them
//   auto server = SimServer::Start(options, *std::move(sockets), site);
//   …
//   (*server)->Stop();
//
// Nothing outside this machine can reach it (loopback_socket.h).
//
// Thread: Start, Stop and the destructor by one owner; the server has `threads` threads of its own, which share the
// listening sockets. The first of them also answers DNS.
// Memory bound: `most_connections` connections (further ones wait in the kernel's queue until one ends), the visit
// table, the certificates (tls_identity.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/clock.h"
#include "sim/server/loopback_socket.h"
#include "sim/server/site.h"
#include "sim/server/visit_table.h"
#include "sim/world/hit_log.h"

namespace portolan::sim {

struct SimServerOptions {
  BindOptions bind;
  uint16_t dns_port = 0;  // 0: a free one
  uint16_t http_port = 0;
  uint16_t https_port = 0;
  size_t threads = 1;
  bool http2 = true;             // offered by ALPN
  HitSink* hits = nullptr;       // outlives the server
  const Clock* clock = nullptr;  // the world's calendar; nullptr: the real one
  size_t most_connections = 20'000;
  int64_t idle_ns = 75 * kSecond;  // a connection on which nothing happens for this long is closed
  size_t visit_entries = VisitTable::kDefaultEntries;
};

struct SimSockets {
  BoundPort dns;
  BoundPort http;
  BoundPort https;
};
Result<SimSockets> BindSimSockets(const SimServerOptions& options);

struct SimPorts {
  uint16_t dns = 0;
  uint16_t http = 0;
  uint16_t https = 0;
  bool v6 = false;  // ::1 is served too
};

struct SimStats {
  uint64_t connections = 0;  // accepted so far
  uint64_t open = 0;
};

class SimServer {
 public:
  // REQUIRES: `site` outlives the server.
  static Result<std::unique_ptr<SimServer>> Start(const SimServerOptions& options, const Site& site);
  static Result<std::unique_ptr<SimServer>> Start(const SimServerOptions& options, SimSockets sockets,
                                                  const Site& site);
  ~SimServer();  // stops

  SimPorts ports() const;
  const std::string& ca_pem() const;  // what clients have to trust
  SimStats stats() const;             // thread: any

  // Closes and logs every connection. A second call does nothing.
  void Stop();

 private:
  class Worker;
  struct Shared;
  explicit SimServer(std::unique_ptr<Shared> shared);

  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace portolan::sim
