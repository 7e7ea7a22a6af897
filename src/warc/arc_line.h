// The line that heads an ARC record (Internet Archive, 1996): version 1 with five fields, version 2 with ten.
//
//   v1  URL IP-address Archive-date Content-type Archive-length
//   v2  URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length
//
// Fields are separated by one blank. URLs with blanks in them exist, so the line is read from its end.
//
// Some writers made errors, and other readers accept their files. A line that cannot be read this way is read again
// word by word: it searches for an address followed by a date; the URL is what comes before them, the length is the
// last word. That accepts fields separated by several blanks or tabs, a type with parameters ("text/html;
// charset=utf-8"), a missing type, and lines of the other version. A line counts as a record's line if it can hardly be
// anything else: it has a scheme and a date, or an address and a length.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan {

struct ArcLine {
  std::string_view url;
  std::string_view ip;
  std::string_view date;
  std::string_view mime;
  std::string_view result_code;  // v2 only, as the next four
  std::string_view checksum;
  std::string_view location;
  std::string_view offset;
  std::string_view filename;
  std::string_view length;
  bool by_words = false;      // the fields are not separated by one blank each, or not those of the version
  bool extra_return = false;  // the line ends with CR CR LF

  bool is_version_block() const { return url.starts_with("filedesc:"); }
  std::optional<uint64_t> LengthValue() const;
};

// The line without its LF. nullopt if it is not a record's line.
std::optional<ArcLine> ParseArcLine(std::string_view line, int version);

// The version of a line whose file does not state it.
int GuessArcVersion(std::string_view line);

// Four numbers with dots, or an IPv6 address.
bool IsIpAddress(std::string_view text);

// A decimal number of at most 18 digits and nothing else.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// Whether `text` begins with a URI scheme and a colon.
bool HasScheme(std::string_view text);

}  // namespace portolan
