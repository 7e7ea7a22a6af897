#include "flow/address.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace portolan {
namespace {

struct RangeV4 {
  uint32_t base;
  int bits;
};

// IANA's IPv4 Special-Purpose Address Registry: what is not globally reachable; and multicast. Its two exceptions
// within 192.0.0.0/24 (192.0.0.9 and .10, anycast of port control and TURN) stay out: the nearest machine that answers
// there may well be our own gateway.
constexpr RangeV4 kNotPublicV4[] = {
    {0x00000000, 8},   // "this network"
    {0x0a000000, 8},   // 10.0.0.0, private
    {0x64400000, 10},  // 100.64.0.0, shared by a provider's customers
    {0x7f000000, 8},   // loopback
    {0xa9fe0000, 16},  // 169.254.0.0, link-local
    {0xac100000, 12},  // 172.16.0.0, private
    {0xc0000000, 24},  // 192.0.0.0, protocol assignments
    {0xc0000200, 24},  // 192.0.2.0, documentation
    {0xc0586300, 24},  // 192.88.99.0, 6to4 relays, withdrawn
    {0xc0a80000, 16},  // 192.168.0.0, private
    {0xc6120000, 15},  // 198.18.0.0, benchmarks
    {0xc6336400, 24},  // 198.51.100.0, documentation
    {0xcb007100, 24},  // 203.0.113.0, documentation
    {0xe0000000, 4},   // multicast
    {0xf0000000, 4},   // reserved, broadcast
};

struct RangeV6 {
  uint64_t base;  // the first half of the address
  int bits;
  bool is_public;
};

// IANA's IPv6 Special-Purpose Address Registry, within what is globally unicast at all: the first that fits decides,
// and what fits none is not public (that is ::/96, 64:ff9b:1::/48, 100::/64, 100:0:0:1::/64, 5f00::/16, fc00::/7,
// fe80::/10, fec0::/10, ff00::/8 and all that is unassigned). Left out of the exceptions to 2001::/23: the anycast
// addresses 2001:1::1 to 2001:1::3, as for IPv4. Forms that carry an IPv4 address are checked by that address, before
// this table.
constexpr RangeV6 kRangesV6[] = {
    {0x2001'0003'0000'0000, 32, true},   // 2001:3::, multicast tunnels (AMT)
    {0x2001'0004'0112'0000, 48, true},   // 2001:4:112::, AS112
    {0x2001'0020'0000'0000, 28, true},   // 2001:20::, ORCHIDv2
    {0x2001'0030'0000'0000, 28, true},   // 2001:30::, drones
    {0x2001'0000'0000'0000, 23, false},  // protocol assignments: Teredo, benchmarks, ORCHID …
    {0x2001'0db8'0000'0000, 32, false},  // documentation
    {0x3fff'0000'0000'0000, 20, false},  // documentation (RFC 9637)
    {0x2000'0000'0000'0000, 3, true},    // all that is globally unicast today
};

constexpr uint64_t kDiscard = 0x0100'0000'0000'0000;  // 100::/64 (RFC 6666)

bool PublicV4(uint32_t address) {
  for (const RangeV4& range : kNotPublicV4) {
    if ((address ^ range.base) >> (32 - range.bits) == 0) return false;
  }
  return true;
}

bool PublicV6(uint64_t first_half) {
  for (const RangeV6& range : kRangesV6) {
    if ((first_half ^ range.base) >> (64 - range.bits) == 0) return range.is_public;
  }
  return false;
}

uint64_t FirstHalf(const Address& address) {
  uint64_t half = 0;
  for (size_t i = 0; i < 8; ++i) half = half << 8 | address.bytes[i];
  return half;
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

Address Address::Unresolved(std::string_view name, const HashKey& key) {
  Address address;
  address.v6 = true;
  const uint64_t hash = key.Hash(name);
  for (size_t i = 0; i < 8; ++i) {
    address.bytes[i] = static_cast<uint8_t>(kDiscard >> (56 - 8 * i));
    address.bytes[8 + i] = static_cast<uint8_t>(hash >> (56 - 8 * i));
  }
  return address;
}

bool Address::unresolved() const { return v6 && FirstHalf(*this) == kDiscard; }

bool Address::IsPublic() const {
  const auto word = [&](size_t at) {
    return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
  };
  if (!v6) return PublicV4(word(0));
  const bool mapped = word(0) == 0 && word(4) == 0 && word(8) == 0xffff;
  const bool nat64 = word(0) == 0x0064ff9b && word(4) == 0 && word(8) == 0;
  if (mapped || nat64) return PublicV4(word(12));
  if (word(0) >> 16 == 0x2002) return PublicV4(word(2));  // 6to4
  return PublicV6(FirstHalf(*this));
}

uint64_t Address::Hash(const HashKey& key) const {
  if (empty()) return 0;
  const uint64_t hash = key.Hash({reinterpret_cast<const char*>(bytes.data()), v6 ? size_t{16} : size_t{4}});
  return hash == 0 ? 1 : hash;
}

}  // namespace portolan
