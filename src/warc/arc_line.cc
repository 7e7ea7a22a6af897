#include "warc/arc_line.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace portolan {
namespace {}  // namespace

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

std::optional<ArcLine> ParseArcLine(std::string_view line, int version) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  ArcLine arc;
  const std::array<std::string_view*, 4> v1 = {&arc.length, &arc.mime, &arc.date, &arc.ip};
  const std::array<std::string_view*, 9> v2 = {&arc.length,   &arc.filename, &arc.offset,
                                               &arc.location, &arc.checksum, &arc.result_code,
                                               &arc.mime,     &arc.date,     &arc.ip};
  std::string_view rest = line;
  const auto take = [&](std::string_view& into) {
    const size_t blank = rest.rfind(' ');
    if (blank == std::string_view::npos) return false;
    into = rest.substr(blank + 1);
    rest = rest.substr(0, blank);
    return true;
  };
  const bool whole = version == 2 ? std::ranges::all_of(v2, [&](std::string_view* into) { return take(*into); })
                                  : std::ranges::all_of(v1, [&](std::string_view* into) { return take(*into); });
  if (!whole || !HasScheme(rest)) return std::nullopt;
  arc.url = rest;
  if (arc.is_version_block()) return arc;
  // The date tells a record's line from any other line of five words.
  const bool dated = arc.date == "-" || (arc.date.size() >= 8 && std::ranges::all_of(arc.date, IsDigit));
  if (!dated) return std::nullopt;
  return arc;
}

}  // namespace portolan
