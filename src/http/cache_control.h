// Header fields that say when to come back: Cache-Control (RFC 9111 section 5.2.2), Retry-After and Expires.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan {

struct CacheControl {
  bool no_store = false;
  bool no_cache = false;
  bool is_private = false;
  bool must_revalidate = false;
  bool immutable = false;
  // Seconds, at most kMaxDelta. Of several the smallest counts; one that is not a number counts as 0 (stale), as RFC
  // 9111 section 4.2.1 encourages.
  std::optional<uint32_t> max_age;
  std::optional<uint32_t> s_maxage;
  std::optional<uint32_t> stale_while_revalidate;
  std::optional<uint32_t> stale_if_error;

  // RFC 9111 section 1.2.2: what a number of seconds that does not fit stands for.
  static constexpr uint32_t kMaxDelta = uint32_t{1} << 31;
};

// `value` is one Cache-Control field or several joined by commas.
CacheControl ParseCacheControl(std::string_view value);

// Seconds to wait from `now` (since 1970): "120", or a date, which gives 0 where it has passed. At most kMaxDelta.
std::optional<uint32_t> ParseRetryAfter(std::string_view value, int64_t now);

// How long a response stays fresh by its Cache-Control, Expires and Date values (absent ones empty): s-maxage, max-age,
// Expires less Date. A bad Expires ("0", "-1") is 0: already stale. nullopt if no field says.
std::optional<uint32_t> FreshFor(const CacheControl& cache, std::optional<std::string_view> expires,
                                 std::optional<std::string_view> date);

}  // namespace portolan
