// The interface between the shard and the fetchers: tasks out, answers back.
//
// Behind FetchPort are event loops and c-ares in production, and a simulated web in simulations. Answers never come
// inside Fetch or Resolve; they come later, as events.
//
// FetchResponse is the answer as bytes, on the thread that fetched it; parse/ makes a PageResult of it there.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flow/address.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
#include "flow/visit.h"
#include "http/headers.h"
#include "io/byte_budget.h"

namespace portolan {

struct FetchTask {
  uint64_t id = 0;  // comes back with the answer; unique among those in flight
  UrlKind kind = UrlKind::kPage;
  std::string url;     // canonical, absolute
  Address address;     // connect here, whatever the name resolves to now
  uint64_t host = 0;   // HostKey: tasks of a host go to the same loop, where its connection may still be open
  std::string via;     // the page on which it was found, for the archive; empty: a seed, or unknown
  uint16_t depth = 0;  // links from a seed, likewise
  // Null: a first visit. Otherwise its validators make the request conditional; a task without any is fetched in full.
  std::shared_ptr<const LastVisit> last;

  bool revisit() const { return last != nullptr; }
  bool conditional() const { return last != nullptr && last->validators.usable(); }
};

struct ResolveTask {
  uint64_t host = 0;  // HostKey
  std::string name;   // host name as in URLs; IP literals resolve to themselves, with brackets for IPv6
  bool anew = false;  // ask a name server even if the answer is cached
};

struct Resolution {
  uint64_t host = 0;
  // kAnswered, kDnsNotFound, kDnsFailed, kDnsTimeout, kAddressForbidden, kLocal, kCancelled, kShortage
  FetchOutcome outcome = FetchOutcome::kAnswered;
  std::vector<Address> addresses;  // in the resolver's order; not empty when answered
  uint32_t ttl_s = 0;              // how long this is valid, negative answers too
  bool fresh = true;               // a name server was asked; false: it was cached, or the name is an address
};

class FetchPort {
 public:
  virtual ~FetchPort() = default;
  virtual void Fetch(FetchTask&& task) = 0;
  virtual void Resolve(ResolveTask&& task) = 0;
};

enum class HttpVersion : uint8_t { kUnknown, k09, k10, k11, k2 };
std::string_view HttpVersionName(HttpVersion version);  // "http/1.1", as WARC-Protocol spells it

struct FetchTimes {          // steady clock, nanoseconds; 0 if that was not reached
  int64_t begin_ns = 0;      // the task was started
  int64_t connected_ns = 0;  // includes TLS; equals begin_ns on a connection that was open
  int64_t first_byte_ns = 0;
  int64_t end_ns = 0;
  int64_t begin_unix_ns = 0;  // the calendar, for stamps
};

struct FetchResponse {
  FetchTask task;
  FetchOutcome outcome = FetchOutcome::kAnswered;
  std::string detail;  // the library's message, for the log; empty if there is nothing to add
  int status = 0;
  HttpVersion version = HttpVersion::kUnknown;
  std::string request_head;   // as sent (of HTTP/2: as HTTP/1.1 would spell it)
  std::string response_head;  // as received, from the status line to the empty line; of HTTP/2 likewise spelt out
  ResponseHead
      head;  // the same parsed, if the fetch needed it (outcome kRead); otherwise parse response_head when needed
  std::string body;         // transfer coding removed, content coding still on
  std::string tls_version;  // "tls/1.3", empty for plain HTTP
  std::string tls_cipher;   // "TLS_AES_128_GCM_SHA256"
  uint64_t wire_bytes = 0;  // received, heads included
  FetchTimes times;
  ByteLease lease;  // memory of the heads and the body
};

}  // namespace portolan
