#include "follow/node_key.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

// Bytes of host names: letters, digits, '-', '.', '_'.
constexpr std::array<bool, 256> kHostByte = [] {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (const char c : {'-', '.', '_'}) table[static_cast<uint8_t>(c)] = true;
  return table;
}();

bool IsPlainHost(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) { return kHostByte[static_cast<uint8_t>(c)]; });
}

bool IsIpv6(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']' &&
         std::ranges::all_of(host.substr(1, host.size() - 2),
                             [](char c) { return c == ':' || c == '.' || kHostByte[static_cast<uint8_t>(c)]; });
}

// The last label of an IPv4 address is a number; that of a name is not.
bool IsIpv4(std::string_view host) {
  const size_t dot = host.rfind('.');
  const std::string_view last = host.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return dot != std::string_view::npos && !last.empty() &&
         std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

void AppendHostKey(std::string_view host, std::string& key) {
  if (host.front() == '[' || IsIpv4(host)) {
    key += host;
    return;
  }
  for (size_t end = host.size();;) {
    const size_t dot = end == 0 ? std::string_view::npos : host.rfind('.', end - 1);
    const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    key.append(host, begin, end - begin);
    if (begin == 0) return;
    key += ',';
    end = dot;
  }
}

// "https://host:port" as the front of a key, "host):port" reversed. False: keys of such URLs are the URLs.
bool AppendOriginKey(std::string_view origin, bool secure, std::string& key) {
  const std::string_view authority = origin.substr(secure ? kHttps.size() : kHttp.size());
  size_t host_end = authority.size();
  if (authority.starts_with('[')) {
    host_end = std::min(authority.find(']'), authority.size() - 1) + 1;
  } else {
    host_end = std::min(authority.find(':'), authority.size());
  }
  const std::string_view host = authority.substr(0, host_end);
  const std::string_view port = authority.substr(host_end);
  const bool port_is_plain =
      port.empty() || (port.size() > 1 && port[0] == ':' &&
                       std::ranges::all_of(port.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
  if (!port_is_plain || !(IsPlainHost(host) || IsIpv6(host))) return false;
  AppendHostKey(host, key);
  key += ')';
  key += port;
  return true;
}

// Where the path begins; npos: it is not http or https, or has no path.
size_t PathBegin(std::string_view url, bool secure) {
  if (!secure && !url.starts_with(kHttp)) return std::string_view::npos;
  return url.find('/', secure ? kHttps.size() : kHttp.size());
}

void AppendOddKey(std::string_view url, std::string& key) {
  key += ' ';
  key += url;
}

}  // namespace

void AppendNodeKey(std::string_view url, std::string& key) {
  const bool secure = url.starts_with(kHttps);
  const size_t path = PathBegin(url, secure);
  if (path == std::string_view::npos || url.find(' ', path) != std::string_view::npos ||
      !AppendOriginKey(url.substr(0, path), secure, key)) {
    return AppendOddKey(url, key);
  }
  key += url.substr(path);
  if (secure) key += " s";
}

void NodeKeyMaker::Append(std::string_view url, std::string& key) {
  const bool secure = url.starts_with(kHttps);
  const size_t path = PathBegin(url, secure);
  if (path == std::string_view::npos || url.find(' ', path) != std::string_view::npos) return AppendOddKey(url, key);
  const std::string_view origin = url.substr(0, path);
  if (origin.size() > kLongest) return AppendNodeKey(url, key);
  Known& known = known_[Hash64(origin) % kKnown];
  if (known.origin != origin) {
    known.origin = origin;
    known.key.clear();
    if (!AppendOriginKey(origin, secure, known.key)) known.key.clear();
  }
  if (known.key.empty()) return AppendOddKey(url, key);
  key += known.key;
  key += url.substr(path);
  if (secure) key += " s";
}

std::string_view HostOfNodeKey(std::string_view key) {
  if (key.starts_with(' ')) return key.substr(0, 1);
  return key.substr(0, std::min(key.find(')'), key.size()));
}

std::string HostNameOfKey(std::string_view host_key) {
  std::string host;
  for (size_t end = host_key.size();;) {
    const size_t comma = end == 0 ? std::string_view::npos : host_key.rfind(',', end - 1);
    const size_t begin = comma == std::string_view::npos ? 0 : comma + 1;
    host.append(host_key, begin, end - begin);
    if (begin == 0) return host;
    host += '.';
    end = comma;
  }
}

std::string KeyOfHostName(std::string_view host) {
  std::string key;
  if (!host.empty()) AppendHostKey(host, key);
  return key;
}

void UrlOfNodeKey(std::string_view key, std::string& url) {
  url.clear();
  if (key.starts_with(' ')) {
    url = key.substr(1);
    return;
  }
  const std::string_view host = HostOfNodeKey(key);
  std::string_view rest = key.substr(std::min(host.size() + 1, key.size()));
  const bool secure = rest.ends_with(" s");
  if (secure) rest.remove_suffix(2);
  url = secure ? kHttps : kHttp;
  url += HostNameOfKey(host);
  url += rest;
}

}  // namespace portolan
