#include "follow/graph_names.h"

#include <algorithm>

#include "follow/node_key.h"

namespace portolan {

std::string NodeNameOfKey(GraphLevel level, std::string_view key) {
  if (level != GraphLevel::kPages) return HostNameOfKey(key);
  std::string url;
  UrlOfNodeKey(key, url);
  return url;
}

std::string ReversedNameOfKey(std::string_view key) {
  std::string name(key);
  std::ranges::replace(name, ',', '.');
  return name;
}

void AppendLineSafe(std::string_view name, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
}

}  // namespace portolan
