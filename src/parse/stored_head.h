// StoredHead: a response's head as the archive keeps it, consistent with the body that stands behind it.
//
// Whoever reads an archived answer takes the head at its word: "Transfer-Encoding: chunked" before a body whose chunks
// were joined makes readers fail, and so does a Content-Length that says more than is there. So a field that no longer
// tells the truth is kept under another name, X-Crawler-…, as other large crawlers do it, and the length of what is
// stored stands beside it:
//
//   Transfer-Encoding: chunked        →   X-Crawler-Transfer-Encoding: chunked
//   Content-Length: 99999 (cut)       →   X-Crawler-Content-Length: 99999
//                                         Content-Length: <bytes stored>
//
// Content-Encoding stays: the body is kept as it was coded. Empty lines before the head's end and a status line in
// small letters, over which readers of archives stumble, are mended. All else is as received. docs/formats/warc.md.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace portolan {

// REQUIRES: parsed.outcome is kRead. `raw` is the head as received and `parsed` the same parsed; `body` the bytes that
// will follow it. Gives `raw` itself where it is true already; otherwise a view of `scratch`.
std::string_view StoredHead(std::string_view raw, const ResponseHead& parsed, uint64_t body, std::string& scratch);

}  // namespace portolan
