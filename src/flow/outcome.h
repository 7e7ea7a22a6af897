// FetchOutcome: all possible outcomes of a fetch, as a closed list, and the one table that says what to do after each.
//
// What the web does is data. The fetcher names the outcome; the scheduler reads Follow() and learns whether the URL is
// done, tried again, or waits until its host has recovered; reports use the class. Nothing else decides this.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

// On disk and in the crawl log by name: names never change.
enum class FetchOutcome : uint8_t {
  kAnswered,          // a complete HTTP answer came; its status says what it is
  kBodyCut,           // an answer whose body was cut at our size limit: kept, marked as truncated
  kTimeCut,           // an answer whose body was cut at the total time limit or for being too slow: kept, marked
  kDisconnected,      // an answer whose body ended early: kept, marked
  kDnsNotFound,       // the name does not exist, or has no address
  kDnsFailed,         // the servers of the name fail (SERVFAIL, REFUSED, garbage)
  kDnsTimeout,        // they do not answer
  kAddressForbidden,  // the name points to an address that the configuration refuses
  kConnectRefused,    // connection refused
  kConnectTimeout,    // no connection in time
  kUnreachable,       // no route
  kTlsHandshake,      // TLS fails: versions, ciphers, alerts
  kTlsCertificate,    // expired, self-signed, wrong host, unknown authority
  kFirstByteTimeout,  // connected, request sent, and nothing came
  kReset,             // the connection broke before an answer's head was whole
  kEmptyReply,        // closed without a byte
  kNotHttp,           // bytes that are not an HTTP answer; HTTP/0.9
  kHeadTooLarge,      // more header bytes or lines than we read
  kBadFraming,        // chunks or lengths that contradict each other
  kProtocol,          // HTTP/2 violations
  kDecodeFailed,      // the content coding is broken
  kBomb,              // the content decodes to more than our limit
  kLocal,             // our own fault, never the host's: a full queue, a connection that was kept too long
  kNetworkDown,       // no fetch from any host works: our network's fault
  kCancelled,         // the crawl stops
  kShortage,          // no descriptor or memory for a socket: our own fault; use fewer connections
  kSlowCut,           // an answer whose body came too slowly while others had no memory: tried again, then kept, marked
  kUnaskedNotModified,  // a 304 to a request without validators: says nothing, and never that the page is unchanged
};
inline constexpr int kFetchOutcomes = static_cast<int>(FetchOutcome::kUnaskedNotModified) + 1;
std::string_view FetchOutcomeName(FetchOutcome outcome);  // "answered", "dns_not_found" …

// The class of an outcome, in reports.
enum class CountAs : uint8_t {
  kFetched,      // 2xx
  kNotModified,  // 304 to a conditional request
  kRedirected,   // 3xx with a target
  kClientError,  // 4xx
  kServerError,  // 5xx, 429
  kDns,
  kConnection,
  kTls,
  kBroken,  // not HTTP, bad framing, reset, coding
  kLimit,   // one of our limits ended it
  kLocal,
};
inline constexpr int kCountAs = static_cast<int>(CountAs::kLocal) + 1;
std::string_view CountAsName(CountAs count);

enum class Retry : uint8_t {
  kNever,      // the URL is done
  kUrlLater,   // this URL again, behind the others of its host
  kHostLater,  // the host has a problem: all its URLs wait, this one first
  kNow,        // our own fault: again as soon as there is room, no attempt counted
};

struct Follow {
  CountAs count = CountAs::kFetched;
  Retry retry = Retry::kNever;
  uint8_t attempts = 1;        // in all, for kUrlLater and kHostLater
  uint32_t first_wait_ms = 0;  // before the second attempt; doubles for each further one
  bool keep = false;           // there is an answer to archive
};

// `status` counts only for outcomes with an answer. Total: any status, any outcome.
Follow FollowOf(FetchOutcome outcome, int status);

// Does the outcome have an HTTP answer (complete head)?
constexpr bool HasAnswer(FetchOutcome outcome) {
  return outcome <= FetchOutcome::kDisconnected || outcome == FetchOutcome::kDecodeFailed ||
         outcome == FetchOutcome::kBomb || outcome == FetchOutcome::kSlowCut ||
         outcome == FetchOutcome::kUnaskedNotModified;
}

}  // namespace portolan
