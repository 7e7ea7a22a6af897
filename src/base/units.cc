#include "base/units.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace portolan {
namespace {

// Three significant digits without trailing zeros in the fraction.
std::string ThreeDigits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

struct Suffix {
  std::string_view name;
  double factor;
};

// Splits "1.5 GiB" into a number and the factor of its suffix. An empty suffix means `bare`.
Result<double> ParseScaled(std::string_view text, std::span<const Suffix> suffixes, double bare,
                           std::string_view kind) {
  const auto fail = [&] {
    std::string known;
    for (const Suffix& suffix : suffixes) known += fmt::format(" {}", suffix.name);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a {}: a number, then one of{}", text, kind, known));
  };
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return fail();
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (unit.empty()) return number * bare;
  for (const Suffix& suffix : suffixes) {
    if (unit.size() == suffix.name.size() &&
        std::equal(unit.begin(), unit.end(), suffix.name.begin(), [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        })) {
      return number * suffix.factor;
    }
  }
  return fail();
}

Result<uint64_t> ToUnsigned(Result<double> value, std::string_view text) {
  if (!value) return std::unexpected(std::move(value).error());
  if (*value >= 18446744073709551616.0) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is too large", text));
  }
  return static_cast<uint64_t>(*value);  // towards zero
}

}  // namespace

std::string FormatBytes(uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", ThreeDigits(value), kUnits[unit]);
}

std::string FormatCount(double count) {
  static constexpr std::array<std::string_view, 6> kUnits = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (count >= 999.5 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return ThreeDigits(count) + std::string(kUnits[unit]);
}

std::string FormatRate(double per_second, std::string_view what) {
  std::string text = FormatCount(per_second);
  if (!what.empty()) text += " " + std::string(what);
  return text + "/s";
}

std::string FormatDuration(double seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds < 0.9995e-3) return ThreeDigits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return ThreeDigits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return ThreeDigits(seconds) + " s";
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {:02} h", whole / 86400, whole / 3600 % 24);
}

Result<uint64_t> ParseBytes(std::string_view text) {
  static constexpr std::array<Suffix, 13> kSuffixes = {{{"B", 1},
                                                        {"K", 0x1p10},
                                                        {"M", 0x1p20},
                                                        {"G", 0x1p30},
                                                        {"T", 0x1p40},
                                                        {"KiB", 0x1p10},
                                                        {"MiB", 0x1p20},
                                                        {"GiB", 0x1p30},
                                                        {"TiB", 0x1p40},
                                                        {"KB", 1e3},
                                                        {"MB", 1e6},
                                                        {"GB", 1e9},
                                                        {"TB", 1e12}}};
  return ToUnsigned(ParseScaled(text, kSuffixes, 1, "size"), text);
}

Result<double> ParseSeconds(std::string_view text) {
  static constexpr std::array<Suffix, 6> kSuffixes = {
      {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  return ParseScaled(text, kSuffixes, 1, "duration");
}

Result<uint64_t> ParseCount(std::string_view text) {
  static constexpr std::array<Suffix, 5> kSuffixes = {{{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}, {"T", 1e12}}};
  return ToUnsigned(ParseScaled(text, kSuffixes, 1, "count"), text);
}

}  // namespace portolan
