#include "base/utf8.h"

#include <array>

namespace portolan {
namespace {

bool Continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

size_t Utf8SequenceLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (!Continues(text, 1)) return 0;
  if (lead < 0xe0) return 2;
  const auto second = static_cast<uint8_t>(text[1]);
  if (lead < 0xf0) {
    if (lead == 0xe0 && second < 0xa0) return 0;  // overlong
    if (lead == 0xed && second > 0x9f) return 0;  // surrogate
    return Continues(text, 2) ? 3 : 0;
  }
  if (lead > 0xf4) return 0;
  if (lead == 0xf0 && second < 0x90) return 0;  // overlong
  if (lead == 0xf4 && second > 0x8f) return 0;  // past U+10FFFF
  return Continues(text, 2) && Continues(text, 3) ? 4 : 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void AppendUtf8(std::string& out, uint32_t code_point) {
  // One append: each costs a look at the string's capacity, and decoders call this for every letter.
  std::array<char, 4> bytes;
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    bytes = {static_cast<char>(0xc0 | (code_point >> 6)), tail(0)};
    out.append(bytes.data(), 2);
  } else if (code_point < 0x10000) {
    bytes = {static_cast<char>(0xe0 | (code_point >> 12)), tail(6), tail(0)};
    out.append(bytes.data(), 3);
  } else {
    bytes = {static_cast<char>(0xf0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
    out.append(bytes.data(), 4);
  }
}

}  // namespace portolan
