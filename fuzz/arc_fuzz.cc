// Any bytes behind the version block of an ARC file, of either version: see warc_harness.h.

#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/warc_harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  portolan::CheckReader(bytes);
  portolan::CheckReader("filedesc://x 0.0.0.0 20200101000000 text/plain 4\n1 0\n\n" + std::string(bytes));
  portolan::CheckReader("filedesc://x 0.0.0.0 20200101000000 text/plain 4\n2 0\n\n" + std::string(bytes));
  return 0;
}
