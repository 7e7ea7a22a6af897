// Any bytes as a hosts file: names that a URL's host could be compared with, and few addresses each.

#include <cstdint>
#include <string_view>

#include "base/ascii.h"
#include "base/check.h"
#include "fetch/hosts_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto& [name, addresses] : portolan::ParseHosts(bytes)) {
    CHECK(!name.empty() && name.find_first_of(" \t\r\n\f\v#") == std::string::npos);
    CHECK(name == portolan::LowerCase(name));
    CHECK(!addresses.empty() && addresses.size() <= 64);
    for (size_t i = 1; i < addresses.size(); ++i) CHECK(!(addresses[i] == addresses[i - 1]));
  }
  return 0;
}
