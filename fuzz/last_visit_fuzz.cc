// Any bytes as what a last visit left, and as a URL's record: a value that is written within its bound and read back,
// or nothing.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "flow/url_record.h"
#include "flow/visit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto last = portolan::DecodeLastVisit(bytes)) {
    std::string out;
    portolan::AppendLastVisit(*last, out);
    CHECK(out.size() <= portolan::kMaxLastVisit);
    const auto back = portolan::DecodeLastVisit(out);
    CHECK(back.has_value());
    CHECK(back->validators == last->validators && back->payload_sha1 == last->payload_sha1);
  }
  if (const auto record = portolan::DecodeUrlRecord(bytes)) {
    CHECK(portolan::EncodeUrlRecord(*record) == bytes);
    CHECK(record->last.size() <= portolan::kMaxLastVisit);
  }
  return 0;
}
