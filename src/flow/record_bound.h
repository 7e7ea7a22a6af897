// How long an encoded UrlRecord can be: modules use it to compute their Room().

#pragma once

#include <cstddef>

namespace portolan {

// Bytes: a URL of up to 32,000 (scope.max_url_length), a via of up to kMaxVia, a last visit of up to
// kMaxLastVisit, the head.
inline constexpr size_t kMaxUrlRecord = size_t{34} << 10;

}  // namespace portolan
