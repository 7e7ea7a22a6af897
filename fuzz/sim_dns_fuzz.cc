// Any packet is a question or is not; its answer keeps within what the client takes.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/server/dns_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan::sim;
  const auto query = ParseDnsQuery({reinterpret_cast<const char*>(data), size});
  if (!query) return 0;
  DnsAnswer answer;
  answer.v4.resize(size % 64, 0x7f000001);
  answer.v6.resize(size % 7, {0, 1});
  const std::string reply = EncodeDnsAnswer(*query, query->verdict, &answer, query->udp_bytes);
  if (reply.size() < 12 || reply.size() > query->udp_bytes || ParseDnsQuery(reply)) std::abort();
  return 0;
}
