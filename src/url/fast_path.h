// The short way through the URL parser for the spellings that nearly all links have.
//
// It takes plain ASCII: "http(s)://host…", "//host…", "/path", "path", "?query", "#fragment" and nothing, the relative
// ones on an http(s) base. Whatever it is not sure of it leaves to UrlParser: user, port, IP address, a segment that
// begins with a dot, anything to be escaped, tabs and line ends, another scheme. So it never fails; it only declines.
//
// Invariant: where it answers, UrlParser gives the same URL with the same offsets. Tests and a fuzzer compare them.

#pragma once

#include <string_view>

#include "url/url.h"

namespace portolan {

class UrlFastPath {
 public:
  // True when `url` holds the result; otherwise `url` is spoiled. REQUIRES: base is not &url.
  static bool Resolve(std::string_view input, const Url* base, bool with_fragment, Url& url);
};

}  // namespace portolan
