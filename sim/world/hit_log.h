// The hit log: what clients did to the simulated web, one line of tab-separated fields per event, in the order of time.
//
//   H <unix_ns> <connection> <address> <host> <tls 0|1> <method> <path and query> <status> <bytes sent> <end_ns> <user
//   agent> <http 1|2|1c|2c>
//       a request that was read whole at unix_ns; answered (or given up) at end_ns, over HTTP/1 or HTTP/2; c: it was
//       conditional
//   O <unix_ns> <connection> <address> <port>      a connection was accepted
//   C <unix_ns> <connection>                       and the client has closed it, or the server did not wait longer
//   D <unix_ns> <name> <type> <rcode>              a DNS question
//   W <version> <profile> <seed> <parameters>      the first line: which world this is
//
// A request is open from unix_ns to end_ns, and these two are in the order of cause and effect: end_ns is taken before
// the answer's last byte is handed to the system, so whatever the client asks after it has read the answer is stamped
// later. Requests that came together are all stamped before the first of them is answered. So requests of which one
// waits for the other never overlap in the log, and those that were open at once do, however fast the answers are.
//
// O and C are in that order, too, if the server has one thread: a client that closes a connection and then opens
// another is never seen with both.
//
// <address> is the local address that the client connected to, which IP politeness is about. Bytes below 0x21, '%' and
// 0x7f in names and paths are percent-encoded. Otherwise the path is kept as the client sent it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan::sim {

struct Hit {
  int64_t unix_ns = 0;
  int64_t end_ns = 0;
  uint64_t connection = 0;
  std::string_view address;
  std::string_view host;
  bool tls = false;
  bool http2 = false;
  bool conditional = false;  // with If-None-Match or If-Modified-Since
  std::string_view method;
  std::string_view path_and_query;
  std::string_view user_agent;
  int status = 0;
  uint64_t bytes = 0;
};

class HitSink {
 public:
  virtual ~HitSink() = default;
  virtual void OnHit(const Hit& hit) = 0;
  virtual void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) = 0;
  virtual void OnClose(int64_t unix_ns, uint64_t connection) = 0;
  virtual void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) = 0;
};

}  // namespace portolan::sim
