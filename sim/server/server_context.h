// ServerContext: what the connections of one server thread share.
//
// Thread: one server thread, except for the referenced objects, which are safe for all.
// Memory bound: kScratchBytes, and `most_connections` connections.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "sim/server/poller.h"
#include "sim/server/site.h"
#include "sim/server/tls_identity.h"
#include "sim/server/visit_table.h"
#include "sim/world/hit_log.h"

namespace portolan::sim {

// The parts of a request that the answer and the hit log depend on, for HTTP/1 and HTTP/2.
struct RequestFacts {
  std::string_view method;
  std::string_view host;
  std::string_view path_and_query;
  std::string_view if_none_match;
  std::string_view if_modified_since;
  std::string_view accept_encoding;
  std::string_view user_agent;
};

// The client and its connection. Constant while a connection lives.
struct ConnectionFacts {
  uint64_t id = 0;
  bool tls = false;
  uint16_t port = 0;      // the local one
  int64_t opened_ns = 0;  // unix time
  std::string address;    // the local one
  std::string client;     // the remote one
};

struct ServerContext {
  static constexpr size_t kScratchBytes = size_t{64} << 10;

  const Site& site;
  const Clock& clock;
  HitSink* hits;  // may be nullptr
  VisitTable& visits;
  TlsIdentity& tls;
  Poller& poller;
  int64_t idle_ns;  // a connection on which nothing happens for this long is closed

  std::vector<char> scratch = std::vector<char>(kScratchBytes);  // for reads; free between callbacks

  // Counts the visit and asks the site.
  SharedAnswer Ask(const RequestFacts& request, const ConnectionFacts& connection, int64_t unix_ns);
  // The calendar time at the beginning of the poller's round: the round's events had happened by then.
  int64_t RoundUnixNs() const { return clock.UnixNs() - (Clock::Real().NowNs() - poller.now_ns()); }
  // Value of the Date field now.
  std::string_view Date(int64_t unix_ns);

 private:
  int64_t date_second_ = -1;
  std::string date_;

 public:
  ServerContext(const Site& a_site, const Clock& a_clock, HitSink* some_hits, VisitTable& some_visits,
                TlsIdentity& a_tls, Poller& a_poller, int64_t an_idle_ns)
      : site(a_site),
        clock(a_clock),
        hits(some_hits),
        visits(some_visits),
        tls(a_tls),
        poller(a_poller),
        idle_ns(an_idle_ns) {}
};

}  // namespace portolan::sim
