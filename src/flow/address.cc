#include "flow/address.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace portolan {
namespace {

struct Range {
  uint32_t base;
  int bits;
};

// IANA's special-purpose registry for IPv4: what is not globally reachable, and multicast.
constexpr Range kNotPublicV4[] = {
    {0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},  {0xa9fe0000, 16},
    {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24}, {0xc0586300, 24}, {0xc0a80000, 16},
    {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24}, {0xe0000000, 4},  {0xf0000000, 4},
};

bool PublicV4(uint32_t address) {
  for (const Range& range : kNotPublicV4) {
    if ((address ^ range.base) >> (32 - range.bits) == 0) return false;
  }
  return true;
}

std::optional<uint32_t> ParseV4(std::string_view text) {
  uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (text.empty() || text.front() != '.') return std::nullopt;
      text.remove_prefix(1);
    }
    uint32_t value = 0;
    size_t digits = 0;
    while (digits < text.size() && digits < 4 && text[digits] >= '0' && text[digits] <= '9') {
      value = value * 10 + static_cast<uint32_t>(text[digits++] - '0');
    }
    if (digits == 0 || digits > 3 || value > 255 || (digits > 1 && text[0] == '0')) return std::nullopt;
    address = address << 8 | value;
    text.remove_prefix(digits);
  }
  if (!text.empty()) return std::nullopt;
  return address;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::vector<uint16_t>> ParseGroups(std::string_view text) {
  std::vector<uint16_t> groups;
  if (text.empty()) return groups;
  for (;;) {
    const size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    if (colon == std::string_view::npos && group.find('.') != std::string_view::npos) {
      const auto v4 = ParseV4(group);
      if (!v4) return std::nullopt;
      groups.push_back(static_cast<uint16_t>(*v4 >> 16));
      groups.push_back(static_cast<uint16_t>(*v4));
      return groups;
    }
    if (group.empty() || group.size() > 4) return std::nullopt;
    uint32_t value = 0;
    for (const char c : group) {
      const int digit = HexValue(c);
      if (digit < 0) return std::nullopt;
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    groups.push_back(static_cast<uint16_t>(value));
    if (groups.size() > 8) return std::nullopt;
    if (colon == std::string_view::npos) return groups;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

Address Address::V4(uint32_t host_order) {
  Address address;
  for (size_t i = 0; i < 4; ++i) address.bytes[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
  return address;
}

Address Address::V6(std::span<const uint8_t, 16> bytes) {
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  Address address;
  address.v6 = !std::ranges::equal(bytes.first<12>(), kMapped);
  std::ranges::copy(address.v6 ? std::span<const uint8_t>(bytes) : bytes.last<4>(), address.bytes.begin());
  return address;
}

std::optional<Address> Address::Parse(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
    if (text.find(':') == std::string_view::npos) return std::nullopt;
  }
  if (text.find(':') == std::string_view::npos) {
    const auto v4 = ParseV4(text);
    if (!v4) return std::nullopt;
    return V4(*v4);
  }
  const size_t gap = text.find("::");
  auto head = ParseGroups(text.substr(0, gap));
  if (!head) return std::nullopt;
  std::vector<uint16_t> groups = *head;
  if (gap != std::string_view::npos) {
    const auto tail = ParseGroups(text.substr(gap + 2));
    if (!tail || head->size() + tail->size() > 7) return std::nullopt;
    groups.resize(8 - tail->size());
    groups.insert(groups.end(), tail->begin(), tail->end());
  }
  if (groups.size() != 8) return std::nullopt;
  std::array<uint8_t, 16> bytes;
  for (size_t i = 0; i < 8; ++i) {
    bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    bytes[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return V6(bytes);
}

std::string Address::ToString() const {
  if (!v6) return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
  // RFC 5952: the first longest run of two or more zero groups becomes "::".
  std::array<uint16_t, 8> groups;
  for (size_t i = 0; i < 8; ++i) groups[i] = static_cast<uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  size_t best = 8;
  size_t best_length = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t length = 0;
    while (i + length < 8 && groups[i + length] == 0) ++length;
    if (length > best_length) {
      best = i;
      best_length = length;
    }
  }
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    if (i == best) {
      text += "::";
      i += best_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

bool Address::IsPublic() const {
  const auto word = [&](size_t at) {
    return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
  };
  if (!v6) return PublicV4(word(0));
  if (word(0) == 0 && word(4) == 0 && (word(8) == 0 || word(8) == 0xffff)) {
    // ::, ::1, IPv4-compatible and IPv4-mapped.
    return word(8) == 0xffff && PublicV4(word(12));
  }
  if (word(0) == 0x0064ff9b && word(4) == 0 && word(8) == 0) return PublicV4(word(12));  // NAT64
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return PublicV4(word(2));                    // 6to4
  if (word(0) == 0x20010000) return false;                                               // Teredo
  if (word(0) == 0x20010db8) return false;                                               // documentation
  return (bytes[0] & 0xe0) == 0x20;  // 2000::/3 is all that is globally unicast today
}

uint64_t Address::Hash() const {
  if (empty()) return 0;
  const uint64_t hash = Hash64({reinterpret_cast<const char*>(bytes.data()), v6 ? size_t{16} : size_t{4}});
  return hash == 0 ? 1 : hash;
}

}  // namespace portolan
