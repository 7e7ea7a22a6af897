// Times in archives: WARC-Date (W3C's profile of ISO 8601, UTC), the 14 digits of ARC and CDXJ, the 17 of file names.
//
// A pure calendar: no clock, no time zone, years 0 to 9999.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portolan {

struct WarcTime {
  int64_t seconds = 0;  // since 1970, UTC
  uint32_t nanoseconds = 0;
  int fraction_digits = 0;  // how many digits of the fraction are written: 0 to 9
  // Only the first of "2024", "2024-05", "2024-05-31" … were given; the rest is the beginning of that span.
  bool partial = false;

  bool operator==(const WarcTime&) const = default;
};

// "2026-01-31T12:30:01Z", with fraction "2026-01-31T12:30:01.250Z".
std::string FormatWarcDate(const WarcTime& time);
std::string Format14(const WarcTime& time);  // "20260131123001"
std::string Format17(const WarcTime& time);  // "20260131123001250"

// Upper or lower case letters; partial dates and fractions as WARC 1.1 allows them.
std::optional<WarcTime> ParseWarcDate(std::string_view text);

// At least four digits, of which the first fourteen count, in pairs behind the year; what is missing is filled with the
// beginning of the span.
std::optional<WarcTime> ParseDigits(std::string_view text);

}  // namespace portolan
