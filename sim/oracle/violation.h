// Violation: everything that the oracle can hold against a crawl, as a closed list, and the one table that names it.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan::sim {

enum class Violation : uint8_t {
  kHostGap,            // two requests to a host closer than the rules allow
  kIpGap,              // two requests to an address closer than the rules allow
  kDelayFactor,        // a request sooner after the last one than so many times what that one took
  kParallel,           // more requests in progress at a host than allowed
  kOpenConnections,    // more connections open to a host than allowed
  kSockets,            // more connections open to an address than allowed
  kRobots,             // a URL that robots.txt forbids
  kRobotsNotAsked,     // a URL of a host before its robots.txt was answered
  kRobotsUnreachable,  // a URL of a host whose robots.txt could not be fetched when it was last requested
  kRobotsStale,        // a URL of a host whose robots.txt was last asked for longer ago than its lifetime
  kCrawlDelay,         // Crawl-delay not kept
  kRetryAfter,         // a host asked again before the time that its 429 or 503 named
  kRepeat,             // a URL fetched more often than allowed; tries after failures are not counted
  kUnknownUrl,         // a URL that stands nowhere in this web: made up or mangled
  kMissed,             // a reachable, allowed URL never asked for by a crawl that claims to be complete
};
inline constexpr int kViolations = static_cast<int>(Violation::kMissed) + 1;

struct ViolationInfo {
  std::string_view key;   // in JSON: "<key>_violations"
  std::string_view text;  // in the table
};
const ViolationInfo& InfoOf(Violation violation);

}  // namespace portolan::sim
