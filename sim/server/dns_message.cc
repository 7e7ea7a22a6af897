#include "sim/server/dns_message.h"

#include <fmt/core.h>

namespace portolan::sim {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kMostNameBytes = 255;
constexpr uint16_t kOurUdpBytes = 1232;  // fits one packet on every path, as DNS flag day 2020 has it

uint16_t Get16(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>((static_cast<uint8_t>(bytes[at]) << 8) | static_cast<uint8_t>(bytes[at + 1]));
}

void Put16(uint64_t value, std::string& out) {
  out += static_cast<char>(value >> 8 & 255);
  out += static_cast<char>(value & 255);
}

void Put32(uint64_t value, std::string& out) {
  Put16(value >> 16, out);
  Put16(value, out);
}

void Put64(uint64_t value, std::string& out) {
  Put32(value >> 32, out);
  Put32(value, out);
}

// A label's bytes as text that no host name contains where they are not those of host names.
void AppendLabel(std::string_view label, std::string& name) {
  if (!name.empty()) name += '.';
  for (const char c : label) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c + 32);
    } else if (c == '.' || c == '\\' || static_cast<unsigned char>(c) <= 0x20) {
      name += fmt::format("\\{:03}", static_cast<unsigned char>(c));
    } else {
      name += c;
    }
  }
}

// Reads a name without pointers at `at`; false when it is not a name.
bool TakeName(std::string_view packet, size_t& at, std::string& name) {
  const size_t start = at;
  for (;;) {
    if (at >= packet.size()) return false;
    const auto size = static_cast<uint8_t>(packet[at]);
    ++at;
    if (size == 0) return at - start <= kMostNameBytes;
    if (size > 63 || packet.size() - at < size || at + size - start > kMostNameBytes) return false;
    AppendLabel(packet.substr(at, size), name);
    at += size;
  }
}

// Beyond a name that may end in a pointer.
bool SkipName(std::string_view packet, size_t& at) {
  for (;;) {
    if (at >= packet.size()) return false;
    const auto size = static_cast<uint8_t>(packet[at]);
    if (size >= 0xc0) {
      at += 2;
      return at <= packet.size();
    }
    ++at;
    if (size == 0) return true;
    if (size > 63 || packet.size() - at < size) return false;
    at += size;
  }
}

// Looks for OPT among the records after the question. What cannot be read is as if it were not there.
void TakeEdns(std::string_view packet, size_t at, size_t records, DnsQuery& query) {
  for (; records > 0; --records) {
    if (!SkipName(packet, at) || packet.size() - at < 10) return;
    const uint16_t type = Get16(packet, at);
    const size_t data_bytes = Get16(packet, at + 8);
    if (type == kDnsTypeOpt) {
      query.edns = true;
      query.udp_bytes = std::max<uint16_t>(512, Get16(packet, at + 2));
      return;
    }
    at += 10;
    if (packet.size() - at < data_bytes) return;
    at += data_bytes;
  }
}

}  // namespace

std::optional<DnsQuery> ParseDnsQuery(std::string_view packet) {
  if (packet.size() < kHeaderBytes) return std::nullopt;
  const uint16_t flags = Get16(packet, 2);
  if ((flags & 0x8000) != 0) return std::nullopt;  // two servers would talk for ever
  DnsQuery query;
  query.id = Get16(packet, 0);
  query.opcode = flags >> 11 & 15;
  query.recursion_desired = (flags & 0x0100) != 0;
  if (query.opcode != 0) {
    query.verdict = DnsRcode::kNotImp;
    return query;
  }
  size_t at = kHeaderBytes;
  if (Get16(packet, 4) != 1 || !TakeName(packet, at, query.name) || packet.size() - at < 4) {
    query.name.clear();
    query.verdict = DnsRcode::kFormErr;
    return query;
  }
  query.type = Get16(packet, at);
  query.query_class = Get16(packet, at + 2);
  at += 4;
  query.question = packet.substr(kHeaderBytes, at - kHeaderBytes);
  if (query.query_class != kDnsClassIn && query.query_class != kDnsTypeAny) query.verdict = DnsRcode::kRefused;
  TakeEdns(packet, at, size_t{Get16(packet, 6)} + Get16(packet, 8) + Get16(packet, 10), query);
  return query;
}

std::string EncodeDnsAnswer(const DnsQuery& query, DnsRcode rcode, const DnsAnswer* answer, size_t most_bytes) {
  const bool asks_v4 = query.type == kDnsTypeA || query.type == kDnsTypeAny;
  const bool asks_v6 = query.type == kDnsTypeAaaa || query.type == kDnsTypeAny;
  size_t v4 = 0;
  size_t v6 = 0;
  if (answer != nullptr && rcode == DnsRcode::kNoError) {
    v4 = asks_v4 ? answer->v4.size() : 0;
    v6 = asks_v6 ? answer->v6.size() : 0;
  }
  constexpr size_t kOptBytes = 11;
  const size_t bytes = kHeaderBytes + query.question.size() + v4 * 16 + v6 * 28 + (query.edns ? kOptBytes : 0);
  const bool cut = bytes > most_bytes || v4 + v6 > 0xffff;
  if (cut) v4 = v6 = 0;
  std::string out;
  out.reserve(std::min(bytes, most_bytes));
  Put16(query.id, out);
  // QR, opcode, AA, TC, RD; RA: stub resolvers expect a server that finds out by itself.
  Put16(0x8000U | unsigned{query.opcode} << 11 | 0x0400U | (cut ? 0x0200U : 0) |
            (query.recursion_desired ? 0x0100U : 0) | 0x0080U | static_cast<unsigned>(rcode),
        out);
  Put16(query.question.empty() ? 0 : 1, out);
  Put16(v4 + v6, out);
  Put16(0, out);
  Put16(query.edns ? 1 : 0, out);
  out += query.question;
  const auto record = [&](uint16_t type, uint64_t data_bytes) {
    Put16(0xc000U | kHeaderBytes, out);  // the name of the question
    Put16(type, out);
    Put16(kDnsClassIn, out);
    Put32(answer->ttl_s, out);
    Put16(data_bytes, out);
  };
  for (size_t i = 0; i < v4; ++i) {
    record(kDnsTypeA, 4);
    Put32(answer->v4[i], out);
  }
  for (size_t i = 0; i < v6; ++i) {
    record(kDnsTypeAaaa, 16);
    Put64(answer->v6[i].first, out);
    Put64(answer->v6[i].second, out);
  }
  if (query.edns) {
    out += '\0';
    Put16(kDnsTypeOpt, out);
    Put16(kOurUdpBytes, out);
    Put32(0, out);
    Put16(0, out);
  }
  return out;
}

std::string DnsTypeName(uint16_t type) {
  switch (type) {
    case kDnsTypeA:
      return "A";
    case 2:
      return "NS";
    case 5:
      return "CNAME";
    case 6:
      return "SOA";
    case 15:
      return "MX";
    case 16:
      return "TXT";
    case kDnsTypeAaaa:
      return "AAAA";
    case 65:
      return "HTTPS";
    case kDnsTypeAny:
      return "ANY";
    default:
      return fmt::format("TYPE{}", type);
  }
}

}  // namespace portolan::sim
