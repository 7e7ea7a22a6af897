// What the tests of charsets share: the WHATWG Encoding Standard's indexes, and text on both sides of an encoding.

#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "html/charset_decoder.h"

namespace portolan {

inline std::string Utf8Of(uint32_t code) {
  std::string out;
  AppendUtf8(out, code);
  return out;
}

inline std::string Decoded(Encoding encoding, std::string_view bytes) {
  return std::string(CharsetDecoder(encoding).Decode(bytes, true));
}

// An index as the standard writes it: pointer to code point.
inline std::map<uint32_t, uint32_t> ParseIndex(std::istream& in) {
  std::map<uint32_t, uint32_t> index;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    uint32_t pointer = 0;
    std::string code;
    fields >> pointer >> code;
    index[pointer] = static_cast<uint32_t>(std::stoul(code, nullptr, 16));
  }
  return index;
}

}  // namespace portolan
