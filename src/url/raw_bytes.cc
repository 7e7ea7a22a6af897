#include "url/raw_bytes.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace portolan {

std::string EscapeBrokenUtf8(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length != 0) {
      out += text.substr(0, length);
    } else {
      const auto byte = static_cast<uint8_t>(text[0]);
      out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace portolan
