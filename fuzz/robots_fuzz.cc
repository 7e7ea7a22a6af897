// Any bytes as robots.txt: rules that open again, say the same as a plain reading of them does, and survive being
// stored. The first line is the path, the rest the file; bytes that are no compiled rules never open.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "robots/robots_tag.h"
#include "robots/robots_txt.h"

namespace {

using portolan::RobotsRules;

// A star is tried at every length: slow, and plainly right.
bool NaiveMatches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return true;
  if (pattern == "$") return path.empty();
  if (pattern[0] == '*') {
    for (size_t skip = 0; skip <= path.size(); ++skip) {
      if (NaiveMatches(pattern.substr(1), path.substr(skip))) return true;
    }
    return false;
  }
  return !path.empty() && path[0] == pattern[0] && NaiveMatches(pattern.substr(1), path.substr(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view path = input.substr(0, line);
  const std::string_view text = input.substr(std::min(line + 1, input.size()));

  static_cast<void>(RobotsRules::Open(input));
  const portolan::RobotsTxt parsed = portolan::ParseRobots(text, {.agent = "FooBot"});
  const auto rules = RobotsRules::Open(parsed.rules);
  CHECK(rules.has_value());
  CHECK(rules->crawl_delay_ms() == parsed.crawl_delay_ms);

  // Canonical forms are their own canonical form, and both spellings are judged alike.
  std::string canonical;
  portolan::AppendCanonicalPath(path, canonical);
  CHECK(portolan::IsCanonicalPath(canonical));
  std::string again;
  portolan::AppendCanonicalPath(canonical, again);
  CHECK(again == canonical);
  const bool allowed = rules->Allows(path);
  if (canonical != "/robots.txt") CHECK(allowed == rules->Allows(canonical));

  // Rules written out and read back are the same bytes.
  std::string written = parsed.group == portolan::RobotsGroup::kOwn ? "User-agent: foobot\n" : "User-agent: *\n";
  size_t stars = 0;
  size_t longest = 0;
  bool exact = true;  // octets that the canonical text itself has
  for (size_t i = 0; i < rules->size(); ++i) {
    const RobotsRules::Rule rule = rules->At(i);
    written += rule.allow ? "Allow: " : "Disallow: ";
    written += rule.pattern;
    written += '\n';
    size_t own = 0;
    for (const char c : rule.pattern) own += c == '*' ? 1 : 0;
    stars = std::max(stars, own);
    longest = std::max(longest, rule.pattern.size());
    exact = exact && rule.octets == rule.pattern.size() && rule.pattern.size() < 1000;
  }
  if (exact && parsed.group != portolan::RobotsGroup::kNone && !parsed.crawl_delay_ms) {
    CHECK(portolan::ParseRobots(written, {.agent = "FooBot"}).rules == parsed.rules);
  }

  // Small cases against the naive reading.
  if (stars <= 4 && canonical.size() <= 40 && longest <= 60 && rules->size() <= 50) {
    const std::string_view judged = canonical.empty() ? std::string_view("/") : canonical;
    uint32_t best = 0;
    bool expected = true;
    for (size_t i = 0; i < rules->size(); ++i) {
      const RobotsRules::Rule rule = rules->At(i);
      if (!NaiveMatches(rule.pattern, judged)) continue;
      if (rule.octets > best || (rule.octets == best && rule.allow)) {
        best = rule.octets;
        expected = rule.allow;
      }
    }
    if (path != "/robots.txt") CHECK(allowed == expected);
  }

  portolan::RobotsTag tag("FooBot");
  tag.AddField(path);
  tag.AddMeta("robots", path);
  return 0;
}
