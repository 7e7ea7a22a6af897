// Dates as they stand in HTTP fields, feeds and sitemaps, as seconds since 1970 UTC.
//
// ParseHttpDate reads the three forms of RFC 9110 section 5.6.7 and common deviations: missing or wrong weekdays,
// dashes, two-digit years, single digits, time before or after the date, "+0200" and zone names, missing seconds. It
// finds the parts in any order, as cookie dates are read (RFC 6265 section 5.1.1). An impossible date (31 February,
// hour 24, year 1600) gives nullopt. Linear in the text, which is cut at kMaxDate bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portolan {

inline constexpr size_t kMaxDate = 128;

std::optional<int64_t> ParseHttpDate(std::string_view text);

// W3C's profile of ISO 8601 as in sitemaps and Atom: "2004", "2004-12", "2004-12-23", "2004-12-23T18:00Z",
// "2004-12-23T18:00:15.25+00:00". A blank may stand for the T, and a time without a zone is UTC.
std::optional<int64_t> ParseIsoDate(std::string_view text);

// Either.
std::optional<int64_t> ParseAnyDate(std::string_view text);

// "Sun, 06 Nov 1994 08:49:37 GMT". REQUIRES: a year from 0 to 9999.
std::string FormatHttpDate(int64_t seconds);

}  // namespace portolan
