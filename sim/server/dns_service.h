// DnsService: the DNS of the simulated web on UDP and TCP (RFC 1035, 7766).
//
// An answer leaves from the address that the question came to. Questions for the world's names get its DnsAnswer: other
// types than A and AAAA (and ANY, which is both) get an empty answer. A slow answer waits in a queue, a silent one is
// only logged.
//
// Thread: one server thread. Memory bound: kMostWaiting slow answers (more are answered at once, counted in
// `hurried()`), kMostClients TCP clients with one message of at most 64 KiB each way (more are closed at once).

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sim/server/dns_message.h"
#include "sim/server/loopback_socket.h"
#include "sim/server/poller.h"
#include "sim/server/server_context.h"

namespace portolan::sim {

class DnsService {
 public:
  static constexpr size_t kMostWaiting = 10'000;
  static constexpr size_t kMostClients = 1'000;
  static constexpr int64_t kIdleNs = 10 * kSecond;

  // REQUIRES: `context` and `port` outlive it.
  DnsService(ServerContext& context, const BoundPort& port);
  ~DnsService();

  uint64_t hurried() const { return hurried_; }

 private:
  class Datagrams;
  class Listener;
  class Client;

  struct Reply {
    std::string bytes;  // empty: none is sent
    int64_t delay_ns = 0;
  };
  // Asks the site and logs the question. Nothing if it is not a question.
  std::optional<Reply> Answer(std::string_view packet, bool datagram);
  bool MayWait();

  ServerContext& context_;
  std::vector<std::unique_ptr<Datagrams>> datagrams_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unordered_set<Client*> clients_;
  size_t waiting_ = 0;
  uint64_t hurried_ = 0;
};

}  // namespace portolan::sim
