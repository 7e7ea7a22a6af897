// Any bytes are a head, the begin of one or none; what is a head stays the same when more follows it.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/server/request_head.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan::sim;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  RequestHead head;
  if (ParseRequestHead(input, head) != HeadStatus::kWhole) return 0;
  if (head.bytes > size) std::abort();
  RequestHead again;
  const std::string longer = std::string(input.substr(0, head.bytes)) + "GET / HTTP/1.1\r\n";
  if (ParseRequestHead(longer, again) != HeadStatus::kWhole || again.bytes != head.bytes || again.host != head.host ||
      again.path_and_query != head.path_and_query) {
    std::abort();
  }
  return 0;
}
