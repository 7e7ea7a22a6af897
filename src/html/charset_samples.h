// What the tests of charsets share: the WHATWG Encoding Standard's indexes, and text on both sides of an encoding.

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "html/charset_decoder.h"

namespace portolan {

inline const std::filesystem::path kEncodings = "../shared/data/charset/whatwg-encoding";

inline std::string Utf8Of(uint32_t code) {
  std::string out;
  AppendUtf8(out, code);
  return out;
}

inline std::string Decoded(Encoding encoding, std::string_view bytes) {
  return std::string(CharsetDecoder(encoding).Decode(bytes, true));
}

// Pointer to code point; empty where the file is absent.
inline std::map<uint32_t, uint32_t> ReadIndex(const std::string& name) {
  std::map<uint32_t, uint32_t> index;
  std::ifstream in(kEncodings / ("index-" + name + ".txt"));
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
