#include "html/page.h"

#include "base/ascii.h"
#include "html/link_values.h"
#include "html/scan.h"

namespace portolan {

std::string_view LinkKindName(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNavigation:
      return "navigation";
    case LinkKind::kFrame:
      return "frame";
    case LinkKind::kEmbed:
      return "embed";
    case LinkKind::kResource:
      break;
  }
  return "resource";
}

std::string_view LinkAttributeName(LinkAttribute attribute) {
  constexpr std::string_view kNames[] = {"href", "src",        "srcset",  "poster",      "data", "action",
                                         "cite", "background", "content", "imagesrcset", "style"};
  return kNames[static_cast<size_t>(attribute)];
}

uint16_t ParseRel(std::string_view rel) {
  uint16_t flags = 0;
  const char* p = rel.data();
  const char* end = p + rel.size();
  while ((p = SkipHtmlSpace(p, end)) < end) {
    const char* stop = p;
    while (stop < end && !IsHtmlSpace(*stop)) ++stop;
    const std::string_view word(p, stop);
    p = stop;
    const auto is = [&](std::string_view known, RelFlag flag) {
      if (EqualsIgnoringCase(word, known)) flags |= flag;
    };
    switch (word.size()) {
      case 3:
        is("ugc", kRelUgc);
        break;
      case 4:
        is("next", kRelNext);
        is("prev", kRelPrev);
        is("icon", kRelIcon);
        break;
      case 7:
        is("preload", kRelPreload);
        break;
      case 8:
        is("nofollow", kRelNofollow);
        is("previous", kRelPrev);
        break;
      case 9:
        is("sponsored", kRelSponsored);
        is("canonical", kRelCanonical);
        is("alternate", kRelAlternate);
        is("mask-icon", kRelIcon);
        break;
      case 10:
        is("stylesheet", kRelStylesheet);
        is("preconnect", kRelHint);
        break;
      case 12:
        is("dns-prefetch", kRelHint);
        break;
      case 13:
        is("modulepreload", kRelPreload);
        break;
      case 16:
        is("apple-touch-icon", kRelIcon);
        break;
      case 28:
        is("apple-touch-icon-precomposed", kRelIcon);
        break;
      default:
        break;
    }
  }
  return flags;
}

void Page::Clear() {
  links.clear();
  metas.clear();
  strings.clear();
  text.clear();
  headings.clear();
  outline.clear();
  outline_names.clear();
  has_base = false;
  base = title = description = lang = charset = {};
  base_position = 0;
  canonical = -1;
  meta_encoding.reset();
  links_dropped = values_dropped = 0;
  text_cut = outline_cut = cut = false;
}

}  // namespace portolan
