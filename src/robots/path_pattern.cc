#include "robots/path_pattern.h"

#include <array>
#include <cstring>

namespace portolan {
namespace {

enum ByteKind : uint8_t { kCopied, kPercent, kEncoded };

constexpr bool IsUnreserved(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

constexpr std::array<uint8_t, 256> kKinds = [] {
  std::array<uint8_t, 256> kinds{};
  for (int c = 0; c < 256; ++c) kinds[c] = IsUnreserved(static_cast<uint8_t>(c)) ? kCopied : kEncoded;
  // RFC 3986's reserved characters, without the two that rules give a meaning.
  for (const char c : std::string_view(":/?#[]@!&'()+,;=")) kinds[static_cast<uint8_t>(c)] = kCopied;
  kinds['%'] = kPercent;
  return kinds;
}();

constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendEscape(uint8_t byte, std::string& out) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  out.push_back('%');
  out.push_back(kDigits[byte >> 4]);
  out.push_back(kDigits[byte & 15]);
}

// Appends the canonical form of what begins at `at` (a byte or an escape) and returns the index after it.
size_t AppendCanonicalByte(std::string_view text, size_t at, std::string& out) {
  const auto byte = static_cast<uint8_t>(text[at]);
  switch (kKinds[byte]) {
    case kCopied:
      out.push_back(text[at]);
      return at + 1;
    case kPercent: {
      const int high = at + 2 < text.size() ? HexValue(text[at + 1]) : -1;
      const int low = high >= 0 ? HexValue(text[at + 2]) : -1;
      if (low < 0) break;
      const auto value = static_cast<uint8_t>(high * 16 + low);
      if (IsUnreserved(value)) {
        out.push_back(static_cast<char>(value));
      } else {
        AppendEscape(value, out);
      }
      return at + 3;
    }
    default:
      break;
  }
  AppendEscape(byte, out);
  return at + 1;
}

}  // namespace

bool IsCanonicalPath(std::string_view path) {
  uint8_t kinds = 0;
  for (const char c : path) kinds |= kKinds[static_cast<uint8_t>(c)];
  if (kinds == kCopied) return true;
  if ((kinds & kEncoded) != 0) return false;
  // Only escapes are left to look at.
  for (size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 3)) {
    const int high = at + 2 < path.size() ? HexValue(path[at + 1]) : -1;
    const int low = high >= 0 ? HexValue(path[at + 2]) : -1;
    if (low < 0 || path[at + 1] >= 'a' || path[at + 2] >= 'a') return false;
    if (IsUnreserved(static_cast<uint8_t>(high * 16 + low))) return false;
  }
  return true;
}

void AppendCanonicalPath(std::string_view path, std::string& out) {
  for (size_t at = 0; at < path.size();) at = AppendCanonicalByte(path, at, out);
}

std::optional<PathPattern> ParsePathPattern(std::string_view rule) {
  if (rule.empty() || (rule[0] != '/' && rule[0] != '*')) return std::nullopt;
  PathPattern pattern;
  pattern.text.reserve(rule.size());
  size_t uncounted = 0;  // bytes of text that stand for one octet of the rule, less that octet
  for (size_t at = 0; at < rule.size();) {
    if (rule[at] == '*') {
      if (pattern.text.empty() || pattern.text.back() != '*') {
        pattern.text.push_back('*');
      } else {
        ++pattern.octets;
      }
      ++at;
    } else if (rule[at] == '$' && at + 1 == rule.size()) {
      pattern.text.push_back('$');
      ++at;
    } else {
      if (rule[at] == '$') uncounted += 2;
      at = AppendCanonicalByte(rule, at, pattern.text);
    }
  }
  pattern.octets += static_cast<uint32_t>(pattern.text.size() - uncounted);
  if (pattern.text.back() == '*' && pattern.text.size() > 1) pattern.text.pop_back();
  return pattern;
}

bool PatternMatches(std::string_view pattern, std::string_view path) {
  const bool anchored = !pattern.empty() && pattern.back() == '$';
  if (anchored) pattern.remove_suffix(1);
  size_t star = pattern.find('*');
  const std::string_view first = pattern.substr(0, star);
  if (!path.starts_with(first)) return false;
  path.remove_prefix(first.size());
  if (star == std::string_view::npos) return !anchored || path.empty();
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    if (star == std::string_view::npos && anchored) return path.ends_with(piece);
    if (!piece.empty()) {
      const void* found = memmem(path.data(), path.size(), piece.data(), piece.size());
      if (found == nullptr) return false;
      path.remove_prefix(static_cast<size_t>(static_cast<const char*>(found) - path.data()) + piece.size());
    }
    if (star == std::string_view::npos) return true;
  }
}

PairSet PairsOfPath(std::string_view path) {
  PairSet pairs = 0;
  for (size_t i = 1; i < path.size(); ++i) {
    pairs |= PairBit(static_cast<uint8_t>(path[i - 1]), static_cast<uint8_t>(path[i]));
  }
  return pairs;
}

PairSet PairsOfPattern(std::string_view pattern) {
  PairSet pairs = 0;
  for (size_t i = 1; i < pattern.size(); ++i) {
    const char before = pattern[i - 1];
    const char here = pattern[i];
    if (before == '*' || here == '*' || here == '$') continue;
    pairs |= PairBit(static_cast<uint8_t>(before), static_cast<uint8_t>(here));
  }
  return pairs;
}

}  // namespace portolan
