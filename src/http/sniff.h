// The type of a body, from its declared type and its first bytes (WHATWG MIME Sniffing section 7), for a crawler.
//
// The computed type is the standard's, step by step (sniff_test.cc is named after the steps), with these departures:
//   - 6.1, 6.2.1: an ISO media file of any brand counts, not only those of "mp4", so that AVIF, HEIC and QuickTime are
//     not binary data; the first two are images.
//   - 6.2.3: frames of MP3 are measured as in the MPEG standard. The Sniffing standard's text accepts bytes that are
//     not frames.
//   - 7 step 1: text/html may be a feed by its first element (rss, feed, rdf:RDF with the names of RSS 1.0), as in
//     earlier editions of the standard: servers send feeds this way, and a feed's links are not those of a page.
//   - 7 steps 5 and 7: every type of image, audio and video counts as supported.
//   - 7.1: a body of unknown type that begins like a font (6.3) is one; the standard has that in a comment.
// A text/plain as a misconfigured Apache sends it with everything (the check-for-apache-bug flag, 5.1) is text, or
// binary data and nothing more exact, whatever it begins with (7.2).
//
// ContentKind groups types by how the crawler handles them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/mime.h"

namespace portolan {

// The bytes that the standard looks at.
inline constexpr size_t kSniffBytes = 1445;

enum class ContentKind : uint8_t {
  kHtml,
  kXml,  // also feeds, sitemaps, XHTML
  kText,
  kJson,
  kScript,  // JavaScript, style sheets
  kPdf,
  kDocument,  // PostScript, office files
  kImage,
  kMedia,  // audio, video
  kFont,
  kArchive,
  kBinary,
};

std::string_view ContentKindName(ContentKind kind);
ContentKind KindOf(const MimeType& type);

struct Sniffed {
  std::string essence;
  ContentKind kind;
};

// `content_type` is the last Content-Type field as it came, `no_sniff` whether X-Content-Type-Options says so. `bytes`
// is the decoded body or its beginning.
Sniffed SniffContent(std::optional<std::string_view> content_type, std::string_view bytes, bool no_sniff);

// Section 3: a byte that does not occur in text.
constexpr bool IsBinaryByte(uint8_t byte) {
  return byte <= 0x08 || byte == 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}

}  // namespace portolan
