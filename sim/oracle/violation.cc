#include "sim/oracle/violation.h"

#include <array>

#include "base/check.h"

namespace portolan::sim {

const ViolationInfo& InfoOf(Violation violation) {
  // In the order of the enum.
  static constexpr std::array<ViolationInfo, kViolations> kTable = {{
      {"host_gap", "requests to a host too close"},
      {"ip_gap", "requests to an address too close"},
      {"delay_factor", "request too soon after a slow one"},
      {"parallel", "too many requests at a host at once"},
      {"open_connections", "too many connections open to a host"},
      {"sockets", "too many connections to an address"},
      {"robots", "URL that robots.txt forbids"},
      {"robots_not_asked", "URL before robots.txt was answered"},
      {"robots_unreachable", "URL while robots.txt is unreachable"},
      {"robots_stale", "URL by a robots.txt past its lifetime"},
      {"crawl_delay", "Crawl-delay not kept"},
      {"retry_after", "Retry-After not kept"},
      {"repeat", "URL fetched too often"},
      {"unknown_url", "URL that does not exist"},
      {"missed", "reachable URL never fetched"},
  }};
  const auto index = static_cast<size_t>(violation);
  CHECK(index < kTable.size());
  return kTable[index];
}

}  // namespace portolan::sim
