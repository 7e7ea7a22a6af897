// The standard's host parser: domain, IPv4, IPv6 or opaque host, written in its serialised form.

#pragma once

#include <string_view>

#include "url/text_buffer.h"
#include "url/url.h"

namespace portolan::url_internal {

// Appends the host to `out` and returns its kind. After a failure `out` may hold a part of it. `opaque`: the URL's
// scheme is not special. REQUIRES: text is not empty.
UrlStatus AppendHost(std::string_view text, bool opaque, TextBuffer& out, HostKind& kind);

}  // namespace portolan::url_internal
