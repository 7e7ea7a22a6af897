// The frontier's record of a host: any bytes give a host or nothing, and a host that is written again reads the same.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "frontier/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const auto host = DecodeSnapshotHost({reinterpret_cast<const char*>(data), size});
  if (host) {
    const auto again = DecodeSnapshotHost(EncodeSnapshotHost(*host));
    CHECK(again == host);
  }
  return 0;
}
