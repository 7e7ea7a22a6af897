#include "text/name_hints.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/hash.h"

namespace portolan {
namespace {

struct Word {
  std::string_view word;
  uint16_t hints;
};

// Whole words. A word that ends in '*' stands for all that begin with it.
constexpr Word kWords[] = {
    {"nav", kHintBoilerplate},
    {"navbar", kHintBoilerplate},
    {"navigation", kHintBoilerplate},
    {"navigator", kHintBoilerplate},
    {"menu", kHintBoilerplate},
    {"menus", kHintBoilerplate},
    {"submenu", kHintBoilerplate},
    {"breadcrumb", kHintBoilerplate},
    {"breadcrumbs", kHintBoilerplate},
    {"footer", kHintBoilerplate},
    {"foot", kHintBoilerplate},
    {"masthead", kHintBoilerplate},
    {"topbar", kHintBoilerplate},
    {"toolbar", kHintBoilerplate},
    {"toolbox", kHintBoilerplate},
    {"tools", kHintBoilerplate},
    {"sidebar", kHintBoilerplate},
    {"sidebars", kHintBoilerplate},
    {"aside", kHintBoilerplate},
    {"rail", kHintBoilerplate},
    {"widget", kHintBoilerplate},
    {"widgets", kHintBoilerplate},
    {"share", kHintBoilerplate},
    {"sharing", kHintBoilerplate},
    {"sharebar", kHintBoilerplate},
    {"shares", kHintBoilerplate},
    {"addthis", kHintBoilerplate},
    {"sharedaddy", kHintBoilerplate},
    {"social", kHintBoilerplate},
    {"socials", kHintBoilerplate},
    {"related", kHintBoilerplate},
    {"relateds", kHintBoilerplate},
    {"jp", 0},
    {"recommended", kHintBoilerplate},
    {"recommendation", kHintBoilerplate},
    {"recommendations", kHintBoilerplate},
    {"recommend", kHintBoilerplate},
    {"outbrain", kHintBoilerplate},
    {"taboola", kHintBoilerplate},
    {"zergnet", kHintBoilerplate},
    {"trending", kHintBoilerplate},
    {"popular", kHintBoilerplate},
    {"promo", kHintBoilerplate},
    {"promos", kHintBoilerplate},
    {"promotion", kHintBoilerplate},
    {"promoted", kHintBoilerplate},
    {"sponsor", kHintBoilerplate},
    {"sponsored", kHintBoilerplate},
    {"sponsors", kHintBoilerplate},
    {"ad", kHintBoilerplate},
    {"ads", kHintBoilerplate},
    {"advert", kHintBoilerplate},
    {"adverts", kHintBoilerplate},
    {"advertisement", kHintBoilerplate},
    {"advertising", kHintBoilerplate},
    {"banner", kHintBoilerplate},
    {"newsletter", kHintBoilerplate},
    {"newsletters", kHintBoilerplate},
    {"subscribe", kHintBoilerplate},
    {"subscription", kHintBoilerplate},
    {"signup", kHintBoilerplate},
    {"login", kHintBoilerplate},
    {"signin", kHintBoilerplate},
    {"register", kHintBoilerplate},
    {"cookie", kHintNever},
    {"cookies", kHintNever},
    {"consent", kHintNever},
    {"gdpr", kHintNever},
    {"gdprmodal", kHintNever},
    {"cookielaw", kHintNever},
    {"cookiebar", kHintNever},
    {"onetrust", kHintNever},
    {"cli", kHintNever},
    {"popup", kHintBoilerplate},
    {"modal", kHintBoilerplate},
    {"overlay", kHintBoilerplate},
    {"lightbox", kHintBoilerplate},
    {"copyright", kHintBoilerplate},
    {"disclaimer", kHintBoilerplate},
    {"pager", kHintBoilerplate},
    {"pagination", kHintBoilerplate},
    {"paging", kHintBoilerplate},
    {"search", kHintBoilerplate},
    {"skip", kHintBoilerplate},
    {"alert", kHintBoilerplate},
    {"print", 0},
    {"donate", kHintBoilerplate},
    {"donation", kHintBoilerplate},
    {"poll", kHintBoilerplate},
    {"toc", kHintBoilerplate},
    {"comment", kHintComments},
    {"comments", kHintComments},
    {"commentlist", kHintComments},
    {"disqus", kHintComments},
    {"respond", kHintComments},
    {"replies", kHintComments},
    {"reply", kHintComments},
    {"caption", kHintCaption},
    {"captions", kHintCaption},
    {"credit", kHintCaption},
    {"credits", kHintCaption},
    {"figcaption", kHintCaption},
    {"gallery", kHintCaption},
    {"slideshow", kHintCaption},
    {"carousel", kHintBoilerplate},
    {"byline", kHintMeta},
    {"author", kHintMeta},
    {"authors", kHintMeta},
    {"bio", kHintMeta},
    {"dateline", kHintMeta},
    {"timestamp", kHintMeta},
    {"date", kHintMeta},
    {"meta", kHintMeta},
    {"metadata", kHintMeta},
    {"postmeta", kHintMeta},
    {"tags", kHintMeta},
    {"taglist", kHintMeta},
    {"keywords", kHintMeta},
    {"categories", kHintMeta},
    {"published", kHintMeta},
    {"teaser", kHintTeaser},
    {"teasers", kHintTeaser},
    {"hidden", kHintHidden},
    {"invisible", kHintHidden},
    {"article", kHintContent},
    {"articles", 0},
    {"content", kHintContent},
    {"contents", kHintContent},
    {"entry", kHintContent},
    {"main", kHintContent},
    {"page", kHintContent},
    {"post", kHintContent},
    {"story", kHintContent},
    {"text", kHintContent},
    {"blog", kHintContent},
    {"hentry", kHintContent},
    {"articlebody", kHintBody},
    {"storybody", kHintBody},
    {"articletext", kHintBody},
    {"storytext", kHintBody},
    {"articlecontent", kHintBody},
    {"postcontent", kHintBody},
    {"postbody", kHintBody},
};

constexpr size_t kSlots = 1024;

constexpr uint64_t WordHash(std::string_view word) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : word) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash ^ (hash >> 29);
}

