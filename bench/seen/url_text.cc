#include "bench/seen/url_text.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"

namespace portolan::bench {
namespace {

// The head of the vocabulary: what paths really say.
constexpr std::string_view kCommonWords[] = {
    "the",      "news",     "and",      "for",      "how",      "new",      "page",    "what",     "with",
    "best",     "world",    "health",   "sport",    "people",   "city",     "music",   "home",     "guide",
    "review",   "year",     "school",   "book",     "film",     "water",    "market",  "science",  "travel",
    "history",  "summer",   "report",   "online",   "women",    "children", "data",    "energy",   "climate",
    "garden",   "kitchen",  "recipe",   "winter",   "free",     "first",    "after",   "from",     "law",
    "police",   "election", "minister", "season",   "player",   "team",     "against", "game",     "phone",
    "software", "design",   "price",    "house",    "car",      "electric", "green",   "black",    "white",
    "light",    "paper",    "stone",    "river",    "mountain", "island",   "harbour", "bridge",   "street",
    "museum",   "gallery",  "theatre",  "festival", "weather",  "morning",  "evening", "night",    "doctor",
    "patient",  "disease",  "vaccine",  "study",    "research", "student",  "teacher", "language", "english",
    "german",   "french",   "spanish",  "chinese",  "american", "european", "african", "national", "local",
    "public",   "private",  "company",  "business", "finance",  "money",    "bank",    "credit",   "insurance",
    "tax",      "budget",   "leather",  "cotton",   "steel",    "wood",     "glass",   "plastic",  "battery",
    "camera",   "screen",   "keyboard", "family",   "friend",   "mother",   "father",  "brother",  "sister",
    "animal",   "horse",    "forest",   "farm",
};

constexpr std::string_view kSyllables[] = {
    "an",  "ber", "ca",  "den", "el", "for", "gar", "hel", "in",  "jo", "ka",  "lan",  "mer", "no",  "or",  "pa",
    "qui", "ran", "sta", "ter", "un", "ver", "wes", "xi",  "yor", "za", "bri", "cho",  "dra", "eth", "fla", "gro",
    "ham", "ing", "jan", "kel", "lo", "mi",  "ner", "on",  "pre", "ra", "si",  "tion", "ul",  "vi",  "wa",  "ton",
    "ba",  "con", "di",  "es",  "fi", "ge",  "hu",  "is",  "le",  "ma", "ne",  "ou",   "pol", "re",  "se",  "ti",
};

constexpr std::string_view kTopLevels[] = {".com", ".com",  ".com", ".org", ".net", ".de",  ".co.uk",  ".fr",
                                           ".com", ".info", ".it",  ".ru",  ".nl",  ".edu", ".com.au", ".io"};
constexpr std::string_view kSections[] = {"news",       "sport", "politics", "culture", "business", "opinion",
                                          "technology", "life",  "science",  "travel",  "world",    "local"};
constexpr std::string_view kKinds[] = {"category", "tag", "topics", "author", "section", "collections"};

char* Put(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* PutNumber(uint64_t value, char* to) {
  char digits[20];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  const auto length = static_cast<size_t>(digits + sizeof digits - at);
  std::memcpy(to, at, length);
  return to + length;
}

char* PutTwoDigits(uint32_t value, char* to) {
  to[0] = static_cast<char>('0' + value / 10);
  to[1] = static_cast<char>('0' + value % 10);
  return to + 2;
}

char* PutHex(uint64_t value, int digits, char* to) {
  for (int i = 0; i < digits; ++i, value >>= 4) *to++ = "0123456789abcdef"[value & 15];
  return to;
}

}  // namespace

UrlText::UrlText() {
  std::unordered_set<std::string> made;
  uint64_t random = 1;
  for (uint32_t i = 0; i < kWords; ++i) {
    std::string word;
    if (i < std::size(kCommonWords)) {
      word = kCommonWords[i];
    } else {
      do {
        random = Mix64(random + 0x9e3779b97f4a7c15);
        word.clear();
        const uint64_t syllables = 2 + (random >> 60) % 3 / 2 + (random >> 56) % 2;
        for (uint64_t s = 0; s < syllables; ++s) word += kSyllables[(random >> (6 * s)) & 63];
      } while (made.contains(word) || word.size() > sizeof(Word::text));
    }
    made.insert(word);
    std::memset(words_[i].text, 0, sizeof words_[i].text);
    std::memcpy(words_[i].text, word.data(), word.size());
    words_[i].length = static_cast<uint8_t>(word.size());
  }
}

char* UrlText::PutWord(uint32_t index, char* to) const {
  std::memcpy(to, &words_[index], sizeof(Word));
  return to + words_[index].length;
}

char* UrlText::PutSkewedWord(uint64_t random16, char* to) const {
  const uint64_t uniform = random16 & 0xffff;
  return PutWord(static_cast<uint32_t>((uniform * uniform) >> 20), to);
}

char* UrlText::PutSlug(uint64_t random, uint32_t words, char separator, char* to) const {
  for (uint32_t i = 0; i < words; ++i) {
    if (i != 0) *to++ = separator;
    to = PutSkewedWord(random, to);
    random = (random >> 16) | (random << 48);
    if (i == 3) random = Mix64(random);
  }
  return to;
}

char* UrlText::Host(uint64_t host, char* to) const {
  // Two words hold 24 bits of the host's number, shuffled; a site past 2^24 gets the rest as digits.
  constexpr uint64_t kMask = (1U << 24) - 1;
  uint64_t shuffled = (host * 0x9e3779b1U) & kMask;
  shuffled ^= shuffled >> 12;
  const uint64_t hash = Mix64(host + 0x517cc1b727220a95);
  to = Put((hash & 15) < 13 ? "https://" : "http://", to);
  const auto first = static_cast<uint32_t>(shuffled & 4095);
  const auto second = static_cast<uint32_t>(shuffled >> 12);
  const bool subdomain = (hash >> 4 & 3) == 0;
  if (!subdomain && (hash >> 6 & 3) != 0) to = Put("www.", to);
  to = PutWord(first, to);
  *to++ = subdomain ? '.' : '-';
  to = PutWord(second, to);
  if (host > kMask) to = PutNumber(host >> 24, to);
  return Put(kTopLevels[hash >> 8 & 15], to);
}

char* UrlText::Navigation(uint64_t host, uint32_t index, char* to) const {
  *to++ = '/';
  if (index == 0) return to;
  const uint64_t hash = Mix64((host << 8 | index) + 0x2545f4914f6cdd1d);
  const uint64_t style = Mix64(host) >> 7;
  switch (hash & 7) {
    case 0:
    case 1:
    case 2:  // "/category/energy/"
      to = Put(kKinds[style % std::size(kKinds)], to);
      *to++ = '/';
      to = PutSlug(hash >> 8, 1 + (hash >> 3 & 1), '-', to);
      break;
    case 3:  // "/new-player-guide.html"
      to = PutSlug(hash >> 8, 3, '-', to);
      return Put(".html", to);
    case 4:  // assets with a version
      to = Put("assets/", to);
      to = PutSkewedWord(style >> 16, to);
      to = Put("/css/", to);
      to = PutSkewedWord(hash >> 8, to);
      to = Put(".min.css?ver=", to);
      *to++ = static_cast<char>('1' + (style >> 8) % 9);
      *to++ = '.';
      *to++ = static_cast<char>('0' + (style >> 12) % 10);
      return to;
    default:  // "/sport/winter-game/"
      to = Put(kSections[hash >> 8 & 7], to);
      *to++ = '/';
      to = PutSlug(hash >> 16, 2 + (hash >> 4 & 1), '-', to);
      break;
  }
  *to++ = '/';
  return to;
}

char* UrlText::Content(uint64_t host, uint64_t number, char* to) const {
  const uint64_t style = Mix64(host);
  const uint64_t hash = Mix64(style ^ (number + 1) * 0x9e3779b97f4a7c15);
  // Pages are numbered as they are published: about eight a day.
  const uint64_t day = (style >> 40 & 0x3ff) + number / 8;
  const auto year = static_cast<uint32_t>(2010 + day / 372 % 17);
  const auto month = static_cast<uint32_t>(1 + day / 31 % 12);
  const uint64_t id = (style >> 44 & 0xfff) * 100 + number * 7 + (hash & 3);
  *to++ = '/';
  switch (style & 7) {
    case 0:
    case 1:  // blog: /2024/05/three-to-six-words/
      to = PutNumber(year, to);
      *to++ = '/';
      to = PutTwoDigits(month, to);
      *to++ = '/';
      to = PutSlug(hash, 4 + (hash >> 62 & 1), '-', to);
      *to++ = '/';
      return to;
    case 2:  // newspaper: /politics/some-words-123456.html
      to = Put(kSections[(hash >> 50) % std::size(kSections)], to);
      *to++ = '/';
      to = PutSlug(hash, 4 + (hash >> 61 & 3), '-', to);
      *to++ = '-';
      to = PutNumber(id, to);
      return Put(".html", to);
    case 3:  // shop: /product/some-words?color=black&size=12
      to = Put("product/catalogue/", to);
      to = PutSlug(hash, 2 + (hash >> 62 & 1), '-', to);
      *to++ = '-';
      to = PutNumber(id, to);
      if ((hash >> 58 & 1) != 0) {
        to = Put("?color=", to);
        to = PutWord(60 + (hash >> 52 & 3), to);
        to = Put("&size=", to);
        to = PutNumber(34 + (hash >> 48 & 15), to);
      }
      return to;
    case 4:  // forum: /viewtopic.php?f=12&t=3456&start=20
      to = Put("viewtopic.php?f=", to);
      to = PutNumber(1 + (hash >> 50 & 15), to);
      to = Put("&t=", to);
      to = PutNumber(id, to);
      if ((hash >> 40 & 3) == 0) {
        to = Put("&start=", to);
        to = PutNumber((1 + (hash >> 36 & 7)) * 20, to);
      }
      if ((hash >> 42 & 7) == 0) {
        to = Put("&sid=", to);
        to = PutHex(Mix64(hash), 16, to);
        to = PutHex(Mix64(hash + 1), 16, to);
      }
      return to;
    case 5: {  // wiki: /wiki/Some_Words
      to = Put("wiki/", to);
      char* const begin = to;
      to = PutSlug(hash, 2 + (hash >> 62 & 1), '_', to);
      *begin = static_cast<char>(*begin - 'a' + 'A');
      if ((hash >> 40 & 7) == 0) {
        to = Put("_(", to);
        to = PutSkewedWord(hash >> 44, to);
        *to++ = ')';
      }
      return to;
    }
    case 6:  // media: /uploads/2024/05/words-1200x800.jpg, or named by their digest
      to = Put("uploads/", to);
      to = PutNumber(year, to);
      *to++ = '/';
      to = PutTwoDigits(month, to);
      *to++ = '/';
      if ((style >> 60 & 3) == 0) {
        to = PutHex(hash, 16, to);
      } else {
        to = PutSlug(hash, 2 + (hash >> 62 & 1), '-', to);
        *to++ = '_';
        to = PutNumber(id, to);
      }
      to = Put((hash >> 52 & 3) == 0 ? "-1200x800" : "-300x200", to);
      return Put(".jpg", to);
    default:  // magazine: /articles/2024/05/17/words.php?utm_source=…
      to = Put("articles/", to);
      to = PutNumber(year, to);
      *to++ = '/';
      to = PutTwoDigits(month, to);
      *to++ = '/';
      to = PutTwoDigits(static_cast<uint32_t>(1 + day % 31), to);
      *to++ = '/';
      to = PutSlug(hash, 4 + (hash >> 62 & 1), '-', to);
      if ((hash >> 56 & 3) == 0) {
        to = Put("?utm_source=", to);
        to = PutSkewedWord(hash >> 40, to);
        to = Put("&utm_medium=feed&id=", to);
        to = PutNumber(id, to);
      }
      return to;
  }
}

}  // namespace portolan::bench
