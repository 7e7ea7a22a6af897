#include "html/tag.h"

#include <algorithm>

#include "base/ascii.h"
#include "html/scan.h"

namespace portolan {

Tag FindTag(std::string_view name) {
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < '-'; })) return Tag::kUnknown;
  if (name.size() <= 8) return FindTag(PackName(name));
  for (const Tag tag :
       {Tag::kBlockquote, Tag::kFigcaption, Tag::kPlaintext, Tag::kForeignObject, Tag::kAnnotationXml}) {
    if (std::ranges::equal(name, TagName(tag), [](char a, char b) { return AsciiLower(a) == b; })) return tag;
  }
  return Tag::kUnknown;
}

}  // namespace portolan
