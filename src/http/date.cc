#include "http/date.h"

#include <fmt/core.h>

#include <array>
#include <chrono>

#include "base/ascii.h"
#include "base/check.h"

namespace portolan {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

// RFC 5322 section 4.3, in hours.
struct Zone {
  std::string_view name;
  int hours;
};
constexpr std::array<Zone, 13> kZones = {{{"GMT", 0},
                                          {"UTC", 0},
                                          {"UT", 0},
                                          {"Z", 0},
                                          {"EST", -5},
                                          {"EDT", -4},
                                          {"CST", -6},
                                          {"CDT", -5},
                                          {"MST", -7},
                                          {"MDT", -6},
                                          {"PST", -8},
                                          {"PDT", -7},
                                          {"CET", 1}}};

struct Parts {
  int year = -1, month = -1, day = -1;
  int hour = 0, minute = 0, second = 0;
  int offset_minutes = 0;
};

std::optional<int64_t> ToSeconds(const Parts& parts) {
  // Second 60 is a leap second: the next minute, as everywhere.
  if (parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(parts.year), std::chrono::month(parts.month),
                                         std::chrono::day(parts.day)};
  if (!date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + parts.hour * 3600 + parts.minute * 60 + parts.second - parts.offset_minutes * 60;
}

// Up to `max_digits` digits from `at`, which moves past them; -1 where none stands there.
int TakeNumber(std::string_view text, size_t& at, size_t max_digits) {
  int value = 0;
  const size_t from = at;
  while (at < text.size() && at - from < max_digits && IsDigit(text[at])) value = value * 10 + (text[at++] - '0');
  return at == from ? -1 : value;
}

// "08:49:37", "8:49", "08:49:37.25" at the start of the token.
bool TakeTime(std::string_view token, Parts& parts) {
  size_t at = 0;
  parts.hour = TakeNumber(token, at, 2);
  if (parts.hour < 0 || at >= token.size() || token[at] != ':') return false;
  parts.minute = TakeNumber(token, ++at, 2);
  if (parts.minute < 0) return false;
  parts.second = 0;
  if (at < token.size() && token[at] == ':') {
    parts.second = TakeNumber(token, ++at, 2);
    if (parts.second < 0) return false;
  }
  return at == token.size() || !IsDigit(token[at]);
}

// "+0200", "-07:00", "+1": minutes.
std::optional<int> ParseOffset(std::string_view token) {
  if (token.size() < 2 || (token[0] != '+' && token[0] != '-')) return std::nullopt;
  size_t at = 1;
  const int hours = TakeNumber(token, at, 2);
  if (at < token.size() && token[at] == ':') ++at;
  const int minutes = at < token.size() ? TakeNumber(token, at, 2) : 0;
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59 || at != token.size()) return std::nullopt;
  return (token[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  text = text.substr(0, kMaxDate);
  Parts parts;
  bool have_time = false;
  size_t at = 0;
  while (at < text.size()) {
    const char first = text[at];
    const bool sign = (first == '+' || first == '-') && have_time && at + 1 < text.size() && IsDigit(text[at + 1]);
    if (!sign && !IsAlpha(first) && !IsDigit(first)) {
      ++at;
      continue;
    }
    // A token: letters, or digits with the colons of a time, or a signed offset.
    const size_t from = at++;
    if (IsAlpha(first)) {
      while (at < text.size() && IsAlpha(text[at])) ++at;
    } else {
      while (at < text.size() && (IsDigit(text[at]) || (text[at] == ':' && (sign || !have_time)))) ++at;
    }
    const std::string_view token = text.substr(from, at - from);
    if (sign) {
      if (const auto offset = ParseOffset(token)) parts.offset_minutes = *offset;
    } else if (IsAlpha(first)) {
      if (have_time && parts.hour <= 12 && (EqualsIgnoringCase(token, "PM") || EqualsIgnoringCase(token, "AM"))) {
        parts.hour = parts.hour % 12 + (AsciiLower(first) == 'p' ? 12 : 0);
        continue;
      }
      for (size_t month = 0; parts.month < 0 && token.size() >= 3 && month < kMonths.size(); ++month) {
        if (EqualsIgnoringCase(token.substr(0, 3), kMonths[month])) parts.month = static_cast<int>(month) + 1;
      }
      for (const Zone& zone : kZones) {
        if (have_time && EqualsIgnoringCase(token, zone.name)) parts.offset_minutes = zone.hours * 60;
      }
    } else if (token.find(':') != std::string_view::npos) {
      if (have_time || !TakeTime(token, parts)) return std::nullopt;
      have_time = true;
    } else if (parts.day < 0 && token.size() <= 2) {
      parts.day = static_cast<int>(token[0] - '0');
      if (token.size() == 2) parts.day = parts.day * 10 + (token[1] - '0');
    } else if (parts.year < 0 && token.size() <= 4) {
      size_t digit = 0;
      parts.year = TakeNumber(token, digit, 4);
      if (token.size() <= 2) parts.year += parts.year < 70 ? 2000 : 1900;
      if (token.size() == 3) parts.year += 1900;  // years counted from 1900, as old programs print them
    } else {
      return std::nullopt;
    }
  }
  // No web before 1970 but for the epoch's neighbours; RFC 6265 draws the line at 1601.
  if (parts.year < 1601 || parts.month < 0 || parts.day < 0 || !have_time) return std::nullopt;
  return ToSeconds(parts);
}

std::optional<int64_t> ParseIsoDate(std::string_view text) {
  while (!text.empty() && static_cast<uint8_t>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<uint8_t>(text.back()) <= ' ') text.remove_suffix(1);
  if (text.size() > kMaxDate) return std::nullopt;
  Parts parts{.year = 0, .month = 1, .day = 1};
  size_t at = 0;
  parts.year = TakeNumber(text, at, 4);
  if (at != 4) return std::nullopt;
  for (int* part : {&parts.month, &parts.day}) {
    if (at >= text.size() || text[at] != '-') break;
    const size_t from = ++at;
    *part = TakeNumber(text, at, 2);
    if (*part < 0 || at - from > 2) return std::nullopt;
  }
  if (at == text.size()) return ToSeconds(parts);
  if (text[at] != 'T' && text[at] != 't' && text[at] != ' ') return std::nullopt;
  while (at < text.size() && (AsciiLower(text[at]) == 't' || text[at] == ' ')) ++at;
  text.remove_prefix(at);
  const size_t time_size = std::min(text.find_first_not_of("0123456789:."), text.size());
  std::string_view time = text.substr(0, time_size);
  if (!TakeTime(time.substr(0, time.find('.')), parts)) return std::nullopt;
  text.remove_prefix(time_size);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty() || EqualsIgnoringCase(text, "Z") || EqualsIgnoringCase(text, "UTC") ||
      EqualsIgnoringCase(text, "GMT")) {
    return ToSeconds(parts);
  }
  const auto offset = ParseOffset(text);
  if (!offset) return std::nullopt;
  parts.offset_minutes = *offset;
  return ToSeconds(parts);
}

std::optional<int64_t> ParseAnyDate(std::string_view text) {
  if (const auto iso = ParseIsoDate(text)) return iso;
  return ParseHttpDate(text);
}

std::string FormatHttpDate(int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::weekday weekday(day);
  const auto rest = static_cast<int>((time - day).count());
  const int year = static_cast<int>(date.year());
  DCHECK(year >= 0 && year <= 9999);
  std::string month(kMonths[static_cast<unsigned>(date.month()) - 1]);
  month[0] = static_cast<char>(month[0] - ('a' - 'A'));
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kWeekdays[weekday.c_encoding()],
                     static_cast<unsigned>(date.day()), month, year, rest / 3600, rest / 60 % 60, rest % 60);
}

}  // namespace portolan
