// What a body is, by its declared type and its first bytes (WHATWG MIME Sniffing section 7), as a crawler needs it.
//
// The computed type is the standard's, with one departure: an ISO media file of any brand counts, not only those of
// "mp4", so that AVIF, HEIC and QuickTime do not become binary data. ContentKind folds types into what the crawler does
// with them.

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

// Section 3: a byte that text does not hold.
constexpr bool IsBinaryByte(uint8_t byte) {
  return byte <= 0x08 || byte == 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
}

}  // namespace portolan