consteval std::array<uint8_t, kSlots> MakeSlots() {
  static_assert(std::size(kWords) < 255);
  std::array<uint8_t, kSlots> slots{};
  for (size_t i = 0; i < std::size(kWords); ++i) {
    size_t slot = WordHash(kWords[i].word) % kSlots;
    while (slots[slot] != 0) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<uint8_t>(i + 1);
  }
  return slots;
}
constexpr std::array<uint8_t, kSlots> kTable = MakeSlots();

// By first letter: bit n says that one of the words has n letters. Most words of names are none of ours, and most of
// those are found to be none here.
consteval std::array<uint64_t, 26> MakeLengths() {
  std::array<uint64_t, 26> lengths{};
  for (const Word& known : kWords)
    lengths[static_cast<size_t>(known.word[0] - 'a')] |= uint64_t{1} << known.word.size();
  return lengths;
}
constexpr std::array<uint64_t, 26> kLengths = MakeLengths();

// REQUIRES: lower-case letters, at most 48 of them.
uint16_t HintsOf(std::string_view word) {
  if ((kLengths[static_cast<size_t>(word[0] - 'a')] >> word.size() & 1) == 0) return 0;
  for (size_t slot = WordHash(word) % kSlots; kTable[slot] != 0; slot = (slot + 1) % kSlots) {
    if (kWords[kTable[slot] - 1].word == word) return kWords[kTable[slot] - 1].hints;
  }
  return 0;
}

}  // namespace

uint16_t NameHints(std::string_view names) {
  constexpr size_t kLongest = 24;
  uint16_t hints = 0;
  std::array<char, kLongest> word;
  std::array<char, 2 * kLongest> pair;  // "article-body" and "articleBody" are "articlebody" too
  size_t size = 0;
  size_t before = 0;
  const auto end_word = [&](bool breaks) {
    if (size > 0 && size <= kLongest) {
      const std::string_view one(word.data(), size);
      hints |= HintsOf(one);
      if (before > 0) {
        std::copy_n(word.data(), size, pair.data() + before);
        hints |= HintsOf({pair.data(), before + size});
      }
      std::copy_n(word.data(), size, pair.data());
      before = size;
    } else if (size > 0) {
      before = 0;
    }
    if (breaks) before = 0;
    size = 0;
  };
  char last = 0;
  for (const char c : names) {
    if (IsAlpha(c)) {
      if (c >= 'A' && c <= 'Z' && last >= 'a' && last <= 'z') end_word(false);
      if (size < kLongest) word[size] = AsciiLower(c);
      ++size;
    } else {
      end_word(c == ' ');
      if (c == '!') hints |= kHintHidden;
    }
    last = c;
  }
  end_word(true);
  return hints;
}

}  // namespace portolan
