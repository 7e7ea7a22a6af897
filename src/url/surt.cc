#include "url/surt.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "url/code_points.h"
#include "url/percent.h"
#include "url/query_names.h"
#include "url/raw_bytes.h"

namespace portolan {

using namespace url_internal;

namespace {

// Decodes escapes until none is left, in one pass: a byte that completes an escape with what is already written is
// folded back at once. No two escapes overlap, so the order in which they are decoded does not matter.
std::string FullyDecoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    out += c;
    while (out.size() >= 3) {
      const int byte = EscapeAt(out, out.size() - 3);
      if (byte < 0) break;
      out.resize(out.size() - 3);
      out += static_cast<char>(byte);
    }
  }
  return out;
}

// Lower case, with escapes only where a key must not have the byte itself.
void AppendKeyText(std::string_view text, std::string& out) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '%' || c == '#') {
      out += '%';
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    } else {
      out += static_cast<char>(Lower(byte));
    }
  }
}

// "www.", "www2." …: the label that says only that a host serves the web.
std::string_view WithoutWww(std::string_view host) {
  if (!host.starts_with("www")) return host;
  size_t end = 3;
  while (end < host.size() && IsDigit(static_cast<uint8_t>(host[end]))) ++end;
  return end + 1 < host.size() && host[end] == '.' ? host.substr(end + 1) : host;
}

void AppendKeyPath(std::string_view path, std::string& out) {
  const std::string decoded = FullyDecoded(path);
  std::vector<std::string_view> segments;
  for (size_t at = 0; at <= decoded.size();) {
    const size_t end = std::min(decoded.find('/', at), decoded.size());
    const std::string_view segment = std::string_view(decoded).substr(at, end - at);
    at = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
      continue;
    }
    if (IsSessionSegment(segment)) continue;
    segments.push_back(segment);
  }
  const size_t begin = out.size();
  for (std::string_view segment : segments) {
    // Session parameters stand at the end of a segment, behind a ';'.
    for (size_t mark = segment.rfind(';'); mark != std::string_view::npos; mark = segment.rfind(';')) {
      if (!IsSessionPathParameter(segment.substr(mark + 1))) break;
      segment = segment.substr(0, mark);
    }
    if (segment.empty()) continue;
    out += '/';
    AppendKeyText(segment, out);
  }
  if (out.size() == begin) out += '/';
}

void AppendKeyQuery(std::string_view query, std::string& out) {
  std::string decoded = FullyDecoded(query);
  std::string lower;
  AppendKeyText(decoded, lower);
  // Sorted by name and then by value, so that "a" and "a=1" come before "a-b".
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
  for (size_t at = 0; at <= lower.size();) {
    const size_t end = std::min(lower.find('&', at), lower.size());
    const std::string_view parameter = std::string_view(lower).substr(at, end - at);
    at = end + 1;
    if (IsSessionParameter(parameter)) continue;
    const size_t equals = std::min(parameter.find('='), parameter.size());
    parameters.emplace_back(parameter.substr(0, equals), parameter.substr(equals));
  }
  std::sort(parameters.begin(), parameters.end());
  if (parameters.empty() || (parameters.size() == 1 && lower.empty())) return;
  char mark = '?';
  for (const auto& [name, value] : parameters) {
    out += mark;
    out.append(name).append(value);
    mark = '&';
  }
}

}  // namespace

void AppendReversedHost(std::string_view host, std::string& out) {
  while (true) {
    const size_t dot = host.rfind('.');
    out.append(host, dot == std::string_view::npos ? 0 : dot + 1);
    if (dot == std::string_view::npos) return;
    out += ',';
    host = host.substr(0, dot);
  }
}

void AppendSurtKey(const Url& url, std::string& out) {
  // "filedesc://x.arc.gz" is what ARC files call themselves: x.arc.gz is no host.
  if (!url.has_authority() || url.scheme() == "filedesc") {
    for (const char c : url.href()) {
      if (c == ' ') {
        out += "%20";  // blanks may stand in opaque paths, but not in a key
      } else {
        out += c;
      }
    }
    return;
  }
  std::string_view host = url.hostname();
  if (url.host_kind() == HostKind::kIpv6) {
    out.append(host);
  } else {
    if (url.host_kind() == HostKind::kDomain) {
      while (host.size() > 1 && host.ends_with('.')) host.remove_suffix(1);
      host = WithoutWww(host);
    }
    AppendReversedHost(host, out);
  }
  if (url.port() != Url::kNoPort) out.append(":").append(url.port_text());
  out += ')';
  AppendKeyPath(url.path(), out);
  if (url.has_query()) AppendKeyQuery(url.query(), out);
}

std::string SurtKey(std::string_view text) {
  if (!IsUtf8(text)) return SurtKey(EscapeBrokenUtf8(text));
  std::string key;
  if (const auto url = Url::Parse(text)) {
    AppendSurtKey(*url, key);
    return key;
  }
  TextBuffer encoded;
  AppendEncoded(text, kInQuerySet, encoded);
  key = encoded.view();
  return key.empty() ? "-" : key;
}

void AppendSurt(const Url& url, std::string& out) {
  if (!url.has_authority()) {
    out.append(url.href());
    return;
  }
  out.append(url.scheme()).append("://(");
  if (url.host_kind() == HostKind::kDomain || url.host_kind() == HostKind::kOpaque) {
    AppendReversedHost(url.hostname(), out);
    out += ',';
  } else {
    out.append(url.hostname());
  }
  if (url.port() != Url::kNoPort) out.append(":").append(url.port_text());
  out += ')';
  out.append(url.path_and_query());
  if (url.has_fragment()) out.append("#").append(url.fragment());
}

}  // namespace portolan
