// Any bytes as a configuration file: a Config or a named error, and what we print is read back the same. The same bytes
// as the value of a setting: it is taken or refused, and what is taken keeps its range.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "crawl/config.h"
#include "crawl/config_fields.h"

namespace {

void CheckReadBack(const portolan::Config& config) {
  const std::string printed = portolan::ConfigToToml(config);
  const auto again = portolan::ParseConfig(printed, "again.toml");
  CHECK(again.has_value());
  CHECK(portolan::ConfigToToml(*again) == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = portolan::ParseConfig(text, "fuzz.toml");
  if (config) CheckReadBack(*config);

  portolan::Config set;
  for (const std::string_view name : {"fetch.connections", "crawl.max_depth", "crawl.max_time", "memory.total",
                                      "politeness.delay_factor", "fetch.dns_servers", "politeness.user_agent"}) {
    static_cast<void>(portolan::SetConfig(set, name, text));
  }
  for (const portolan::ConfigField& field : portolan::ConfigFields()) CHECK(field.check(set).has_value());
  CheckReadBack(set);
  static_cast<void>(portolan::ValidateConfig(set));
  return 0;
}
