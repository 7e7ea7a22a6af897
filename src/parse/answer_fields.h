// Header fields of an answer that name other URLs or say when to come back.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/outcome.h"
#include "http/headers.h"

namespace portolan {

// The longest Retry-After that is kept, 365 days: anything above is kept as this.
inline constexpr int64_t kMaxRetryAfterNs = int64_t{365} * 86'400 * 1'000'000'000;

// Retry-After (RFC 9110 section 10.2.3) as a time to wait from `now_unix_ns` on: seconds, or a date. A date in the past
// gives 0; any other value gives nullopt.
std::optional<int64_t> RetryAfterNs(std::string_view value, int64_t now_unix_ns);

// Whether the status redirects the client to Location: 301, 302, 303, 307, 308.
constexpr bool IsRedirectStatus(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The target of the first link with rel=canonical in the value of one Link field (RFC 8288), as written.
std::optional<std::string_view> CanonicalInLinkField(std::string_view value);

// The charset in Content-Type, empty if there is none.
std::string CharsetLabel(const HeaderFields& fields);

// The body is incomplete: cut at one of our limits, or because the connection broke.
constexpr bool IsCut(FetchOutcome outcome) {
  return outcome == FetchOutcome::kBodyCut || outcome == FetchOutcome::kTimeCut ||
         outcome == FetchOutcome::kDisconnected || outcome == FetchOutcome::kSlowCut;
}

}  // namespace portolan
