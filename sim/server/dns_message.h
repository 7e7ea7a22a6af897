// DNS messages (RFC 1035, EDNS of RFC 6891): one question in, one answer out. Written by hand, since it is so little.
//
//   0         2       4         6         8         10        12
//   | id      | flags | QDCOUNT | ANCOUNT | NSCOUNT | ARCOUNT | question: name, type, class | records …
//
// Any bytes give a value; nothing is read beyond the input, and no name is followed backwards more than a question can
// need (none: a pointer in the first question has nothing to point to).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/world/answer.h"

namespace portolan::sim {

inline constexpr uint16_t kDnsTypeA = 1;
inline constexpr uint16_t kDnsTypeAaaa = 28;
inline constexpr uint16_t kDnsTypeOpt = 41;
inline constexpr uint16_t kDnsTypeAny = 255;
inline constexpr uint16_t kDnsClassIn = 1;

enum class DnsRcode : uint8_t { kNoError = 0, kFormErr = 1, kServFail = 2, kNxDomain = 3, kNotImp = 4, kRefused = 5 };

struct DnsQuery {
  uint16_t id = 0;
  uint8_t opcode = 0;
  bool recursion_desired = false;
  std::string name;  // lower case, no dot at the end; "" is the root
  uint16_t type = 0;
  uint16_t query_class = 0;
  std::string question;  // as sent, case and all: goes into the answer as it is
  bool edns = false;
  uint16_t udp_bytes = 512;               // the largest datagram that the client accepts
  DnsRcode verdict = DnsRcode::kNoError;  // kFormErr, kNotImp, kRefused: answer so, without asking the world
};

// nullopt for what deserves no answer: less than a header, or an answer itself. A question that cannot be understood
// has a verdict.
std::optional<DnsQuery> ParseDnsQuery(std::string_view packet);

// The whole answer, of at most `most_bytes`. One that does not fit is cut to its question and says so (TC): the client
// then asks over TCP. `answer` may be nullptr if the rcode is enough.
std::string EncodeDnsAnswer(const DnsQuery& query, DnsRcode rcode, const DnsAnswer* answer, size_t most_bytes);

// "A", "AAAA", "TYPE65"
std::string DnsTypeName(uint16_t type);

}  // namespace portolan::sim
