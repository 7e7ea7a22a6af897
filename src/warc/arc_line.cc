#include "warc/arc_line.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "warc/fields.h"

namespace portolan {
namespace {

bool IsDate(std::string_view text) { return text.size() >= 8 && std::ranges::all_of(text, IsDigit); }

// Whether the fields can be those of a record and hardly those of anything else.
bool Convinces(const ArcLine& arc) {
  if (arc.is_version_block()) return true;
  const bool dated = IsDate(arc.date) || arc.date == "-";
  const bool placed = IsIpAddress(arc.ip) && arc.LengthValue();
  return HasScheme(arc.url) ? dated || placed : dated && placed;
}

// As the format has it, from the end.
std::optional<ArcLine> ParseByBlanks(std::string_view line, int version) {
  ArcLine arc;
  const std::array<std::string_view*, 4> v1 = {&arc.length, &arc.mime, &arc.date, &arc.ip};
  const std::array<std::string_view*, 9> v2 = {&arc.length,   &arc.filename, &arc.offset,
                                               &arc.location, &arc.checksum, &arc.result_code,
                                               &arc.mime,     &arc.date,     &arc.ip};
  std::string_view rest = line;
  const auto take = [&](std::string_view* into) {
    const size_t blank = rest.rfind(' ');
    if (blank == std::string_view::npos) return false;
    *into = rest.substr(blank + 1);
    rest = rest.substr(0, blank);
    return true;
  };
  if (!(version == 2 ? std::ranges::all_of(v2, take) : std::ranges::all_of(v1, take))) return std::nullopt;
  arc.url = rest;
  if (arc.ip.empty() || arc.url.empty() || arc.url.ends_with(' ') || !Convinces(arc)) return std::nullopt;
  return arc;
}

// By words, wherever they stand.
std::optional<ArcLine> ParseByWords(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  // URL, address, date and length at least. Of several pairs the last: a URL may hold anything.
  if (words.size() < 4) return std::nullopt;
  size_t date = words.size() - 2;
  while (date > 1 && !(IsDate(words[date]) && (IsIpAddress(words[date - 1]) || words[date - 1] == "-"))) --date;
  if (date < 2) return std::nullopt;
  const auto from_to = [&](size_t first, size_t last) {  // both included
    const char* begin = words[first].data();
    return std::string_view(begin, words[last].data() + words[last].size());
  };
  ArcLine arc;
  arc.by_words = true;
  arc.url = from_to(0, date - 2);
  arc.ip = words[date - 1];
  arc.date = words[date];
  arc.length = words.back();
  size_t type_end = words.size() - 2;  // the type's last word
  if (words.size() - date > 7) {       // the six fields of version 2 behind it
    type_end = words.size() - 7;
    const std::array<std::string_view*, 5> more = {&arc.result_code, &arc.checksum, &arc.location, &arc.offset,
                                                   &arc.filename};
    for (size_t i = 0; i < more.size(); ++i) *more[i] = words[type_end + 1 + i];
  }
  if (type_end > date) arc.mime = from_to(date + 1, type_end);
  if (!arc.LengthValue() || !Convinces(arc)) return std::nullopt;
  return arc;
}

}  // namespace

std::optional<uint64_t> ParseDecimal(std::string_view text) {
  if (text.empty() || text.size() > 18 || !std::ranges::all_of(text, IsDigit)) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<uint64_t>(c - '0');
  return value;
}

std::optional<uint64_t> ArcLine::LengthValue() const { return ParseDecimal(length); }

bool HasScheme(std::string_view text) {
  const size_t colon = text.substr(0, 64).find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsAlpha(text.front())) return false;
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return IsAlpha(c) || IsDigit(c) || c == '+' || c == '-' || c == '.'; });
}

bool IsIpAddress(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    // RFC 4291: eight groups of up to four digits, one run of them left out as "::", perhaps an IPv4 tail.
    int groups = 0;
    bool gap = false;
    if (text.starts_with("::")) {
      gap = true;
      text.remove_prefix(2);
      if (text.empty()) return true;
    }
    for (;;) {
      const size_t end = std::min(text.find(':'), text.size());
      const std::string_view group = text.substr(0, end);
      if (end == text.size() && group.find('.') != std::string_view::npos) {
        if (!IsIpAddress(group)) return false;
        groups += 2;
        break;
      }
      if (group.empty() || group.size() > 4) return false;
      if (!std::ranges::all_of(group, [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
          })) {
        return false;
      }
      ++groups;
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
      if (text.starts_with(':')) {
        if (gap) return false;
        gap = true;
        text.remove_prefix(1);
        if (text.empty()) break;
      }
    }
    return gap ? groups < 8 : groups == 8;
  }
  int parts = 0;
  for (;;) {
    const size_t end = std::min(text.find('.'), text.size());
    const auto number = ParseDecimal(text.substr(0, end));
    if (!number || *number > 255 || end > 3) return false;
    ++parts;
    if (end == text.size()) return parts == 4;
    text.remove_prefix(end + 1);
  }
}

std::optional<ArcLine> ParseArcLine(std::string_view line, int version) {
  const size_t returns = WithoutReturns(line);
  auto arc = ParseByBlanks(line, version);
  if (!arc) arc = ParseByWords(line);
  if (arc) arc->extra_return = returns > 1;
  return arc;
}

int GuessArcVersion(std::string_view line) {
  WithoutReturns(line);
  if (line.starts_with("filedesc:")) return std::ranges::count(line, ' ') >= 9 ? 2 : 1;
  if (ParseByBlanks(line, 1)) return 1;
  if (ParseByBlanks(line, 2)) return 2;
  const auto arc = ParseByWords(line);
  return arc && !arc->filename.empty() ? 2 : 1;
}

}  // namespace portolan
