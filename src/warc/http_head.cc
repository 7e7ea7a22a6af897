#include "warc/http_head.h"

#include <algorithm>

#include "base/ascii.h"

namespace portolan {

void HttpHead::Clear() {
  present = false;
  request = false;
  status = 0;
  method.clear();
  target.clear();
  version.clear();
  fields.Clear();
  length = 0;
}

size_t FindHeadEnd(std::string_view text, size_t from) {
  // The empty line may have begun before, with the end of the line in front of it.
  size_t at = from > kMaxReturns + 1 ? from - kMaxReturns - 1 : 0;
  for (;;) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return at;
    ++at;
    const size_t end = text.find_first_not_of('\r', at);
    if (end != std::string_view::npos && end - at <= kMaxReturns && text[end] == '\n') return end + 1;
  }
}

bool LooksLikeHttpResponse(std::string_view text) { return text.starts_with("HTTP/") || text.starts_with("ICY "); }

bool LooksLikeHttpRequest(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t blank = line.find(' ');
  if (blank == 0 || blank == std::string_view::npos || blank > 32) return false;
  const bool word = std::ranges::all_of(line.substr(0, blank), [](char c) { return c >= 'A' && c <= 'Z'; });
  return word && line.find(" HTTP/", blank) != std::string_view::npos;
}

void ParseHttpHead(std::string_view text, HttpHead& head) {
  head.Clear();
  const bool response = LooksLikeHttpResponse(text);
  if (!response && !LooksLikeHttpRequest(text)) return;
  head.present = true;
  head.request = !response;
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  WithoutReturns(line);
  const size_t first = std::min(line.find(' '), line.size());
  const size_t second = std::min(line.find(' ', first + 1), line.size());
  if (response) {
    head.version = line.substr(0, first);
    const std::string_view code = TrimBlanks(line.substr(first, second - first));
    if (code.size() == 3 && std::ranges::all_of(code, [](char c) { return c >= '0' && c <= '9'; })) {
      head.status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
    }
  } else {
    // The target may hold blanks; the version is the last word.
    const size_t last = line.rfind(" HTTP/");
    head.method = line.substr(0, first);
    head.target = TrimBlanks(line.substr(first, last > first ? last - first : 0));
    head.version = TrimBlanks(line.substr(last));
  }
  const size_t body = end == std::string_view::npos ? text.size() : end + 1;
  head.length = body + head.fields.Parse(text.substr(body));
}

std::string_view MediaType(std::string_view content_type) {
  content_type = TrimBlanks(content_type);
  return content_type.substr(0, content_type.find_first_of("; \t,"));
}

}  // namespace portolan
