// Any bytes as CURRENT, the file that says what belongs to a link graph.
//
// Held: what is read is written as the same bytes. The checksum would stop nearly every mutation, so the last line is
// made right first, too.

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/crc32c.h"
#include "follow/graph_current.h"

namespace {

using namespace portolan;

void ReadCurrent(std::string_view text) {
  const auto current = GraphCurrent::Parse(text, "CURRENT");
  if (!current) return;
  CHECK(current->ToText() == text);
  for (const auto& file : current->files) {
    CHECK(!file.name.empty() && file.name.find('/') == std::string::npos);
    CHECK(current->Find(file.name) != nullptr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadCurrent(text);
  const size_t last = text.rfind("crc32c ");
  if (last == std::string_view::npos) return 0;
  const std::string_view body = text.substr(0, last);
  ReadCurrent(fmt::format("{}crc32c {:08x}\n", body, Crc32c(body)));
  return 0;
}
