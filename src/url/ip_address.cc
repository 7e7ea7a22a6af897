#include "url/ip_address.h"

#include <algorithm>
#include <charconv>

#include "url/code_points.h"

namespace portolan::url_internal {
namespace {

constexpr uint64_t kTooBig = uint64_t{1} << 32;  // what any number past 32 bits is read as

// The standard's "IPv4 number parser"; an empty optional is its failure.
std::optional<uint64_t> ParseIpv4Number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  unsigned radix = 10;
  if (text.size() >= 2 && text[0] == '0') {
    const bool hex = (text[1] | 0x20) == 'x';
    radix = hex ? 16 : 8;
    text.remove_prefix(hex ? 2 : 1);
  }
  uint64_t value = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (!IsHex(byte) || HexValue(byte) >= radix) return std::nullopt;
    value = std::min(value * radix + HexValue(byte), kTooBig);
  }
  return value;
}

std::string_view LastLabel(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const size_t dot = host.rfind('.');
  return dot == std::string_view::npos ? host : host.substr(dot + 1);
}

void AppendNumber(unsigned value, int base, TextBuffer& out) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
  out.Append({digits, static_cast<size_t>(end - digits)});
}

}  // namespace

bool EndsInNumber(std::string_view host) {
  const std::string_view last = LastLabel(host);
  if (last.empty()) return false;
  if (std::all_of(last.begin(), last.end(), [](char c) { return IsDigit(static_cast<uint8_t>(c)); })) return true;
  return ParseIpv4Number(last).has_value();
}

std::optional<uint32_t> ParseIpv4(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::array<uint64_t, 4> numbers{};
  size_t count = 0;
  while (true) {
    const size_t dot = host.find('.');
    const auto number = ParseIpv4Number(host.substr(0, dot));
    if (!number || count == numbers.size()) return std::nullopt;
    numbers[count++] = *number;
    if (dot == std::string_view::npos) break;
    host.remove_prefix(dot + 1);
  }
  // The last number fills all bytes that the others leave.
  if (numbers[count - 1] >= uint64_t{1} << (8 * (5 - count))) return std::nullopt;
  uint64_t address = numbers[count - 1];
  for (size_t i = 0; i + 1 < count; ++i) {
    if (numbers[i] > 255) return std::nullopt;
    address += numbers[i] << (8 * (3 - i));
  }
  return static_cast<uint32_t>(address);
}

void AppendIpv4(uint32_t address, TextBuffer& out) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    AppendNumber((address >> shift) & 0xff, 10, out);
    if (shift != 0) out.Push('.');
  }
}

std::optional<Ipv6> ParseIpv6(std::string_view text) {
  Ipv6 pieces{};
  size_t piece = 0;
  std::optional<size_t> compress;
  size_t at = 0;
  const auto peek = [&](size_t ahead = 0) -> int {
    return at + ahead < text.size() ? static_cast<uint8_t>(text[at + ahead]) : -1;
  };
  if (peek() == ':') {
    if (peek(1) != ':') return std::nullopt;
    at += 2;
    compress = ++piece;
  }
  while (at < text.size()) {
    if (piece == 8) return std::nullopt;
    if (peek() == ':') {
      if (compress) return std::nullopt;
      ++at;
      compress = ++piece;
      continue;
    }
    unsigned value = 0;
    size_t length = 0;
    for (; length < 4 && peek() >= 0 && IsHex(static_cast<uint8_t>(peek())); ++length, ++at) {
      value = value * 16 + HexValue(static_cast<uint8_t>(peek()));
    }
    if (peek() == '.') {
      if (length == 0) return std::nullopt;
      at -= length;
      if (piece > 6) return std::nullopt;
      int seen = 0;
      while (at < text.size()) {
        if (seen > 0) {
          if (peek() != '.' || seen >= 4) return std::nullopt;
          ++at;
        }
        if (peek() < 0 || !IsDigit(static_cast<uint8_t>(peek()))) return std::nullopt;
        int byte = -1;
        while (peek() >= 0 && IsDigit(static_cast<uint8_t>(peek()))) {
          const int digit = peek() - '0';
          if (byte == 0) return std::nullopt;  // a leading zero
          byte = byte < 0 ? digit : byte * 10 + digit;
          if (byte > 255) return std::nullopt;
          ++at;
        }
        pieces[piece] = static_cast<uint16_t>(pieces[piece] * 0x100 + byte);
        ++seen;
        if (seen == 2 || seen == 4) ++piece;
      }
      if (seen != 4) return std::nullopt;
      break;
    }
    if (peek() == ':') {
      ++at;
      if (at == text.size()) return std::nullopt;
    } else if (at != text.size()) {
      return std::nullopt;
    }
    pieces[piece++] = static_cast<uint16_t>(value);
  }
  if (compress) {
    // What came after the "::" moves to the end.
    std::rotate(pieces.begin() + static_cast<long>(*compress), pieces.begin() + static_cast<long>(piece), pieces.end());
  } else if (piece != 8) {
    return std::nullopt;
  }
  return pieces;
}

void AppendIpv6(const Ipv6& address, TextBuffer& out) {
  // The first of the longest runs of two or more zeros becomes "::".
  size_t best = 8;
  size_t best_length = 1;
  for (size_t i = 0; i < 8;) {
    size_t end = i;
    while (end < 8 && address[end] == 0) ++end;
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
    i = end + 1;
  }
  out.Push('[');
  for (size_t i = 0; i < 8;) {
    if (i == best) {
      out.Append(i == 0 ? "::" : ":");
      i += best_length;
      continue;
    }
    AppendNumber(address[i], 16, out);
    if (i != 7) out.Push(':');
    ++i;
  }
  out.Push(']');
}

}  // namespace portolan::url_internal
