// Any bytes as a CDXJ line: a line or a named error, and what we print of it is read back the same, in both styles.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "warc/cdxj.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using portolan::CdxjStyle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = portolan::ParseCdxj(text);
  if (!line) return 0;
  std::string printed;
  portolan::AppendCdxj(*line, CdxjStyle::kSpaced, printed);
  CHECK(printed.find('\n') == std::string::npos, "one line");
  const auto again = portolan::ParseCdxj(printed);
  CHECK(again.has_value());
  std::string compact;
  portolan::AppendCdxj(*again, CdxjStyle::kCompact, compact);
  const auto third = portolan::ParseCdxj(compact);
  CHECK(third.has_value() && *third == *again, "the style changes no value");
  std::string reprinted;
  portolan::AppendCdxj(*third, CdxjStyle::kSpaced, reprinted);
  CHECK(reprinted == printed, "printing is stable");
  return 0;
}
