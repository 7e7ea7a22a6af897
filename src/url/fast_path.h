// A fast path of the URL parser for the spellings of nearly all links.
//
// It accepts plain ASCII: "http(s)://host…", "//host…", "/path", "path", "?query", "#fragment" and nothing, the
// relative ones on an http(s) base. Everything else it leaves to UrlParser: user, port, IP address, a segment that
// begins with a dot, anything to be escaped, tabs and line ends, another scheme. So it never fails; it only declines.
//
// Invariant: where it answers, UrlParser gives the same URL with the same offsets. Tests and a fuzzer compare them.

#pragma once

#include <string_view>

#include "url/url.h"

namespace portolan {

class UrlFastPath {
 public:
  // True when `url` holds the result; otherwise `url` is undefined. REQUIRES: base is not &url.
  static bool Resolve(std::string_view input, const Url* base, bool with_fragment, Url& url);
};

}  // namespace portolan
