// ParseRobots: robots.txt by RFC 9309, plus Crawl-delay and Sitemap lines.
//
// Lines end in CR, LF or both and are cut at kMaxRobotsLine bytes; a BOM, or the beginning of one, is skipped; # begins
// a comment; keys are case-insensitive; a line without a colon, with an unknown key, or a rule before any User-agent
// line is ignored. Groups for one agent are merged, and an unknown line inside a group does not end it. Only the groups
// for our agent are compiled, and those for * only where no group names us.
//
// Typing errors are corrected if they can mean nothing else:
//   - the misspelt keys that Google's parser accepts: Dissallow, Dissalow, Disalow, Diasllow, Disallaw, Useragent, User
//     agent, Site-map. But not what only begins like a key, nor a line without its colon: RFC 9309 has a grammar.
//   - blanks of any kind around keys and values: Unicode's white space, no-break spaces above all (in Latin-1, too),
//     zero-width spaces, byte order marks. They come with text copied from web pages and are not part of a URL;
//     Google's parser treats them as part of the path. A line that begins with a byte order mark inside the file is
//     ignored.
//
// Agents: RFC 9309's product token is made of letters, - and _. The value of a User-agent line is read up to the first
// other character ("FooBot/2.1" is "foobot") and compared, ignoring case, with the whole of our token. If our own token
// has other characters it matches no line: see IsValidProductToken.
//
// Crawl-delay is not part of the RFC: it applies to the agents named since the last rule or Crawl-delay, and does not
// end a group for the rules; of several the longest counts. Sitemap lines belong to no group; each URL is given once.
//
// Bound: time and memory linear in the bytes read, which are at most the limit given.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "robots/robots_rules.h"

namespace portolan {

struct RobotsOptions {
  std::string_view agent;                 // our product token: letters, - and _
  size_t byte_limit = size_t{512} << 10;  // RFC 9309 section 2.5 asks for at least 500 KiB
  size_t max_sitemaps = 1000;
};

struct RobotsTxt {
  std::string rules;                  // for RobotsRules::Open; holds the crawl delay too
  std::vector<std::string> sitemaps;  // as written: usually absolute URLs
  RobotsGroup group = RobotsGroup::kNone;
  std::optional<uint32_t> crawl_delay_ms;
  bool truncated = false;  // there was more than the limit; the line that it cut was dropped
};

// The RFC has no limit for a line. This is what Google's parser reads: eight times the longest URL of old browsers.
inline constexpr size_t kMaxRobotsLine = 8 * 2083 - 1;

// The longest Crawl-delay that is kept, a day: anything above is kept as this.
inline constexpr uint32_t kMaxCrawlDelayMs = 86'400'000;

RobotsTxt ParseRobots(std::string_view bytes, const RobotsOptions& options);

// The product token that a User-agent line names: "FooBot/2.1 (x)" gives "FooBot", "*" gives "*".
std::string_view ProductToken(std::string_view value);

// Is `token` one that RFC 9309's grammar can name: letters, - and _ only, at least one?
bool IsValidProductToken(std::string_view token);

// "10", "0.5", " 3 ": seconds as milliseconds; nullopt for anything else.
std::optional<uint32_t> ParseCrawlDelay(std::string_view value);

}  // namespace portolan
