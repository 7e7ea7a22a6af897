// The line that heads an ARC record (Internet Archive, 1996): version 1 with five fields, version 2 with ten.
//
//   v1  URL IP-address Archive-date Content-type Archive-length
//   v2  URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length
//
// Fields are separated by one blank. URLs with blanks in them exist, so the line is read from its end.

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

  bool is_version_block() const { return url.starts_with("filedesc:"); }
  std::optional<uint64_t> LengthValue() const;
};

// Nothing where the line (without its end) has too few fields or does not begin with a URL and have a date.
std::optional<ArcLine> ParseArcLine(std::string_view line, int version);

// A decimal number of at most 18 digits and nothing else.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// Whether `text` begins with a URI scheme and a colon.
bool HasScheme(std::string_view text);

}  // namespace portolan
