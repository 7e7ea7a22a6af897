// Sizes, rates and durations as people read and write them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

// "0 B", "999 B", "1.5 KiB", "256 MiB": powers of 1024, three significant digits.
std::string FormatBytes(uint64_t bytes);

// "950", "12.3 k", "4.56 M": powers of 1000, three significant digits.
std::string FormatCount(double count);

// FormatCount with a unit: "4.56 M/s" for FormatRate(4.56e6), "1.2 k pages/s" for FormatRate(1200, "pages").
std::string FormatRate(double per_second, std::string_view what = {});

// "850 us", "12.3 ms", "4.5 s", "3 m 20 s", "2 h 05 m", "41 d 03 h".
std::string FormatDuration(double seconds);

// "4096", "64K", "256M", "1.5G", "8GiB", "4 TB": K, M, G, T are powers of 1024, KB, MB, GB, TB of 1000.
Result<uint64_t> ParseBytes(std::string_view text);

// "250ms", "30s", "5m", "2h", "41d"; a bare number is seconds.
Result<double> ParseSeconds(std::string_view text);

// "1000", "20K", "8B", "8T": decimal counts (K, M, B or G, T).
Result<uint64_t> ParseCount(std::string_view text);

}  // namespace portolan
