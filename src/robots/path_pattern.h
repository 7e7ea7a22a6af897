// The paths of robots rules and of URLs in one canonical form, and the matching of one against the other.
//
// RFC 9309 section 2.2.2 compares octets after percent-encoding has been normalised. Both sides become:
//   - %XX of an unreserved character (RFC 3986: letters, digits, - . _ ~) is that character;
//   - every other %XX has upper-case digits; a % that begins no escape is %25;
//   - what is neither unreserved nor reserved (blanks, controls, quotes, bytes past ASCII …) is %XX;
//   - a literal * or $ is %2A or %24, so that a rule can name them (the RFC's example) and a bare * or $ in a canonical
//     rule always means "anything" or "the end".
//
// Matching is linear whatever the rule: a rule is a list of pieces between stars, each searched once from where the one
// before it ended, which is enough because the leftmost match leaves the most room for the rest. Bound: O(|path| +
// |rule|) byte comparisons for pieces past 256 bytes (memmem is two-way there) and at most 256 / 16 vector comparisons
// per position for shorter ones.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portolan {

// True where `path` is its own canonical form, as the paths of nearly all URLs are.
bool IsCanonicalPath(std::string_view path);

// Appends the canonical form of a URL's path and query.
void AppendCanonicalPath(std::string_view path, std::string& out);

// A rule's path in canonical form: runs of stars are one star, a star at the end is dropped (it changes nothing), a $
// anywhere but at the end is literal.
struct PathPattern {
  std::string text;
  // The rule's length as "the most octets" counts it: as written, after escapes have been normalised.
  uint32_t octets = 0;

  bool plain() const { return text.find_first_of("*$") == std::string::npos; }
};

// nullopt if the rule can match no path: it is empty, or begins with neither / nor * (RFC 9309's grammar and its
// example in section 5.1).
std::optional<PathPattern> ParsePathPattern(std::string_view rule);

// REQUIRES: `pattern` is the text of a PathPattern and `path` is canonical.
bool PatternMatches(std::string_view pattern, std::string_view path);

// A set of two-byte sequences, as 64 bits: what a text holds, or what a pattern needs. A text whose set lacks a bit of
// a pattern's set cannot match it.
using PairSet = uint64_t;
constexpr PairSet PairBit(uint8_t first, uint8_t second) {
  return PairSet{1} << (((first * 0x9du) ^ (second * 0x2bu)) & 63);
}
PairSet PairsOfPath(std::string_view path);
PairSet PairsOfPattern(std::string_view pattern);

}  // namespace portolan
