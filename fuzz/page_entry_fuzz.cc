// The calendar's entries: any bytes are an entry or none; an entry is written as it was read.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "fresh/page_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<PageEntry> entry = DecodePageEntry(bytes);
  if (!entry) return 0;
  std::string again;
  EncodePageEntry(*entry, again);
  const std::optional<PageEntry> read = DecodePageEntry(again);
  CHECK(read.has_value() && *read == *entry, "an entry changes when it is written");
  return 0;
}
