// Address: where a host is, IPv4 or IPv6, as the resolver found it and as the connection uses it.
//
// Addresses that are not on the public internet (private, loopback, link-local, multicast, reserved, and IPv6 forms
// that carry such an IPv4 address) are recognised here, because a name on the web may point to them and must not lead
// the crawler to servers of its own network. The check is on the address, not on the name.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hash_key.h"

namespace portolan {

struct Address {
  std::array<uint8_t, 16> bytes{};  // IPv4: the first four; the rest zero
  bool v6 = false;

  static Address V4(uint32_t host_order);
  // In network order. An IPv4-mapped one (::ffff:192.0.2.1) is the IPv4 address: it is the same machine.
  static Address V6(std::span<const uint8_t, 16> bytes);
  // "127.0.0.1", "::1", with or without brackets. Nothing else, no zone.
  static std::optional<Address> Parse(std::string_view text);
  std::string ToString() const;  // without brackets

  // A placeholder for the address of a name that only a proxy can resolve: one per name, so that each has a clock of
  // its own. It is in the discard-only block (RFC 6666), so it belongs to no host and is never public.
  static Address Unresolved(std::string_view name, const HashKey& key);

  bool empty() const { return *this == Address{}; }  // 0.0.0.0 means no address
  bool unresolved() const;
  bool known() const { return !empty() && !unresolved(); }
  bool IsPublic() const;
  uint64_t Hash(const HashKey& key) const;  // never 0 unless empty

  bool operator==(const Address&) const = default;
};

}  // namespace portolan
