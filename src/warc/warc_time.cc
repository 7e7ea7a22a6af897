#include "warc/warc_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace portolan {
namespace {

struct Civil {
  int year, month, day, hour, minute, second;
};

Civil ToCivil(int64_t seconds) {
  // Outside four-digit years the text forms have no meaning: the nearest year that has one is written.
  constexpr int64_t kFirst = -62167219200;  // 0000-01-01T00:00:00Z
  constexpr int64_t kLast = 253402300799;   // 9999-12-31T23:59:59Z
  seconds = std::clamp(seconds, kFirst, kLast);
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
  const std::chrono::year_month_day date(days);
  const auto rest = static_cast<int>(seconds - days.time_since_epoch().count() * 86400);
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          rest / 3600,
          rest / 60 % 60,
          rest % 60};
}

std::optional<WarcTime> FromCivil(const Civil& c) {
  const std::chrono::year_month_day date{std::chrono::year(c.year), std::chrono::month(static_cast<unsigned>(c.month)),
                                         std::chrono::day(static_cast<unsigned>(c.day))};
  // A leap second (60) is allowed by ISO 8601; it is the first of the next minute here.
  if (!date.ok() || c.hour > 23 || c.minute > 59 || c.second > 60) return std::nullopt;
  WarcTime time;
  time.seconds = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400} + c.hour * 3600 +
                 c.minute * 60 + c.second;
  return time;
}

// Reads exactly `count` digits.
bool Digits(std::string_view& text, size_t count, int& value) {
  if (text.size() < count) return false;
  value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool Take(std::string_view& text, char upper) {
  if (text.empty() || (text.front() != upper && text.front() != upper + 32)) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeExact(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string FormatWarcDate(const WarcTime& time) {
  const Civil c = ToCivil(time.seconds);
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
  if (time.fraction_digits > 0) {
    const std::string digits = fmt::format("{:09}", std::min(time.nanoseconds, 999'999'999U));
    out += '.';
    out.append(digits, 0, static_cast<size_t>(std::min(time.fraction_digits, 9)));
  }
  return out + 'Z';
}

std::string Format14(const WarcTime& time) {
  const Civil c = ToCivil(time.seconds);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

std::string Format17(const WarcTime& time) {
  return Format14(time) + fmt::format("{:03}", std::min(time.nanoseconds / 1'000'000, 999U));
}

std::optional<WarcTime> ParseWarcDate(std::string_view text) {
  Civil c{0, 1, 1, 0, 0, 0};
  const auto partial = [&] {
    auto time = FromCivil(c);
    if (time) time->partial = true;
    return time;
  };
  if (!Digits(text, 4, c.year)) return std::nullopt;
  if (text.empty()) return partial();
  if (!TakeExact(text, '-') || !Digits(text, 2, c.month)) return std::nullopt;
  if (text.empty()) return partial();
  if (!TakeExact(text, '-') || !Digits(text, 2, c.day)) return std::nullopt;
  if (text.empty()) return partial();
  if (!Take(text, 'T') || !Digits(text, 2, c.hour) || !TakeExact(text, ':') || !Digits(text, 2, c.minute)) {
    return std::nullopt;
  }
  if (Take(text, 'Z')) return text.empty() ? partial() : std::nullopt;
  if (!TakeExact(text, ':') || !Digits(text, 2, c.second)) return std::nullopt;
  uint32_t nanoseconds = 0;
  int digits = 0;
  if (TakeExact(text, '.')) {
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9' && digits < 9; ++digits) {
      nanoseconds = nanoseconds * 10 + static_cast<uint32_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
    for (int i = digits; i < 9; ++i) nanoseconds *= 10;
  }
  if (!Take(text, 'Z') || !text.empty()) return std::nullopt;
  auto time = FromCivil(c);
  if (time) {
    time->nanoseconds = nanoseconds;
    time->fraction_digits = digits;
  }
  return time;
}

std::optional<WarcTime> ParseDigits(std::string_view text) {
  if (text.size() < 4 || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  text = text.substr(0, 14);
  const bool whole = text.size() == 14;
  Civil c{0, 1, 1, 0, 0, 0};
  Digits(text, 4, c.year);
  for (int* part : {&c.month, &c.day, &c.hour, &c.minute, &c.second}) {
    if (!Digits(text, 2, *part)) break;
  }
  auto time = FromCivil(c);
  if (time) time->partial = !whole;
  return time;
}

}  // namespace portolan
