// Request and Answer of the simulated web, down to the bytes on the wire.
//
// An Answer is data. The server (sim/server) plays it on sockets, the virtual web (sim/virtual) only in time, so both
// show the same web. Misbehaviour is part of the answer: when nothing comes, when it stops, what is cut.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace portolan::sim {

struct Request {
  std::string_view method = "GET";
  std::string_view host;            // name as in the Host header, no port, lower case
  std::string_view path_and_query;  // "/a?b"
  std::string_view if_none_match;
  std::string_view if_modified_since;
  std::string_view accept_encoding;  // "" : identity only
  std::string_view user_agent;
  bool tls = false;
  bool head_alone = false;  // of a healthy page the body is not needed: it stays empty
  int64_t unix_ns = 0;      // the world's time: pages change with it
  // How many requests this client made to this URL before: answers such as "503, then fine" depend on it.
  uint32_t earlier = 0;
};

// How the bytes of an answer reach the client.
enum class WireFault : uint8_t {
  kNone,
  kReset,          // RST before any byte
  kResetInBody,    // RST after `fault_at` bytes of the body
  kCloseEarly,     // FIN after `fault_at` bytes of the body; Content-Length promised more
  kEmptyReply,     // FIN without a byte
  kSlowFirstByte,  // nothing for `delay_ns`, then normal
  kTarpit,         // one byte each `delay_ns`, head included
  kEndless,        // the body goes on for ever (chunked or to the close)
  kLongLength,     // Content-Length is `fault_at`, larger than the body; then FIN
  kShortLength,    // Content-Length is `fault_at`, smaller than the body
  kHeaderFlood,    // head of `fault_at` bytes
  kGarbage,        // bytes that are no HTTP
  kHttp09,         // the body alone
  kBadChunks,      // chunk sizes that are no numbers
};
std::string_view WireFaultName(WireFault fault);

enum class Framing : uint8_t { kLength, kChunked, kClose };

struct Answer {
  int status = 200;
  // Content-Type, ETag, Last-Modified, Location, Retry-After, X-Robots-Tag, Content-Encoding …; never Content-Length,
  // Transfer-Encoding or Connection: the server sets those, from `framing` and `keep_alive`.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // as sent: content coding applied
  Framing framing = Framing::kLength;
  bool http10 = false;          // answers "HTTP/1.0", closes
  bool keep_alive = true;       // false: "Connection: close"
  bool cut_keep_alive = false;  // says keep-alive and closes nevertheless after this answer
  WireFault fault = WireFault::kNone;
  uint64_t fault_at = 0;
  int64_t delay_ns = 0;
  int64_t latency_ns = 0;  // virtual world only: how long a healthy answer takes; the server adds nothing
};

enum class DnsFault : uint8_t { kNone, kNotFound, kServFail, kSilent, kSlow };

struct DnsAnswer {
  DnsFault fault = DnsFault::kNone;
  std::vector<uint32_t> v4;                       // host byte order
  std::vector<std::pair<uint64_t, uint64_t>> v6;  // high and low half
  uint32_t ttl_s = 300;
  int64_t delay_ns = 0;  // for kSlow
};

// Which certificate a host's TLS shows.
enum class Certificate : uint8_t { kGood, kExpired, kSelfSigned, kWrongHost };

}  // namespace portolan::sim
