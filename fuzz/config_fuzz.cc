// Any bytes as a configuration file: a Config or a named error, and what we print is read back the same.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "crawl/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = portolan::ParseConfig(text, "fuzz.toml");
  if (config) {
    const std::string printed = portolan::ConfigToToml(*config);
    const auto again = portolan::ParseConfig(printed, "again.toml");
    CHECK(again.has_value());
    CHECK(portolan::ConfigToToml(*again) == printed);
  }
  return 0;
}
