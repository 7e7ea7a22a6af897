#include "base/toml_nesting.h"

#include <fmt/core.h>

#include <algorithm>

namespace portolan {
namespace {

// Returns the position behind the string that begins at `at`. Its quote is " or ', once or three times. A string
// without its closing quote ends with its line, or with the text if it may have several lines.
size_t SkipString(std::string_view text, size_t at, size_t& lines) {
  const char quote = text[at];
  const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
  const bool multi = text.substr(at, 3) == three;
  const size_t marks = multi ? 3 : 1;
  for (at += marks; at < text.size(); ++at) {
    if (text[at] == '\n') {
      if (!multi) return at;
      ++lines;
    } else if (text[at] == '\\' && quote == '"') {
      if (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (text[at] == quote && (!multi || text.substr(at, 3) == three)) {
      return at + marks;
    }
  }
  return at;
}

}  // namespace

Status CheckTomlNesting(std::string_view text) {
  size_t line = 1;
  size_t depth = 0;
  size_t dots = 0;
  for (size_t at = 0; at < text.size();) {
    switch (text[at]) {
      case '"':
      case '\'':
        at = SkipString(text, at, line);
        continue;
      case '#':
        at = std::min(text.find('\n', at), text.size());
        continue;
      case '\n':
        ++line;
        dots = 0;
        break;
      case '.':
        ++dots;
        break;
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        depth -= depth > 0 ? 1 : 0;
        break;
      default:
        break;
    }
    if (depth > kMaxTomlNesting || dots > kMaxTomlNesting) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("line {}: nested more than {} levels deep: not a file of settings", line, kMaxTomlNesting));
    }
    ++at;
  }
  return {};
}

}  // namespace portolan
