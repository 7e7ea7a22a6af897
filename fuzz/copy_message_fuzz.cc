// What comes from the other side of a copy: any bytes give a message or nothing, and a message that is written again
// reads the same. The same bytes are read as a request and as an answer.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "standby/copy_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = DecodeCopyRequest(bytes)) {
    CHECK(DecodeCopyRequest(EncodeCopyRequest(*request)) == request);
  }
  if (const auto answer = DecodeCopyAnswer(bytes)) {
    CHECK(DecodeCopyAnswer(EncodeCopyAnswer(*answer)) == answer);
    for (const CheckpointFile& file : answer->files) CHECK(file.name.find('/') == std::string::npos);
  }
  return 0;
}
