#include "sim/world/maze.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include "sim/world/words.h"

namespace portolan::sim {
namespace {

constexpr uint64_t kLastDay = 3'000'000;  // of calendars: the year 10183
constexpr std::string_view kValues[8] = {"red", "wide", "new", "steel", "north", "basic", "plain", "long"};

// The words and the form of one kind on one host.
struct Spelling {
  Spelling(uint64_t seed, uint64_t list, uint32_t content, MazeKind kind)
      : words(MazeWords(list)), group(8 * static_cast<size_t>(kind)) {
    uint64_t row = Draw(seed, Salt::kMaze, ~uint64_t{content}, static_cast<uint64_t>(kind));
    form = NextDraw(row);
    first = form >> 32;
  }
  // Different words of the kind for different i below 8.
  std::string_view Word(uint64_t i) const { return words[group + (first + i) % 8]; }

  std::span<const std::string_view> words;
  size_t group;
  uint64_t form = 0;
  uint64_t first = 0;
};

std::optional<uint64_t> Number(std::string_view& text, int base = 10, size_t most = 16) {
  uint64_t number = 0;
  const char* const end = text.data() + std::min(text.size(), most);
  const auto [at, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(at - text.data()));
  return number;
}

bool Skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::chrono::year_month_day DateOf(uint64_t day) {
  return std::chrono::sys_days(std::chrono::days(static_cast<int64_t>(day)));
}

std::optional<uint64_t> DayOf(uint64_t year, uint64_t month, uint64_t day) {
  if (year < 1970 || year > 11'000 || month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  return static_cast<uint64_t>(std::chrono::sys_days(date).time_since_epoch().count());
}

void AppendCalendar(std::string& out, const Spelling& spelling, uint64_t number) {
  const auto date = DateOf(number % kLastDay);
  const int year = static_cast<int>(date.year());
  const auto month = static_cast<unsigned>(date.month());
  const auto day = static_cast<unsigned>(date.day());
  switch (spelling.form % 4) {
    case 0:
      fmt::format_to(std::back_inserter(out), "/{}/{}/{:02}/{:02}/", spelling.Word(0), year, month, day);
      return;
    case 1:
      fmt::format_to(std::back_inserter(out), "/{}?y={}&m={}&d={}", spelling.Word(0), year, month, day);
      return;
    case 2:
      fmt::format_to(std::back_inserter(out), "/{}/{}-{:02}-{:02}", spelling.Word(0), year, month, day);
      return;
    default:
      fmt::format_to(std::back_inserter(out), "/{}/{}.php?{}={}{:02}{:02}", spelling.Word(0), spelling.Word(1),
                     spelling.Word(2), year, month, day);
  }
}

std::optional<uint64_t> FindCalendar(std::string_view path, const Spelling& spelling) {
  const std::string_view separators[] = {"/", "&m=", "-"};
  const std::string_view later[] = {"/", "&d=", "-"};
  const size_t form = spelling.form % 4;
  const char* const heads[] = {"/{}/", "/{}?y=", "/{}/"};
  if (form < 3) {
    if (!Skip(path, fmt::format(fmt::runtime(heads[form]), spelling.Word(0)))) return std::nullopt;
    const auto year = Number(path);
    if (!year || !Skip(path, separators[form])) return std::nullopt;
    const auto month = Number(path);
    if (!month || !Skip(path, later[form])) return std::nullopt;
    const auto day = Number(path);
    return day ? DayOf(*year, *month, *day) : std::nullopt;
  }
  if (!Skip(path, fmt::format("/{}/{}.php?{}=", spelling.Word(0), spelling.Word(1), spelling.Word(2)))) {
    return std::nullopt;
  }
  const auto number = Number(path);
  return number ? DayOf(*number / 10'000, *number / 100 % 100, *number % 100) : std::nullopt;
}

}  // namespace

std::string_view MazeKindName(MazeKind kind) {
  constexpr std::string_view kNames[kMazeKinds] = {"repeat",  "calendar", "session_path", "session_query",
                                                   "growing", "facets",   "soft404",      "redirect"};
  return kNames[static_cast<size_t>(kind)];
}

MazeLook LookOfMaze(const Web& web, uint32_t content, uint64_t state) {
  const MazeKind kind = MazeKindOf(state);
  const uint64_t rest = state & kMazeMask;
  const uint64_t shared = Draw(web.seed, Salt::kMaze, content, 0x74657874 + static_cast<uint64_t>(kind));
  switch (kind) {
    case MazeKind::kRepeat:
      return {.text = Mix64(shared + rest % kMazeFiles)};
    case MazeKind::kSessionPath:
    case MazeKind::kSessionQuery: {
      const uint64_t page = rest & 0xffffff;
      const uint64_t shown = web.Shown(content, page, web.fate.Kind(content, page));
      return {.text = Draw(web.seed, Salt::kPageText, content, shown), .page = true, .number = page};
    }
    case MazeKind::kSoft404:
    case MazeKind::kRedirect:
      return {.text = shared};
    case MazeKind::kCalendar:
    case MazeKind::kGrowing:
    case MazeKind::kFacets:
      break;
  }
  return {.text = shared, .twist = Mix64(state) | 1};
}

void Paths::AppendMaze(std::string& out, uint32_t content, uint64_t state) const {
  const MazeKind kind = MazeKindOf(state);
  const uint64_t rest = state & kMazeMask;
  const Spelling spelling(seed_, maze_words_, content, kind);
  switch (kind) {
    case MazeKind::kRepeat:
      fmt::format_to(std::back_inserter(out), "/{}/", spelling.Word(0));
      for (uint64_t i = 0; i < rest / kMazeFiles; ++i) {
        fmt::format_to(std::back_inserter(out), "{}/", spelling.Word(1));
        if (spelling.form % 2 == 0) fmt::format_to(std::back_inserter(out), "{}/", spelling.Word(0));
      }
      fmt::format_to(std::back_inserter(out), "{}-{}.html", spelling.Word(2), rest % kMazeFiles);
      return;
    case MazeKind::kCalendar:
      return AppendCalendar(out, spelling, rest);
    case MazeKind::kSessionPath:
      if (spelling.form % 2 == 0) {
        fmt::format_to(std::back_inserter(out), "/{}-{:09x}", spelling.Word(0), rest >> 24);
        return AppendPage(out, content, rest & 0xffffff);
      }
      {
        std::string page;
        AppendPage(page, content, rest & 0xffffff);
        const size_t query = std::min(page.find('?'), page.size());
        page.insert(query, fmt::format(";{}={:09x}", spelling.Word(0), rest >> 24));
        out += page;
      }
      return;
    case MazeKind::kSessionQuery: {
      const size_t begin = out.size();
      AppendPage(out, content, rest & 0xffffff);
      const bool query = out.find('?', begin) != std::string::npos;
      fmt::format_to(std::back_inserter(out), "{}{}={:09x}", query ? '&' : '?', spelling.Word(0), rest >> 24);
      return;
    }
    case MazeKind::kGrowing: {
      fmt::format_to(std::back_inserter(out), "/{}", spelling.Word(0));
      const int bits = 63 - std::countl_zero(rest | 1);
      for (int shift = bits - 3; shift >= 0; shift -= 3) {
        const std::string_view value = kValues[rest >> shift & 7];
        const bool begins = shift == bits - 3;
        if (spelling.form % 2 == 0) {
          fmt::format_to(std::back_inserter(out), "{}{}={}", begins ? '?' : '&', spelling.Word(1), value);
        } else if (begins) {
          fmt::format_to(std::back_inserter(out), "?{}={}", spelling.Word(1), value);
        } else {
          fmt::format_to(std::back_inserter(out), ",{}", value);
        }
      }
      return;
    }
    case MazeKind::kFacets: {
      fmt::format_to(std::back_inserter(out), "/{}", spelling.Word(0));
      char separator = '?';
      for (unsigned facet = 0; facet < kMazeFacets; ++facet) {
        const uint64_t value = rest >> (3 * facet) & 7;
        if (value == 0) continue;
        fmt::format_to(std::back_inserter(out), "{}{}={}", separator, spelling.Word(1 + facet), kValues[value]);
        separator = '&';
      }
      return;
    }
    case MazeKind::kSoft404:
      fmt::format_to(std::back_inserter(out), "/{}/{}-{:09x}", spelling.Word(0), spelling.Word(1 + rest % 4),
                     rest & kMazeToken);
      return;
    case MazeKind::kRedirect:
      fmt::format_to(std::back_inserter(out), "/{}{}{}", spelling.Word(0),
                     spelling.form % 2 == 0 ? "/" : "?u=", rest & kMazeToken);
      return;
  }
}

Place Paths::FindMaze(HostId host, uint32_t content, std::string_view path) const {
  const Place nothing{host, PlaceClass::kNothing, 0};
  const uint8_t mazes = atlas_.facts(content).mazes;
  for (unsigned i = 0; i < kMazeKinds; ++i) {
    if ((mazes >> i & 1) == 0) continue;
    const auto kind = static_cast<MazeKind>(i);
    const Spelling spelling(seed_, maze_words_, content, kind);
    std::optional<uint64_t> rest;
    std::string_view left = path;
    switch (kind) {
      case MazeKind::kRepeat: {
        if (!Skip(left, fmt::format("/{}/", spelling.Word(0)))) break;
        const size_t dash = left.rfind('-');
        if (dash == std::string_view::npos) break;
        std::string_view digits = left.substr(dash + 1);
        const size_t turn = spelling.Word(1).size() + 1 + (spelling.form % 2 == 0 ? spelling.Word(0).size() + 1 : 0);
        const auto file = Number(digits, 10, 1);
        const size_t file_name = spelling.Word(2).size();
        if (!file || *file >= kMazeFiles || dash < file_name) break;
        const size_t depth = (dash - file_name) / turn;
        if (depth <= kMazeDepth) rest = depth * kMazeFiles + *file;
        break;
      }
      case MazeKind::kCalendar:
        rest = FindCalendar(path, spelling);
        break;
      case MazeKind::kSessionPath: {
        std::string page;
        if (spelling.form % 2 == 0) {
          if (!Skip(left, fmt::format("/{}-", spelling.Word(0)))) break;
        } else {
          const std::string name = fmt::format(";{}=", spelling.Word(0));
          const size_t at = left.find(name);
          if (at == std::string_view::npos) break;
          page = left.substr(0, at);
          left.remove_prefix(at + name.size());
        }
        const auto token = Number(left, 16, 9);
        page += left;
        if (token) rest = *token << 24 | PageOfPath(content, page);
        break;
      }
      case MazeKind::kSessionQuery: {
        const std::string name = fmt::format("{}=", spelling.Word(0));
        const size_t at = path.rfind(name);
        if (at == std::string_view::npos || at < 2) break;
        left = path.substr(at + name.size());
        const auto token = Number(left, 16, 9);
        if (token) rest = *token << 24 | PageOfPath(content, path.substr(0, at - 1));
        break;
      }
      case MazeKind::kGrowing: {
        if (!Skip(left, fmt::format("/{}?", spelling.Word(0)))) break;
        uint64_t found = 1;
        for (unsigned step = 0; !left.empty() && step <= kMazeSteps; ++step) {
          if (left.starts_with('&') || left.starts_with(',')) left.remove_prefix(1);
          Skip(left, fmt::format("{}=", spelling.Word(1)));
          const std::string_view value = left.substr(0, left.find_first_of("&,"));
          const auto* const known = std::find(std::begin(kValues), std::end(kValues), value);
          if (known == std::end(kValues)) break;
          found = found << 3 | static_cast<uint64_t>(known - std::begin(kValues));
          left.remove_prefix(value.size());
        }
        rest = found;
        break;
      }
      case MazeKind::kFacets: {
        if (!Skip(left, fmt::format("/{}", spelling.Word(0)))) break;
        uint64_t found = 0;
        for (unsigned facet = 0; facet < kMazeFacets; ++facet) {
          const std::string name = fmt::format("{}=", spelling.Word(1 + facet));
          if (left.size() < 2 || !left.substr(1).starts_with(name)) continue;
          left.remove_prefix(1 + name.size());
          const std::string_view value = left.substr(0, left.find('&'));
          const auto* const known = std::find(std::begin(kValues), std::end(kValues), value);
          if (known == std::end(kValues)) break;
          found |= static_cast<uint64_t>(known - std::begin(kValues)) << (3 * facet);
          left.remove_prefix(value.size());
        }
        rest = found;
        break;
      }
      case MazeKind::kSoft404: {
        if (!Skip(left, fmt::format("/{}/", spelling.Word(0)))) break;
        left.remove_prefix(std::min(left.size(), left.find('-') == std::string_view::npos ? 0 : left.find('-') + 1));
        rest = Number(left, 16, 9);
        break;
      }
      case MazeKind::kRedirect: {
        if (!Skip(left, fmt::format(fmt::runtime(spelling.form % 2 == 0 ? "/{}/" : "/{}?u="), spelling.Word(0)))) break;
        rest = Number(left);
        break;
      }
    }
    if (!rest || *rest > kMazeMask) continue;
    const uint64_t state = MazeState(kind, *rest);
    std::string written;
    AppendMaze(written, content, state);
    if (written == path) return {host, PlaceClass::kMaze, state};
  }
  return nothing;
}

}  // namespace portolan::sim
