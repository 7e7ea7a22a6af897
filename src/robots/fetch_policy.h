// What the answer to GET /robots.txt means for the host (RFC 9309 section 2.3.1), as a pure function.
//
// One departure: 429 is a 4xx, and the RFC would let everything be fetched; but a host that answers "too many requests"
// must not get more, so it counts as unreachable for now.

#pragma once

#include <cstdint>

namespace portolan {

enum class RobotsVerdict : uint8_t {
  kUseFile,      // 2xx: parse the body
  kFollow,       // a redirect, and fewer than five so far: fetch its target, on whatever host
  kAllowAll,     // there is no file (4xx), or redirects without end
  kDisallowAll,  // unreachable (5xx, no answer): nothing for now, ask again later
};

inline constexpr int kMaxRobotsRedirects = 5;

// `status` 0 means no answer at all: DNS, connection, TLS, time-out or a broken answer.
constexpr RobotsVerdict RobotsForStatus(int status, int redirects_followed) {
  if (status >= 200 && status < 300) return RobotsVerdict::kUseFile;
  if (status == 429) return RobotsVerdict::kDisallowAll;
  if (status >= 400 && status < 500) return RobotsVerdict::kAllowAll;
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return redirects_followed < kMaxRobotsRedirects ? RobotsVerdict::kFollow : RobotsVerdict::kAllowAll;
    default:
      // 1xx and the other 3xx carry no file and no target; RFC 9309 does not define them, so the careful choice is
      // made.
      return RobotsVerdict::kDisallowAll;
  }
}

}  // namespace portolan
