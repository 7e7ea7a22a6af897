// How long an encoded UrlRecord can be: what rooms reckon with when they state their room.

#pragma once

#include <cstddef>

namespace portolan {

// Bytes: a URL of up to 32,000 (scope.max_url_length), a via of up to kMaxVia, the head.
inline constexpr size_t kMaxUrlRecord = size_t{34} << 10;

}  // namespace portolan
