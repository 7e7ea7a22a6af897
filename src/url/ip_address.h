// The standard's IPv4 and IPv6 parsers and serialisers.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "url/text_buffer.h"

namespace portolan::url_internal {

// "ends in a number": whether the host must be an IPv4 address or nothing.
bool EndsInNumber(std::string_view host);

// Decimal, octal (0…) and hexadecimal (0x…) parts, one to four of them.
std::optional<uint32_t> ParseIpv4(std::string_view host);
void AppendIpv4(uint32_t address, TextBuffer& out);

using Ipv6 = std::array<uint16_t, 8>;
// Without the brackets.
std::optional<Ipv6> ParseIpv6(std::string_view text);
// With the brackets.
void AppendIpv6(const Ipv6& address, TextBuffer& out);

}  // namespace portolan::url_internal
