// Structured logging: a message of fixed words, and fields for what varies.
//
//   Log(LogLevel::kInfo, "merge done", {{"keys", keys}, {"seconds", seconds}});
//
// On a terminal that reads   12:30:01.250 info  merge done keys=1048576 seconds=0.42
// and with the JSON format   {"ts":"2026-01-31T12:30:01.250Z","level":"info","msg":"merge done","keys":1048576,…}
//
// Thread: every function may be called from every thread. Lines go to standard error, so that standard output stays
// free for results. Before InitLogging the human format at level info is in force.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace portolan {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat : uint8_t { kHuman, kJson };

struct LogField {
  using Value = std::variant<bool, int64_t, uint64_t, double, std::string_view>;

  template <typename T>
  LogField(std::string_view field_name, const T& field_value) : name(field_name) {
    if constexpr (std::is_same_v<T, bool>) {
      value = field_value;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<double>(field_value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      value = static_cast<int64_t>(field_value);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<uint64_t>(field_value);
    } else {
      value = std::string_view(field_value);
    }
  }

  std::string_view name;
  Value value;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kHuman;
};

void InitLogging(const LogOptions& options);
bool LogEnabled(LogLevel level);
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

Result<LogLevel> ParseLogLevel(std::string_view name);
Result<LogFormat> ParseLogFormat(std::string_view name);
std::string_view LogLevelName(LogLevel level);
std::string_view LogFormatName(LogFormat format);

// One line, without its end, as Log would print it for a time in milliseconds since 1970. For tests and for files.
std::string FormatLogLine(LogFormat format, LogLevel level, int64_t unix_ms, std::string_view message,
                          std::initializer_list<LogField> fields);

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so the line is always valid JSON.
// Controls and marks that change the direction of writing are escaped: a line can be looked at on a terminal.
std::string JsonQuote(std::string_view text);

}  // namespace portolan
