// Spelling: the many ways to write a link that all resolve to one URL.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan::sim {

struct SpellingOptions {
  std::string_view url;        // absolute and canonical
  size_t origin_size = 0;      // of it: scheme, host and port
  std::string_view base_path;  // of the page, or of its <base>: what relative links are relative to
  bool local = false;          // the same origin as the page's
  bool mirrored = false;       // local links must not name the host
  bool portable = false;       // nor depend on base_path
  bool same_scheme = false;    // as the page's: "//host/" is possible
  bool default_port = false;   // no port stands in the URL
  bool unquoted = false;       // no blanks
  uint64_t draw = 0;
};

// Appends an attribute value, character references included.
void AppendHref(std::string& out, const SpellingOptions& options);

}  // namespace portolan::sim
