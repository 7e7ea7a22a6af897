// Comma-separated values as RFC 4180 has them.

#pragma once

#include <string>
#include <string_view>

namespace portolan {

// Appends the value, in quotation marks where it must be.
inline void AppendCsv(std::string& line, std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace portolan
