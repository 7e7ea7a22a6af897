#include "sim/world/paths.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/check.h"
#include "sim/world/words.h"

namespace portolan::sim {
namespace {

constexpr std::string_view kColours[1 << kQueryBits] = {"red",   "blue", "green", "small",
                                                        "large", "new",  "used",  "wool"};
constexpr uint64_t kMaxYear = 1'000'000'000;

// A word in one register: no path word is longer than eight bytes.
struct PackedWord {
  char bytes[8];
  uint8_t size;
};

const std::array<PackedWord, 128>& PackedWords() {
  static const std::array<PackedWord, 128> words = [] {
    std::array<PackedWord, 128> packed{};
    for (size_t i = 0; i < packed.size(); ++i) {
      const std::string_view word = PathWords()[i];
      CHECK(word.size() <= sizeof(packed[i].bytes));
      word.copy(packed[i].bytes, word.size());
      packed[i].size = static_cast<uint8_t>(word.size());
    }
    return packed;
  }();
  return words;
}

// Writes without asking how much room there is: kMaxPagePath is enough for the longest form.
struct PathWriter {
  char* to;
  const std::array<PackedWord, 128>& words = PackedWords();

  template <size_t N>
  PathWriter& Text(const char (&text)[N]) {
    std::memcpy(to, text, N - 1);
    to += N - 1;
    return *this;
  }
  PathWriter& Word(uint64_t draw) {
    const PackedWord& word = words[draw & 127];
    std::memcpy(to, word.bytes, sizeof(word.bytes));
    to += word.size;
    return *this;
  }
  PathWriter& Number(uint64_t number) {
    to = std::to_chars(to, to + 20, number).ptr;
    return *this;
  }
};

void AppendNumber(std::string& out, uint64_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  out.append(digits, static_cast<size_t>(end - digits));
}

void AppendHex14(std::string& out, uint64_t number) {
  for (int shift = 52; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[(number >> shift) & 15]);
}

// Digits from `begin` on; moves it past them. At most 18, so that nothing overflows.
std::optional<uint64_t> ReadNumber(std::string_view text, size_t& begin, int base = 10) {
  uint64_t number = 0;
  const std::string_view part = text.substr(std::min(begin, text.size()), 18);
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number, base);
  if (error != std::errc()) return std::nullopt;
  begin += static_cast<size_t>(end - part.data());
  return number;
}

// The last run of digits.
std::optional<uint64_t> LastNumber(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !IsDigit(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsDigit(text[begin - 1])) --begin;
  if (begin == end || end - begin > 18) return std::nullopt;
  return ReadNumber(text, begin);
}

}  // namespace

Paths::Paths(const WorldParams& params, uint64_t seed, const Atlas& atlas)
    : seed_(seed),
      path_row_(Draw(seed, Salt::kPagePath, 0)),
      restricted_(params.restricted_pages / 0.9),
      sitemap_entries_(std::max<uint64_t>(1, params.sitemap_entries)),
      spam_pages_(std::max<uint64_t>(1, params.spam_pages)),
      maze_words_(params.maze_words & 1),
      atlas_(atlas) {}

Section Paths::SectionOf(uint32_t content, uint64_t page, uint64_t draw) const {
  if (Unit(draw) >= restricted_ || page == 0 || kPageBranch * page + 1 < atlas_.Pages(content)) return {};
  const uint64_t which = Mix64(draw);
  return {static_cast<int8_t>(which % kSections), (which >> 32) % 4 != 0};
}

Section Paths::SectionOf(uint32_t content, uint64_t page) const {
  return SectionOf(content, page, Draw(path_row_, Salt::kPagePath, content, page));
}

void Paths::AppendPage(std::string& out, uint32_t content, uint64_t page) const {
  char path[kMaxPagePath];
  out.append(path, static_cast<size_t>(WritePage(path, content, page) - path));
}

