#include "html/link_values.h"

#include <algorithm>

#include "base/ascii.h"
#include "html/scan.h"

namespace portolan {
namespace {

bool IsInteger(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsAsciiDigit); }

// "A valid floating-point number" that is not negative.
bool IsDensity(std::string_view text) {
  if (const size_t exponent = text.find_first_of("eE"); exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
    if (!IsInteger(power)) return false;
    text = text.substr(0, exponent);
  }
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return IsInteger(text);
  return (point == 0 || IsInteger(text.substr(0, point))) && IsInteger(text.substr(point + 1));
}

// "640w", "2x", "640w 480h": one of them of each sort, and no sizes beside a density.
struct Descriptors {
  bool width = false;
  bool height = false;
  bool density = false;
  bool error = false;

  void Add(std::string_view text) {
    const char unit = text.back();
    text.remove_suffix(1);
    const bool size = IsInteger(text) && text.find_first_not_of('0') != std::string_view::npos;
    if (unit == 'w' && size && !width && !density) {
      width = true;
    } else if (unit == 'h' && size && !height && !density) {
      height = true;
    } else if (unit == 'x' && IsDensity(text) && !width && !height && !density) {
      density = true;
    } else {
      error = true;
    }
  }
  bool Valid() const { return !error && (width || !height); }
};

}  // namespace

std::string_view TrimHtmlSpace(std::string_view text) {
  while (!text.empty() && IsHtmlSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsHtmlSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> SrcsetReader::Next() {
  for (;;) {
    while (!rest_.empty() && (IsHtmlSpace(rest_.front()) || rest_.front() == ',')) rest_.remove_prefix(1);
    if (rest_.empty()) return std::nullopt;
    const auto length = static_cast<size_t>(std::ranges::find_if(rest_, IsHtmlSpace) - rest_.begin());
    std::string_view url = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (url.back() == ',') {
      while (!url.empty() && url.back() == ',') url.remove_suffix(1);
      return url;
    }
    if (TakeDescriptors()) return url;
  }
}

bool SrcsetReader::TakeDescriptors() {
  Descriptors seen;
  bool in_parens = false;
  size_t begin = 0;
  for (size_t at = 0;; ++at) {
    const bool end = at == rest_.size();
    const char c = end ? ',' : rest_[at];
    if (!end && (in_parens ? c == ')' : c == '(')) in_parens = !in_parens;
    if (!end && (in_parens || (c != ',' && !IsHtmlSpace(c)))) continue;
    if (at > begin) seen.Add(rest_.substr(begin, at - begin));
    begin = at + 1;
    if (c == ',') {
      rest_.remove_prefix(std::min(begin, rest_.size()));
      return seen.Valid();
    }
  }
}

std::optional<std::string_view> RefreshUrl(std::string_view content) {
  const auto skip_space = [&] {
    while (!content.empty() && IsHtmlSpace(content.front())) content.remove_prefix(1);
  };
  skip_space();
  const auto digits = static_cast<size_t>(std::ranges::find_if_not(content, IsAsciiDigit) - content.begin());
  if (digits == 0 && !content.starts_with('.')) return std::nullopt;
  content.remove_prefix(digits);
  while (!content.empty() && (IsAsciiDigit(content.front()) || content.front() == '.')) content.remove_prefix(1);
  if (content.empty()) return std::nullopt;
  const char separator = content.front();
  if (separator != ';' && separator != ',' && !IsHtmlSpace(separator)) return std::nullopt;
  skip_space();
  if (content.starts_with(';') || content.starts_with(',')) content.remove_prefix(1);
  skip_space();
  if (content.empty()) return std::nullopt;

  std::string_view url = content;
  if (EqualsIgnoringCase(content.substr(0, 3), "url")) {
    content.remove_prefix(3);
    skip_space();
    if (!content.starts_with('=')) return TrimHtmlSpace(url);
    content.remove_prefix(1);
    skip_space();
    url = content;
  }
  if (url.starts_with('"') || url.starts_with('\'')) {
    const char quote = url.front();
    url.remove_prefix(1);
    url = url.substr(0, url.find(quote));
  }
  url = TrimHtmlSpace(url);
  if (url.empty()) return std::nullopt;
  return url;
}

std::string_view CharsetInContent(std::string_view content) {
  for (size_t at = 0; at + 7 <= content.size(); ++at) {
    if (!EqualsIgnoringCase(content.substr(at, 7), "charset")) continue;
    std::string_view rest = content.substr(at + 7);
    while (!rest.empty() && IsHtmlSpace(rest.front())) rest.remove_prefix(1);
    if (!rest.starts_with('=')) {
      at = static_cast<size_t>(rest.data() - content.data()) - 1;
      continue;
    }
    rest.remove_prefix(1);
    while (!rest.empty() && IsHtmlSpace(rest.front())) rest.remove_prefix(1);
    if (rest.starts_with('"') || rest.starts_with('\'')) {
      const size_t close = rest.find(rest.front(), 1);
      return close == std::string_view::npos ? std::string_view() : rest.substr(1, close - 1);
    }
    const auto stop = std::ranges::find_if(rest, [](char c) { return IsHtmlSpace(c) || c == ';'; });
    return rest.substr(0, static_cast<size_t>(stop - rest.begin()));
  }
  return {};
}

}  // namespace portolan
