// StoredHead: a response's head as the archive stores it, consistent with the body that follows it.
//
// Archive readers trust the head: "Transfer-Encoding: chunked" before a body whose chunks were joined makes them fail,
// and so does a Content-Length larger than the stored body. So a field that is no longer true is kept under another
// name, X-Crawler-…, as other large crawlers do, and the length of the stored body is added:
//
//   Transfer-Encoding: chunked        →   X-Crawler-Transfer-Encoding: chunked
//   Content-Length: 99999 (cut)       →   X-Crawler-Content-Length: 99999
//                                         Content-Length: <bytes stored>
//
// Content-Encoding stays: the body is kept as it was coded. Empty lines before the head's end, and a status line in
// lower case, are corrected because archive readers fail on them. Everything else is as received. docs/formats/warc.md.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace portolan {

// REQUIRES: parsed.outcome is kRead. `raw` is the head as received and `parsed` the same parsed; `body` the bytes that
// will follow it. Returns `raw` itself if it is already consistent; otherwise a view of `scratch`.
std::string_view StoredHead(std::string_view raw, const ResponseHead& parsed, uint64_t body, std::string& scratch);

}  // namespace portolan