char* Paths::WritePage(char* to, uint32_t content, uint64_t page) const {
  PathWriter out{to};
  if (page == 0) return out.Text("/").to;
  const uint64_t draw = Draw(path_row_, Salt::kPagePath, content, page);
  const uint64_t word = draw;
  const uint64_t other = draw >> 7;
  const Section section = SectionOf(content, page, draw);
  switch (section.index) {
    case -1:
      break;
    case 0:
      section.inside ? out.Text("/private/") : out.Text("/private/press/");
      return out.Word(word).Text("-").Number(page).Text(".html").to;
    case 1:
      section.inside ? out.Text("/cgi-bin/") : out.Text("/cgi-binary/");
      return out.Word(word).Text(".pl?id=").Number(page).to;
    case 2:
      section.inside ? out.Text("/search?q=") : out.Text("/research?q=");
      return out.Word(word).Text("&n=").Number(page).to;
    case 3:
      out.Text("/").Word(word).Text("/").Word(other).Text("-").Number(page);
      return section.inside ? out.Text(".print").to : out.Text(".print?full=yes").to;
    case 4:
      section.inside ? out.Text("/tmp/") : out.Text("/tmp/public/");
      return out.Word(word).Text("-").Number(page).Text(".html").to;
    case 5:
      section.inside ? out.Text("/list?sort=up&n=") : out.Text("/list?n=");
      return out.Number(page).to;
    case 6:
      out.Text("/archive/").Word(word);
      section.inside ? out.Text("/raw/") : out.Text("/");
      return out.Number(page).Text(".html").to;
    default:
      section.inside ? out.Text("/Members/") : out.Text("/members/");
      return out.Word(word).Text("-").Number(page).to;
  }
  // Sixteen neighbours share a directory.
  const uint64_t directory = Mix64(path_row_ + content * 0x9e3779b97f4a7c15 + (page >> 4) * 0xd1342543de82ef95);
  const uint64_t deeper = directory >> 7;
  switch ((atlas_.facts(content).style + static_cast<unsigned>((draw >> 14) & 3)) & 7) {
    case 0:
      return out.Text("/").Word(directory).Text("/").Word(word).Text("-").Number(page).Text(".html").to;
    case 1:
      return out.Text("/").Word(directory).Text("/").Word(deeper).Text("/").Number(page).Text(".htm").to;
    case 2:
      return out.Text("/index.php?page=").Word(directory).Text("&id=").Number(page).to;
    case 3:
      out.Text("/").Word(directory).Text("/").Word(deeper).Text("/").Word(word).Text("-");
      return out.Number(page).Text("/").to;
    case 4:
      return out.Text("/").Word(directory).Text("-").Word(word).Text("-").Number(page).to;
    case 5:
      return out.Text("/").Word(directory).Text(".php?cat=").Word(word).Text("&id=").Number(page).Text("&lang=en").to;
    case 6:
      return out.Text("/~").Word(directory).Text("/").Number(page).Text(".html").to;
    default: {
      char* const title = out.Text("/wiki/").to;
      out.Word(word).Text("_").Word(other).Text("_").Number(page);
      *title = static_cast<char>(*title - 'a' + 'A');
      return out.to;
    }
  }
}

void Paths::AppendTrap(std::string& out, uint32_t content, PlaceClass trap, uint64_t state) const {
  const bool in_path = (atlas_.facts(content).style & 8) != 0;
  switch (trap) {
    case PlaceClass::kCalendar:
      out += in_path ? "/calendar/" : "/calendar.php?year=";
      AppendNumber(out, state / 12);
      out += in_path ? "/" : "&month=";
      AppendNumber(out, state % 12 + 1);
      return;
    case PlaceClass::kSession:
      out += in_path ? "/shop/s-" : "/shop.php?sid=";
      AppendHex14(out, state / kSessionItems);
      out += in_path ? "/item-" : "&item=";
      AppendNumber(out, state % kSessionItems);
      return;
    case PlaceClass::kLoop:
      out += "/pub/";
      for (uint64_t i = 0; i < state / 8; ++i) out += "mirror/pub/";
      out += "readme-";
      AppendNumber(out, state % 8);
      out += ".html";
      return;
    case PlaceClass::kQuery: {
      out += "/browse";
      const int bits = 63 - std::countl_zero(state);
      for (int shift = bits - kQueryBits; shift >= 0; shift -= kQueryBits) {
        out += shift == bits - kQueryBits ? "?f=" : "&f=";
        out += kColours[(state >> shift) & ((1 << kQueryBits) - 1)];
      }
      return;
    }
    case PlaceClass::kMaze:
      return AppendMaze(out, content, state);
    default:
      return;
  }
}

void Paths::AppendSpam(std::string& out, HostId host, uint64_t page) {
  if (page == 0) {
    out += '/';
    return;
  }
  const uint64_t draw = Mix64(page * 0x9e3779b97f4a7c15 + host.domain);
  out += '/';
  out += SpamWords()[draw & 31];
  out += '-';
  out += SpamWords()[(draw >> 5) & 31];
  out += '-';
  AppendNumber(out, page);
  out += ".html";
}

void Paths::AppendRobots(std::string& out, uint64_t number) {
  out += "/robots";
  if (number > 0) {
    out += '-';
    AppendNumber(out, number);
  }
  out += ".txt";
}

void Paths::AppendSitemap(std::string& out, bool gz, uint64_t part) {
  out += "/sitemap";
  if (part > 0) {
    out += '-';
    AppendNumber(out, part);
  }
  out += gz && part > 0 ? ".xml.gz" : ".xml";
}

uint64_t Paths::Sitemaps(uint32_t hid) const {
  if (!atlas_.facts(hid).sitemap) return 0;
  constexpr uint64_t kMaxParts = 100;
  const uint64_t parts = (atlas_.Pages(hid) + sitemap_entries_ - 1) / sitemap_entries_;
  return parts <= 1 ? 1 : 1 + std::min(parts, kMaxParts);
}

uint64_t Paths::RobotsHops(uint32_t hid) const {
  return atlas_.facts(hid).robots == RobotsKind::kRedirect ? 1 + Draw(seed_, Salt::kHostRobots, hid, 7) % 4 : 0;
}

