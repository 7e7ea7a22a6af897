// FetchOptions: all options of fetching, with their defaults.
//
// Every limit is here and nowhere else; each names the outcome in which it ends.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "http/headers.h"
#include "io/byte_budget.h"
#include "io/clock.h"

namespace portolan {

// Of one fetch. If a limit cuts the body, an answer with a whole head is kept; without a whole head nothing is kept.
struct FetchLimits {
  int64_t connect_ns = 15 * kSecond;     // TCP and TLS; kConnectTimeout
  int64_t first_byte_ns = 30 * kSecond;  // from the request sent to the first line of the answer; kFirstByteTimeout
  int64_t total_ns = 120 * kSecond;      // kTimeCut; without a whole head kFirstByteTimeout or kConnectTimeout
  uint64_t lowest_speed = 256;  // bytes per second in each window once bytes come; ends like total_ns. 0: no limit
  int64_t speed_window_ns = 20 * kSecond;
  HeadLimits head;                               // interim answers and trailers count too; kHeadTooLarge
  uint64_t max_body = uint64_t{16} << 20;        // transfer coding removed, content coding on; kBodyCut
  uint64_t max_wire_bytes = uint64_t{17} << 20;  // heads, trailers and body together; kBodyCut, kHeadTooLarge
};

// Which addresses of a name are looked up, and which come first.
enum class AddressFamilies : uint8_t { kV4Only, kV6Only, kV4First, kV6First };

struct ResolverOptions {
  std::vector<std::string> servers;  // "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53"; none: the system's
  AddressFamilies families = AddressFamilies::kV4First;
  bool allow_private = false;  // non-public addresses are accepted and may be fetched from; otherwise kAddressForbidden
  std::string hosts_file = "/etc/hosts";  // takes precedence over the servers; empty: none
  // A proxy resolves all names: no name server is asked, and each name gets a placeholder (Address::Unresolved).
  // Literal addresses and localhost are still checked. Set by FetchLoops.
  bool names_by_proxy = false;
  HashKey key;                       // the crawl's: the placeholders are made with it
  int64_t timeout_ns = 2 * kSecond;  // of the first try with a server; doubles with each round
  int tries = 4;                     // of each server; kDnsTimeout
  uint32_t min_ttl_s = 60;           // answers with a shorter TTL are kept this long
  uint32_t max_ttl_s = 86'400;
  uint32_t negative_ttl_s = 900;        // of kDnsNotFound and kAddressForbidden
  uint32_t failure_ttl_s = 30;          // of kDnsFailed and kDnsTimeout
  size_t max_outstanding = 256;         // outstanding questions, one socket each; the others wait
  size_t max_waiting = 1 << 20;         // that wait; beyond it kLocal
  size_t cache_entries = 100'000;       // about 200 bytes each; the least recently used is dropped
  size_t max_addresses = 8;             // kept of an answer
  const Clock* clock = &Clock::Real();  // for the age of answers
};

// Fields that only the seeds' own servers may see (SeedHosts says which they are). The archive gets their names alone.
struct ForSeeds {
  std::vector<std::string> seeds;    // canonical URLs
  std::vector<std::string> headers;  // "Name: value"; to their registered domains, Authorization to their origins
  std::vector<std::string> cookies;  // "name=value"; to their registered domains
  std::string login;                 // "NAME:PASSWORD"; HTTP basic, to their origins

  bool wanted() const { return !headers.empty() || !cookies.empty() || !login.empty(); }
};

struct FetchOptions {
  size_t loops = 1;                // threads
  size_t max_in_flight = 1024;     // fetches that run at once per loop; the others wait
  size_t max_waiting = 1 << 16;    // fetches that wait per loop; beyond it kLocal
  size_t buffer_bytes = 32 << 10;  // read by libcurl at once; held by each of its fetches in flight

  bool reuse_connections = true;  // false: a new connection for each fetch
  // Kept open per loop. They cost time: libcurl looks at every idle connection to an address when it fetches from
  // there, and at all of them when one must be closed.
  size_t idle_connections = 512;
  size_t curl_connections = SIZE_MAX;  // of libcurl, in use or kept: connections above it are closed when a fetch ends
  int64_t idle_ns = 60 * kSecond;      // and for how long
  bool http2 = true;                   // over TLS, when the server offers it

  FetchLimits limits;

  std::string user_agent = "portolan";
  std::string from;  // the From field; empty: none
  std::string accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  std::string accept_encoding = "gzip, deflate, br, zstd";
  std::string accept_language;  // empty: none
  ForSeeds for_seeds;

  bool verify_tls = true;
  std::string ca_file;         // PEM; empty: the system's
  size_t tls_sessions = 4096;  // kept per loop for resumption, about 2 KiB each
  // "http://…", "https://…", "socks4a://…", "socks5h://…": the proxy resolves names. "socks4://…", "socks5://…": we do.
  // Empty: none, whatever the environment says.
  std::string proxy;

  // The budget for all bytes that answers hold, from the first byte on; null: no bound. At its bound sockets are not
  // read (receive_room.h).
  ByteBudget* budget = nullptr;

  ResolverOptions dns;
  const Clock* clock = &Clock::Real();
};

// Whether the proxy resolves names (see FetchOptions::proxy).
bool ProxyResolvesNames(std::string_view proxy);

}  // namespace portolan
