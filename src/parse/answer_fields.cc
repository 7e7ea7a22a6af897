#include "parse/answer_fields.h"

#include <algorithm>

#include "base/ascii.h"
#include "http/date.h"
#include "http/mime.h"
#include "io/clock.h"

namespace portolan {
namespace {

// One parameter of a link from the front of `rest`, up to ';' or ',' outside of quotes.
std::string_view TakeParameter(std::string_view& rest) {
  bool quoted = false;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (quoted && rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && (rest[at] == ';' || rest[at] == ',')) {
      break;
    }
  }
  at = std::min(at, rest.size());
  const std::string_view parameter = rest.substr(0, at);
  rest.remove_prefix(at);
  return TrimBlanks(parameter);
}

bool SaysCanonical(std::string_view parameter) {
  const size_t equals = parameter.find('=');
  if (equals == std::string_view::npos || !EqualsIgnoringCase(TrimBlanks(parameter.substr(0, equals)), "rel")) {
    return false;
  }
  std::string_view words = TrimBlanks(parameter.substr(equals + 1));
  if (words.starts_with('"')) words.remove_prefix(1);
  if (words.ends_with('"')) words.remove_suffix(1);
  while (!words.empty()) {
    const size_t blank = std::min(words.find(' '), words.size());
    if (EqualsIgnoringCase(words.substr(0, blank), "canonical")) return true;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return false;
}

}  // namespace

std::optional<int64_t> RetryAfterNs(std::string_view value, int64_t now_unix_ns) {
  value = TrimBlanks(value);
  if (value.empty()) return std::nullopt;
  constexpr int64_t kMaxSeconds = kMaxRetryAfterNs / kSecond;
  if (std::ranges::all_of(value, IsDigit)) {
    int64_t seconds = 0;
    for (const char c : value) seconds = std::min(seconds * 10 + (c - '0'), kMaxSeconds);
    return seconds * kSecond;
  }
  const std::optional<int64_t> date = ParseHttpDate(value);
  if (!date) return std::nullopt;
  const int64_t wait = *date - now_unix_ns / kSecond;
  return std::clamp<int64_t>(wait, 0, kMaxSeconds) * kSecond;
}

std::optional<std::string_view> CanonicalInLinkField(std::string_view value) {
  while (!value.empty()) {
    const size_t open = value.find('<');
    if (open == std::string_view::npos) return std::nullopt;
    value.remove_prefix(open + 1);
    const size_t close = value.find('>');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view target = value.substr(0, close);
    value.remove_prefix(close + 1);
    bool canonical = false;
    while (!value.empty() && value.front() != ',') {
      if (value.front() == ';') value.remove_prefix(1);
      canonical = SaysCanonical(TakeParameter(value)) || canonical;
    }
    if (canonical) return target;
  }
  return std::nullopt;
}

std::string CharsetLabel(const HeaderFields& fields) {
  const auto mime = ExtractMimeType(fields);
  const std::string* const label = mime ? mime->Parameter("charset") : nullptr;
  return label != nullptr ? *label : std::string();
}

}  // namespace portolan