Place Paths::FindTrap(HostId host, uint32_t content, std::string_view path) const {
  const uint8_t traps = atlas_.facts(content).traps;
  Place place{host, PlaceClass::kNothing, 0};
  size_t at = 0;
  const auto after = [&](std::string_view in_path, std::string_view in_query) {
    at = path.starts_with(in_path) ? in_path.size() : path.starts_with(in_query) ? in_query.size() : 0;
    return at > 0;
  };
  if ((traps & kTrapCalendar) != 0 && after("/calendar/", "/calendar.php?year=")) {
    const auto year = ReadNumber(path, at);
    at = std::max(path.rfind('/') + 1, path.rfind('=') + 1);
    const auto month = ReadNumber(path, at);
    if (year && month && *year <= kMaxYear && *month >= 1 && *month <= 12) {
      place = {host, PlaceClass::kCalendar, *year * 12 + *month - 1};
    }
  } else if ((traps & kTrapSession) != 0 && after("/shop/s-", "/shop.php?sid=")) {
    size_t end = at;
    const auto session = ReadNumber(path.substr(0, at + 14), end, 16);
    const auto item = LastNumber(path.substr(std::min(at + 14, path.size())));
    if (session && end == at + 14 && item && *item < kSessionItems) {
      place = {host, PlaceClass::kSession, *session * kSessionItems + *item};
    }
  } else if ((traps & kTrapLoop) != 0 && after("/pub/", "/pub/")) {
    const auto file = LastNumber(path);
    const size_t depth = (path.size() - at) / std::string_view("mirror/pub/").size();
    if (file && *file < 8 && depth <= kLoopDepth + 1) {
      // "readme-0.html" is longer than one turn of the loop.
      place = {host, PlaceClass::kLoop, (depth - std::min<size_t>(depth, 1)) * 8 + *file};
    }
  } else if ((traps & kTrapQuery) != 0 && path.starts_with("/browse")) {
    uint64_t state = 1;
    uint64_t steps = 0;
    at = std::string_view("/browse").size();
    while (at < path.size() && steps < kQuerySteps) {
      const std::string_view rest = path.substr(std::min(at + 3, path.size()));
      const std::string_view value = rest.substr(0, rest.find('&'));
      const auto* const found = std::find(std::begin(kColours), std::end(kColours), value);
      if (found == std::end(kColours)) break;
      state = state << kQueryBits | static_cast<uint64_t>(found - std::begin(kColours));
      at += 3 + value.size();
      ++steps;
    }
    if (at == path.size()) place = {host, PlaceClass::kQuery, state};
  }
  return place;
}

// The number that a page's path would have; 0 if it has none.
uint64_t Paths::PageOfPath(uint32_t content, std::string_view path) const {
  const auto number = LastNumber(path);
  return number && *number < atlas_.Pages(content) ? *number : 0;
}

Place Paths::Find(HostId host, std::string_view path) const {
  const Place nothing{host, PlaceClass::kNothing, 0};
  Place place = nothing;
  std::string written;
  if (host.domain >= atlas_.domains()) {
    const auto number = path == "/" ? std::optional<uint64_t>(0) : LastNumber(path);
    if (path == "/robots.txt") return {host, PlaceClass::kRobots, 0};
    if (!number || *number >= spam_pages_) return nothing;
    AppendSpam(written, host, *number);
    return written == path ? Place{host, PlaceClass::kSpam, *number} : nothing;
  }
  const uint32_t hid = atlas_.Hid(host);
  const HostFacts& facts = atlas_.facts(hid);
  if (path == "/") return {host, PlaceClass::kPage, 0};
  if (path.starts_with("/robots")) {
    const auto number = path == "/robots.txt" ? std::optional<uint64_t>(0) : LastNumber(path);
    if (!number || *number > RobotsHops(hid)) return nothing;
    AppendRobots(written, *number);
    return written == path ? Place{host, PlaceClass::kRobots, *number} : nothing;
  }
  if (path.starts_with("/sitemap")) {
    const auto part = path == "/sitemap.xml" ? std::optional<uint64_t>(0) : LastNumber(path);
    if (!part || *part >= Sitemaps(hid)) return nothing;
    AppendSitemap(written, facts.sitemap_gz, *part);
    return written == path ? Place{host, PlaceClass::kSitemap, *part} : nothing;
  }
  if (facts.traps != 0) place = FindTrap(host, facts.content, path);
  if (place.place_class != PlaceClass::kNothing) {
    AppendTrap(written, facts.content, place.place_class, place.number);
    return written == path ? place : nothing;
  }
  if (facts.mazes != 0) {
    if (place = FindMaze(host, facts.content, path); place.place_class != PlaceClass::kNothing) return place;
  }
  const auto number = LastNumber(path);
  if (!number || *number == 0 || *number >= atlas_.Pages(hid)) return nothing;
  AppendPage(written, facts.content, *number);
  return written == path ? Place{host, PlaceClass::kPage, *number} : nothing;
}

}  // namespace portolan::sim
