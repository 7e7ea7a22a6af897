// The line that heads an ARC record (Internet Archive, 1996): version 1 with five fields, version 2 with ten.
//
//   v1  URL IP-address Archive-date Content-type Archive-length
//   v2  URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length
//
// Fields are separated by one blank. URLs with blanks in them exist, so the line is read from its end.
//
// Writers erred, and other readers take what they wrote. A line that cannot be read so is read once more by its words:
// the address and the date behind it are where they can be found, the URL is what stands before them, the length is the
// last word. That takes fields apart by several blanks or tabs, a type with parameters ("text/html; charset=utf-8"),
// one that is missing, and lines of the other version. A line is a record's if what it has cannot well be anything
// else: a scheme and a date, or an address and a length.

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
  bool by_words = false;      // the fields are not apart by one blank each, or not those of the version
  bool extra_return = false;  // the line ends with CR CR LF

  bool is_version_block() const { return url.starts_with("filedesc:"); }
  std::optional<uint64_t> LengthValue() const;
};

// The line without its LF. Nothing where it is no record's.
std::optional<ArcLine> ParseArcLine(std::string_view line, int version);

// The version of a line whose file has not said it.
int GuessArcVersion(std::string_view line);

// Four numbers with dots, or an IPv6 address.
bool IsIpAddress(std::string_view text);

// A decimal number of at most 18 digits and nothing else.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// Whether `text` begins with a URI scheme and a colon.
bool HasScheme(std::string_view text);

}  // namespace portolan
