// CDXJ: the index of an archive, one line per capture, sorted by bytes.
//
//   org,example)/page 20260131123001 {"url": "https://example.org/page", "mime": "text/html", … "filename": "…"}
//
// Keys and their order are Common Crawl's. docs/formats/cdxj.md explains each. A line is parsed back whatever keys it
// has, so the index files of other tools can be read too.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

struct CdxjField {
  std::string name;
  std::string value;
  bool bare = false;  // a number, true, false or null: written without quotes
  bool operator==(const CdxjField&) const = default;
};

struct CdxjLine {
  std::string key;        // SURT, one word
  std::string timestamp;  // 14 digits
  std::vector<CdxjField> fields;

  // The value of a key, empty if it is absent.
  std::string_view Get(std::string_view name) const;
  bool operator==(const CdxjLine&) const = default;
};

// What the crawler knows about a capture it has just archived. Empty values are left out of the line.
struct Capture {
  std::string_view url;
  std::string_view mime;           // as the server said, without parameters
  std::string_view mime_detected;  // detected from the bytes
  int status = 0;
  std::string_view payload_sha1;  // raw
  uint64_t length = 0;
  uint64_t offset = 0;
  std::string_view filename;
  std::string_view charset;
  std::string_view languages;  // "eng,deu"
  std::string_view truncated;
  std::string_view redirect;
};

// The line of a capture, without its line end. `key` is SurtKey(url).
CdxjLine MakeCdxj(std::string_view key, std::string_view timestamp, const Capture& capture);

enum class CdxjStyle : uint8_t { kSpaced, kCompact };  // {"a": "b", "c": "d"} or {"a":"b","c":"d"}

void AppendJsonObject(const std::vector<CdxjField>& fields, CdxjStyle style, std::string& out);

// The same line as AppendCdxj of MakeCdxj in the spaced style, with no intermediate copies: for writers that make
// millions of them. No line end. REQUIRES: key and timestamp are one word each.
void AppendCapture(std::string_view key, std::string_view timestamp, const Capture& capture, std::string& out);

// Appends "key timestamp {…}", no line end. Blanks and controls in key and timestamp are percent-encoded.
void AppendCdxj(const CdxjLine& line, CdxjStyle style, std::string& out);

// kCorrupt with the reason if the text is not such a line. Values that are themselves objects or lists are kept as
// their JSON text.
Result<CdxjLine> ParseCdxj(std::string_view text);

}  // namespace portolan
