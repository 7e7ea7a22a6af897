#include "budget/url_shape.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

// Each level has keys of its own.
constexpr uint64_t kSeed[] = {0x7768, 0x6e61, 0x7061, 0x6469, 0x686f, 0x646f};

uint64_t GroupKey(ShapeLevel level, uint64_t base, uint64_t text) {
  return Mix64(Mix64(base ^ kSeed[static_cast<size_t>(level)]) ^ text);
}

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

constexpr size_t kToken = 8;
constexpr size_t kMostSegments = 64;  // the rest of a deeper path is one segment

// Letters and digits from `at` on: is it a token, and where does it end?
bool IsToken(std::string_view run) {
  if (run.size() < kToken) return false;
  size_t digits = 0;
  size_t hex = 0;
  for (const char c : run) {
    digits += IsDigit(c) ? 1 : 0;
    hex += IsHex(c) ? 1 : 0;
  }
  if (digits == run.size()) return false;  // a number
  return hex == run.size() || (digits >= 2 && digits < run.size());
}

std::string_view NameOf(std::string_view parameter) { return parameter.substr(0, parameter.find('=')); }

struct Parts {
  std::string path;              // abstract, segments that repeat folded
  std::vector<size_t> segments;  // ends of its directories in `path`, after their '/'
  std::string names;             // of the query, sorted, separated by '&', with '+' after those that repeat
  std::vector<std::string> each;
  bool query = false;
};

Parts PartsOf(std::string_view url) {
  Parts parts;
  std::string_view rest = PathAndQueryOf(url);
  std::string_view query;
  if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
    parts.query = true;
  }
  // Segments, abstract. From the first occurrence of one that repeats to the last everything is one "**".
  std::vector<std::string> segments;
  std::vector<std::string> names;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  for (;;) {
    const size_t slash = segments.size() + 1 == kMostSegments ? std::string_view::npos : rest.find('/');
    std::string_view segment = rest.substr(0, slash);
    if (const size_t mark = segment.find(';'); mark != std::string_view::npos) {
      // "page.html;jsessionid=…" is a parameter, too.
      if (names.size() < UrlShape::kNames) AppendAbstract(names.emplace_back(), NameOf(segment.substr(mark)));
      segment = segment.substr(0, mark);
    }
    AppendAbstract(segments.emplace_back(), segment);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  const size_t last = segments.size() - 1;  // the file: not a directory
  for (size_t i = 0; i < last;) {
    size_t again = i;
    if (!segments[i].empty() && segments[i].find_first_of("#*") == std::string::npos) {
      for (size_t k = last; k-- > i + 1;) {
        if (segments[k] == segments[i]) {
          again = k;
          break;
        }
      }
    }
    parts.path += '/';
    parts.path += segments[i];
    parts.segments.push_back(parts.path.size() + 1);
    if (again > i) {
      parts.path += "/**";
      parts.segments.push_back(parts.path.size() + 1);
    }
    i = again + 1;
  }
  parts.path += '/';
  parts.path += segments[last];

  parts.query = parts.query || !names.empty();
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view one = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (one.empty()) continue;
    std::string name;
    AppendAbstract(name, NameOf(one));
    names.push_back(std::move(name));
    if (names.size() == 64) break;
  }
  std::ranges::sort(names);
  for (size_t i = 0; i < names.size();) {
    size_t end = i + 1;
    while (end < names.size() && names[end] == names[i]) ++end;
    if (!parts.names.empty()) parts.names += '&';
    parts.names += names[i];
    if (end > i + 1) parts.names += '+';
    parts.each.push_back(names[i]);
    i = end;
  }
  return parts;
}

}  // namespace

void AppendAbstract(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && (IsDigit(text[end]) || IsAlpha(text[end]))) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view run = text.substr(at, end - at);
    if (IsToken(run)) {
      out += '*';
    } else {
      for (size_t i = 0; i < run.size();) {
        if (!IsDigit(run[i])) {
          out += run[i++];
          continue;
        }
        out += '#';
        while (i < run.size() && IsDigit(run[i])) ++i;
      }
    }
    at = end;
  }
}

UrlShape ShapeOf(std::string_view url, uint64_t host_key, uint64_t domain_key, const HashKey& key) {
  const Parts parts = PartsOf(url);
  UrlShape shape;
  const auto add = [&](ShapeLevel level, uint64_t base, std::string_view text) {
    shape.Add(GroupKey(level, base, key.Hash(text)), level);
  };
  std::string whole = parts.path;
  if (parts.query) {
    whole += '?';
    whole += parts.names;
  }
  add(ShapeLevel::kWhole, host_key, whole);
  for (size_t i = 0; i < std::min(parts.each.size(), UrlShape::kNames); ++i) {
    add(ShapeLevel::kName, host_key, parts.each[i]);
  }
  if (parts.query) add(ShapeLevel::kPath, host_key, parts.path);
  for (size_t i = std::min(parts.segments.size(), UrlShape::kDirectories); i-- > 0;) {
    add(ShapeLevel::kDirectory, host_key, std::string_view(parts.path).substr(0, parts.segments[i]));
  }
  add(ShapeLevel::kHost, host_key, {});
  add(ShapeLevel::kDomain, domain_key, {});
  return shape;
}

UrlShape HostShapeOf(uint64_t host_key, uint64_t domain_key, const HashKey& key) {
  UrlShape shape;
  const uint64_t nothing = key.Hash({});
  shape.Add(GroupKey(ShapeLevel::kHost, host_key, nothing), ShapeLevel::kHost);
  shape.Add(GroupKey(ShapeLevel::kDomain, domain_key, nothing), ShapeLevel::kDomain);
  return shape;
}

std::string ShapeWords(std::string_view url, const UrlShape& shape, size_t group) {
  if (group >= shape.count) return {};
  const Parts parts = PartsOf(url);
  const auto nth = [&](ShapeLevel level) {
    size_t before = 0;
    for (size_t i = 0; i < group; ++i) before += shape.groups[i].level == level ? 1 : 0;
    return before;
  };
  switch (shape.groups[group].level) {
    case ShapeLevel::kWhole:
      return parts.query ? parts.path + '?' + parts.names : parts.path;
    case ShapeLevel::kName: {
      const std::string& name = parts.each[nth(ShapeLevel::kName)];
      return name.starts_with(';') ? name : '?' + name;
    }
    case ShapeLevel::kPath:
      return parts.path + '?';
    case ShapeLevel::kDirectory: {
      const size_t most = std::min(parts.segments.size(), UrlShape::kDirectories);
      return parts.path.substr(0, parts.segments[most - 1 - nth(ShapeLevel::kDirectory)]);
    }
    case ShapeLevel::kHost:
      return std::string(HostOf(url));
    case ShapeLevel::kDomain:
      return "all hosts of the domain of " + std::string(HostOf(url));
  }
  return {};
}

}  // namespace portolan
