// The URL Standard's sets of code points, one table of bits per byte.
//
// Percent-encode sets hold every byte from 0x80 on, because they are defined on code points and only ASCII ones can be
// outside.

#pragma once

#include <array>
#include <cstdint>

namespace portolan::url_internal {

enum ByteClass : uint16_t {
  kInC0Set = 1 << 0,            // C0 control percent-encode set
  kInFragmentSet = 1 << 1,      // fragment percent-encode set
  kInQuerySet = 1 << 2,         // query percent-encode set
  kInSpecialQuerySet = 1 << 3,  // special-query percent-encode set
  kInPathSet = 1 << 4,          // path percent-encode set
  kInUserinfoSet = 1 << 5,      // userinfo percent-encode set
  kForbiddenHost = 1 << 6,      // forbidden host code point
  kForbiddenDomain = 1 << 7,    // forbidden domain code point
  kSchemeByte = 1 << 8,         // may stand in a scheme after its first letter
  kUnreserved = 1 << 9,         // RFC 3986: letters, digits, - . _ ~
  kHexDigit = 1 << 10,
  kTabOrNewline = 1 << 11,  // removed wherever they stand
};

constexpr bool IsAlpha(uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
constexpr bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }
constexpr bool IsHex(uint8_t c) { return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
constexpr uint8_t Lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }
// REQUIRES: IsHex(c).
constexpr uint8_t HexValue(uint8_t c) { return IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

constexpr uint16_t ClassOf(unsigned c) {
  const auto among = [c](const char* set) {
    for (; *set != 0; ++set) {
      if (static_cast<uint8_t>(*set) == c) return true;
    }
    return false;
  };
  const auto byte = static_cast<uint8_t>(c);
  const bool c0 = c < 0x20 || c > 0x7e;
  const bool query = c0 || among(" \"#<>");
  const bool path = query || among("?^`{}");
  const bool host = c == 0 || among("\t\n\r #/:<>?@[\\]^|");
  const bool alnum = IsAlpha(byte) || IsDigit(byte);
  unsigned bits = 0;
  if (c0) bits |= kInC0Set;
  if (c0 || among(" \"<>`")) bits |= kInFragmentSet;
  if (query) bits |= kInQuerySet;
  if (query || c == '\'') bits |= kInSpecialQuerySet;
  if (path) bits |= kInPathSet;
  if (path || among("/:;=@[\\]|")) bits |= kInUserinfoSet;
  if (host) bits |= kForbiddenHost;
  if (host || c < 0x20 || c == '%' || c == 0x7f) bits |= kForbiddenDomain;
  if (alnum || among("+-.")) bits |= kSchemeByte;
  if (alnum || among("-._~")) bits |= kUnreserved;
  if (IsHex(byte)) bits |= kHexDigit;
  if (among("\t\n\r")) bits |= kTabOrNewline;
  return static_cast<uint16_t>(bits);
}

inline constexpr auto kByteClasses = [] {
  std::array<uint16_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = ClassOf(c);
  return table;
}();

inline bool Is(char c, uint16_t classes) { return (kByteClasses[static_cast<uint8_t>(c)] & classes) != 0; }

}  // namespace portolan::url_internal
