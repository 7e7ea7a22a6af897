#include "html/tokenizer.h"

#include "base/ascii.h"
#include "base/hash.h"

namespace portolan {

void AppendName(std::string& out, std::string_view raw) {
  for (const char c : raw) {
    if (c == '\0') {
      out += "\xef\xbf\xbd";
    } else {
      out += AsciiLower(c);
    }
  }
}

namespace {

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::ranges::equal(a, b, {}, AsciiLower, AsciiLower);
}

uint64_t NameHash(std::string_view name) {
  uint64_t hash = name.size();
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(AsciiLower(c))) * 0x100000001b3;
  return Mix64(hash);
}

}  // namespace

void DropDuplicateAttributes(std::vector<RawAttribute>& attributes) {
  // Linear in the number of attributes: an open hash table of what was kept, at most half full.
  std::vector<uint32_t> table(std::bit_ceil(2 * attributes.size() + 1), UINT32_MAX);
  size_t kept = 0;
  for (const RawAttribute& attribute : attributes) {
    size_t slot = NameHash(attribute.name) & (table.size() - 1);
    while (table[slot] != UINT32_MAX && !SameName(attributes[table[slot]].name, attribute.name)) {
      slot = (slot + 1) & (table.size() - 1);
    }
    if (table[slot] != UINT32_MAX) continue;
    table[slot] = static_cast<uint32_t>(kept);
    attributes[kept++] = attribute;
  }
  attributes.resize(kept);
}

}  // namespace portolan
