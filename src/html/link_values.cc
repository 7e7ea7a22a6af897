#include "html/link_values.h"

#include <algorithm>

#include "base/ascii.h"
#include "html/scan.h"

namespace portolan {

std::string_view TrimHtmlSpace(std::string_view text) {
  while (!text.empty() && IsHtmlSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsHtmlSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> SrcsetReader::Next() {
  while (!rest_.empty() && (IsHtmlSpace(rest_.front()) || rest_.front() == ',')) rest_.remove_prefix(1);
  if (rest_.empty()) return std::nullopt;
  const auto length = static_cast<size_t>(std::ranges::find_if(rest_, IsHtmlSpace) - rest_.begin());
  std::string_view url = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (url.back() == ',') {
    while (!url.empty() && url.back() == ',') url.remove_suffix(1);
    return url;
  }
  // Descriptors, up to a comma that is not in parentheses.
  bool in_parens = false;
  size_t at = 0;
  for (; at < rest_.size(); ++at) {
    const char c = rest_[at];
    if (in_parens ? c == ')' : c == '(') in_parens = !in_parens;
    if (c == ',' && !in_parens) break;
  }
  rest_.remove_prefix(std::min(at + 1, rest_.size()));
  return url;
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
