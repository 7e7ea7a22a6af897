// A record of content-seen's log: any bytes give a capture or nothing, and a capture that is written again has the same
// bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "content/first_capture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto capture = DecodeFirstCapture(bytes);
  if (!capture) return 0;
  std::string again;
  EncodeFirstCapture(*capture, again);
  CHECK(again == bytes);
  return 0;
}
