#include "http/cache_control.h"

#include <algorithm>

#include "base/ascii.h"
#include "http/date.h"

namespace portolan {
namespace {

std::optional<uint32_t> ParseDelta(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(c - '0'), CacheControl::kMaxDelta);
  }
  return static_cast<uint32_t>(value);
}

// The next directive up to a comma outside quotes.
std::string_view TakeDirective(std::string_view& list) {
  bool quoted = false;
  size_t at = 0;
  for (; at < list.size() && (quoted || list[at] != ','); ++at) {
    if (list[at] == '"') quoted = !quoted;
    if (quoted && list[at] == '\\') ++at;
  }
  at = std::min(at, list.size());
  const std::string_view directive = TrimBlanks(list.substr(0, at));
  list.remove_prefix(std::min(at + 1, list.size()));
  return directive;
}

}  // namespace

CacheControl ParseCacheControl(std::string_view list) {
  CacheControl cache;
  while (!list.empty()) {
    const std::string_view directive = TakeDirective(list);
    const size_t equals = directive.find('=');
    const std::string_view name = TrimBlanks(directive.substr(0, equals));
    std::string_view argument;
    if (equals != std::string_view::npos) argument = TrimBlanks(directive.substr(equals + 1));
    if (argument.size() >= 2 && argument.front() == '"' && argument.back() == '"') {
      argument = argument.substr(1, argument.size() - 2);
    }
    const auto seconds = [&](std::optional<uint32_t>& field) {
      const uint32_t value = ParseDelta(argument).value_or(0);
      field = std::min(field.value_or(value), value);
    };
    if (EqualsIgnoringCase(name, "no-store")) cache.no_store = true;
    if (EqualsIgnoringCase(name, "no-cache")) cache.no_cache = true;
    if (EqualsIgnoringCase(name, "private")) cache.is_private = true;
    if (EqualsIgnoringCase(name, "must-revalidate")) cache.must_revalidate = true;
    if (EqualsIgnoringCase(name, "immutable")) cache.immutable = true;
    if (EqualsIgnoringCase(name, "max-age")) seconds(cache.max_age);
    if (EqualsIgnoringCase(name, "s-maxage")) seconds(cache.s_maxage);
    if (EqualsIgnoringCase(name, "stale-while-revalidate")) seconds(cache.stale_while_revalidate);
    if (EqualsIgnoringCase(name, "stale-if-error")) seconds(cache.stale_if_error);
  }
  return cache;
}

std::optional<uint32_t> ParseRetryAfter(std::string_view value, int64_t now) {
  value = TrimBlanks(value);
  if (const auto seconds = ParseDelta(value)) return seconds;
  const auto date = ParseHttpDate(value);
  if (!date) return std::nullopt;
  return static_cast<uint32_t>(std::clamp<int64_t>(*date - now, 0, CacheControl::kMaxDelta));
}

std::optional<uint32_t> FreshFor(const CacheControl& cache, std::optional<std::string_view> expires,
                                 std::optional<std::string_view> date) {
  if (cache.no_store || cache.no_cache) return 0;
  if (cache.s_maxage) return cache.s_maxage;
  if (cache.max_age) return cache.max_age;
  if (!expires) return std::nullopt;
  const auto until = ParseHttpDate(*expires);
  if (!until) return 0;
  const auto from = date ? ParseHttpDate(*date) : std::nullopt;
  if (!from) return std::nullopt;
  return static_cast<uint32_t>(std::clamp<int64_t>(*until - *from, 0, CacheControl::kMaxDelta));
}

}  // namespace portolan
