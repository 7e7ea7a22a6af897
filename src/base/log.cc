#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>

#include "base/log_display.h"
#include "base/text.h"
#include "base/utf8.h"

namespace portolan {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 2> kFormatNames = {"human", "json"};

std::atomic<LogFormat> g_format{LogFormat::kHuman};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

// Lines arrive here complete; spdlog brings the level test, the lock and the sink.
spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("portolan", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

// Guarded by LockLog.
std::function<std::string()>& Prelude() {
  static std::function<std::string()> prelude;
  return prelude;
}

void AppendJsonValue(std::string& out, const LogField::Value& value) {
  auto to = std::back_inserter(out);
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    out += JsonQuote(*text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    if (std::isfinite(*number)) {
      fmt::format_to(to, "{}", *number);
    } else {
      out += "null";
    }
  } else {
    std::visit([&](const auto& v) { fmt::format_to(to, "{}", v); }, value);
  }
}

void AppendHumanValue(std::string& out, const LogField::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    fmt::format_to(std::back_inserter(out), "{:.4g}", *number);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    const bool plain = !text->empty() && text->find_first_of(" \"=\\") == std::string_view::npos &&
                       std::all_of(text->begin(), text->end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
    out += plain ? std::string(*text) : JsonQuote(*text);
  } else {
    AppendJsonValue(out, value);
  }
}

template <typename Enum, size_t n>
Result<Enum> ParseName(const std::array<std::string_view, n>& names, std::string_view name, std::string_view what) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a {}: use one of {}", name, what, fmt::join(names, ", ")));
}

}  // namespace

void InitLogging(const LogOptions& options) {
  g_format = options.format;
  Logger().set_level(ToSpdlog(options.level));
}

std::unique_lock<std::mutex> LockLog() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

void SetLogPrelude(std::function<std::string()> prelude) {
  const auto lock = LockLog();
  Prelude() = std::move(prelude);
}

bool LogEnabled(LogLevel level) { return Logger().should_log(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::string text = FormatLogLine(g_format, level, unix_ms, message, fields);
  const auto lock = LockLog();
  const std::string line = Prelude() ? Prelude()() + text : text;
  Logger().log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

std::string FormatLogLine(LogFormat format, LogLevel level, int64_t unix_ms, std::string_view message,
                          std::initializer_list<LogField> fields) {
  const std::time_t seconds = unix_ms / 1000;
  const std::string_view level_name = LogLevelName(level);
  std::string line;
  auto to = std::back_inserter(line);
  if (format == LogFormat::kJson) {
    fmt::format_to(to, R"({{"ts":"{:%Y-%m-%dT%H:%M:%S}.{:03}Z","level":"{}","msg":{})", fmt::gmtime(seconds),
                   unix_ms % 1000, level_name, JsonQuote(message));
    for (const LogField& field : fields) {
      fmt::format_to(to, ",{}:", JsonQuote(field.name));
      AppendJsonValue(line, field.value);
    }
    line += '}';
    return line;
  }
  fmt::format_to(to, "{:%H:%M:%S}.{:03} {:<5} {}", fmt::gmtime(seconds), unix_ms % 1000, level_name, message);
  for (const LogField& field : fields) {
    fmt::format_to(to, " {}=", field.name);
    AppendHumanValue(line, field.value);
  }
  return line;
}

Result<LogLevel> ParseLogLevel(std::string_view name) { return ParseName<LogLevel>(kLevelNames, name, "log level"); }

Result<LogFormat> ParseLogFormat(std::string_view name) {
  return ParseName<LogFormat>(kFormatNames, name, "log format");
}

std::string_view LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }
std::string_view LogFormatName(LogFormat format) { return kFormatNames[static_cast<size_t>(format)]; }

std::string JsonQuote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    // Most texts are plain from end to end.
    size_t plain = 0;
    while (plain < text.size() && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' &&
           text[plain] != '\\') {
      ++plain;
    }
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const char c = text.front();
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (const uint32_t control = ControlOf(text.substr(0, length)); control != kShowable) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", control);
        } else {
          out.append(text.substr(0, length));
        }
    }
    text.remove_prefix(length);
  }
  out += '"';
  return out;
}

}  // namespace portolan
