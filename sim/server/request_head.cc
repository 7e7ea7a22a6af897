#include "sim/server/request_head.h"

#include <algorithm>
#include <charconv>

namespace portolan::sim {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameWord(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) { return Lower(x) == y; });
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// A word in a list of words separated by commas.
bool HasWord(std::string_view list, std::string_view lower) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (SameWord(Trim(list.substr(0, comma)), lower)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// The next line without its end, from `at` on; false when it has no end.
bool NextLine(std::string_view input, size_t& at, std::string_view& line) {
  const size_t end = input.find('\n', at);
  if (end == std::string_view::npos) return false;
  line = input.substr(at, end - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at = end + 1;
  return true;
}

// What the fields have said so far, beyond the head itself.
struct Fields {
  bool host = false;
  bool length = false;
  bool close = false;
  bool keep_alive = false;
  std::string_view authority;
};

bool TakeField(std::string_view name, std::string_view value, RequestHead& head, Fields& fields) {
  switch (name.size()) {
    case 4:
      if (SameWord(name, "host")) {
        if (fields.host) return false;
        fields.host = true;
        fields.authority = value;
      }
      return true;
    case 6:
      if (SameWord(name, "expect")) head.expect_continue = SameWord(value, "100-continue");
      return true;
    case 10:
      if (SameWord(name, "user-agent")) {
        head.user_agent = value;
      } else if (SameWord(name, "connection")) {
        fields.close = fields.close || HasWord(value, "close");
        fields.keep_alive = fields.keep_alive || HasWord(value, "keep-alive");
      }
      return true;
    case 13:
      if (SameWord(name, "if-none-match")) head.if_none_match = value;
      return true;
    case 14:
      if (SameWord(name, "content-length")) {
        uint64_t length = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
        if (value.empty() || error != std::errc() || end != value.data() + value.size()) return false;
        if (fields.length && length != head.body_bytes) return false;
        fields.length = true;
        head.body_bytes = length;
      }
      return true;
    case 15:
      if (SameWord(name, "accept-encoding")) head.accept_encoding = value;
      return true;
    case 17:
      if (SameWord(name, "if-modified-since")) {
        head.if_modified_since = value;
      } else if (SameWord(name, "transfer-encoding")) {
        head.chunked_body = true;
      }
      return true;
    default:
      return true;
  }
}

HeadStatus TakeRequestLine(std::string_view line, RequestHead& head, std::string_view& authority) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return HeadStatus::kBad;
  head.method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(head.method) || target.empty() ||
      std::ranges::any_of(target, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; })) {
    return HeadStatus::kBad;
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return version.starts_with("HTTP/") ? HeadStatus::kVersion : HeadStatus::kBad;
  }
  head.http11 = version.back() == '1';
  if (target[0] != '/' && target != "*") {
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return HeadStatus::kBad;
    target.remove_prefix(scheme + 3);
    const size_t path = std::min(target.find_first_of("/?"), target.size());
    authority = target.substr(0, path);
    target.remove_prefix(path);
    if (target.empty()) target = "/";
  }
  head.path_and_query = target;
  return HeadStatus::kWhole;
}

}  // namespace

void AssignHostName(std::string_view authority, std::string& host) {
  if (authority.starts_with('[')) {
    authority.remove_prefix(1);
    authority = authority.substr(0, authority.find(']'));
  } else {
    authority = authority.substr(0, authority.find(':'));
  }
  if (authority.ends_with('.')) authority.remove_suffix(1);
  host.assign(authority);
  for (char& c : host) c = Lower(c);
}

HeadStatus ParseRequestHead(std::string_view input, RequestHead& head) {
  std::string host = std::move(head.host);  // keeps its memory
  head = {};
  head.host = std::move(host);
  head.host.clear();
  const auto unfinished = [&] {
    return input.size() >= RequestHead::kMostHeadBytes ? HeadStatus::kTooLong : HeadStatus::kMore;
  };
  size_t at = 0;
  std::string_view line;
  // RFC 9112 2.2: an empty line before the request is ignored.
  for (;;) {
    if (!NextLine(input, at, line)) return unfinished();
    if (!line.empty()) break;
    if (at > 4) return HeadStatus::kBad;
  }
  std::string_view target_authority;
  const HeadStatus status = TakeRequestLine(line, head, target_authority);
  if (status != HeadStatus::kWhole) return status;
  Fields fields;
  for (;;) {
    if (!NextLine(input, at, line)) return unfinished();
    if (at > RequestHead::kMostHeadBytes) return HeadStatus::kTooLong;
    if (line.empty()) break;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return HeadStatus::kBad;
    if (!TakeField(line.substr(0, colon), Trim(line.substr(colon + 1)), head, fields)) return HeadStatus::kBad;
  }
  if (head.http11 && !fields.host) return HeadStatus::kBad;
  AssignHostName(target_authority.empty() ? fields.authority : target_authority, head.host);
  head.keep_alive = !fields.close && (head.http11 || fields.keep_alive);
  head.bytes = at;
  return HeadStatus::kWhole;
}

}  // namespace portolan::sim
