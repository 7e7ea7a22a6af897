#include "robots/robots_txt.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/ascii.h"
#include "base/utf8.h"

namespace portolan {
namespace {

enum class Key : uint8_t { kUnknown, kUserAgent, kAllow, kDisallow, kCrawlDelay, kSitemap };

struct Spelling {
  std::string_view name;
  Key key;
};
// The most frequent first: a file is mostly Disallow lines.
constexpr Spelling kSpellings[] = {
    {"disallow", Key::kDisallow},      {"allow", Key::kAllow},
    {"user-agent", Key::kUserAgent},   {"sitemap", Key::kSitemap},
    {"crawl-delay", Key::kCrawlDelay}, {"dissallow", Key::kDisallow},
    {"dissalow", Key::kDisallow},      {"disalow", Key::kDisallow},
    {"diasllow", Key::kDisallow},      {"disallaw", Key::kDisallow},
    {"useragent", Key::kUserAgent},    {"user agent", Key::kUserAgent},
    {"site-map", Key::kSitemap},
};

Key KeyOf(std::string_view name) {
  for (const Spelling& one : kSpellings) {
    if (one.name.size() == name.size() && EqualsIgnoringCase(one.name, name)) return one.key;
  }
  return Key::kUnknown;
}

// A NUL byte is never intended.
bool IsAsciiBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0'; }

// The invisible characters of Unicode: its white space, the zero-width space, the byte order mark.
bool IsUnicodeBlank(std::string_view sequence) {
  if (sequence.size() == 2) return sequence == "\xc2\x85" || sequence == "\xc2\xa0";
  if (sequence.size() != 3) return false;
  const std::string_view lead = sequence.substr(0, 2);
  const auto last = static_cast<uint8_t>(sequence[2]);
  if (lead == "\xe2\x80") return last <= 0x8b || last == 0xa8 || last == 0xa9 || last == 0xaf;
  return sequence == "\xe1\x9a\x80" || sequence == "\xe2\x81\x9f" || sequence == "\xe3\x80\x80" ||
         sequence == "\xef\xbb\xbf";
}

// The bytes of the blank that `text` begins with; 0 for none. A byte 0xA0 in no UTF-8 sequence is Latin-1's no-break
// space.
size_t BlankAtFront(std::string_view text) {
  if (IsAsciiBlank(text.front())) return 1;
  if (static_cast<uint8_t>(text.front()) < 0x80) return 0;
  const size_t length = Utf8SequenceLength(text);
  if (length == 0) return text.front() == '\xa0' ? 1 : 0;
  return IsUnicodeBlank(text.substr(0, length)) ? length : 0;
}

size_t BlankAtBack(std::string_view text) {
  if (IsAsciiBlank(text.back())) return 1;
  if (static_cast<uint8_t>(text.back()) < 0x80) return 0;
  for (size_t length = 2; length <= std::min<size_t>(4, text.size()); ++length) {
    const std::string_view last = text.substr(text.size() - length);
    if (Utf8SequenceLength(last) == length) return IsUnicodeBlank(last) ? length : 0;
  }
  return text.back() == '\xa0' ? 1 : 0;
}

std::string_view Trimmed(std::string_view text) {
  for (size_t blank = 0; !text.empty() && (blank = BlankAtFront(text)) > 0;) text.remove_prefix(blank);
  for (size_t blank = 0; !text.empty() && (blank = BlankAtBack(text)) > 0;) text.remove_suffix(blank);
  return text;
}

// The lines of a file, one after the other. CR LF gives one empty line too many, which means nothing. Where the next LF
// is stays known over the lines that end with CR, so each byte is looked at twice at most.
class Lines {
 public:
  explicit Lines(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return at_ == bytes_.size(); }
  // REQUIRES: not done().
  std::string_view Next() {
    if (newline_ < at_ || at_ == 0) newline_ = Find('\n', bytes_.size());
    const size_t end = Find('\r', newline_);
    const std::string_view line = bytes_.substr(at_, std::min(end - at_, kMaxRobotsLine));
    at_ = std::min(end + 1, bytes_.size());
    return line;
  }

 private:
  // The first one from here on and before `end`, or `end`.
  size_t Find(char c, size_t end) const {
    const void* found = std::memchr(bytes_.data() + at_, c, end - at_);
    return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - bytes_.data());
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  size_t newline_ = 0;
};

bool IsTokenLetter(char c) { return IsAlpha(c) || c == '-' || c == '_'; }

struct GroupRules {
  struct Rule {
    std::string_view path;
    bool allow;
  };
  bool seen = false;
  std::vector<Rule> rules;
  std::optional<uint32_t> crawl_delay_ms;
};

}  // namespace

std::string_view ProductToken(std::string_view value) {
  value = Trimmed(value);
  if (value.starts_with('*') && (value.size() == 1 || value[1] == ' ' || value[1] == '\t')) return value.substr(0, 1);
  const auto* end = std::find_if_not(value.begin(), value.end(), IsTokenLetter);
  return value.substr(0, static_cast<size_t>(end - value.begin()));
}

bool IsValidProductToken(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(), IsTokenLetter);
}

std::optional<uint32_t> ParseCrawlDelay(std::string_view value) {
  value = Trimmed(value);
  uint64_t whole = 0;
  uint64_t thousandths = 0;
  size_t at = 0;
  size_t digits = 0;
  for (; at < value.size() && IsDigit(value[at]); ++at, ++digits) {
    whole = std::min<uint64_t>(whole * 10 + static_cast<uint64_t>(value[at] - '0'), kMaxCrawlDelayMs);
  }
  if (at < value.size() && value[at] == '.') {
    uint64_t unit = 100;
    for (++at; at < value.size() && IsDigit(value[at]); ++at, ++digits, unit /= 10) {
      thousandths += unit * static_cast<uint64_t>(value[at] - '0');
    }
  }
  if (digits == 0 || at != value.size()) return std::nullopt;
  return static_cast<uint32_t>(std::min<uint64_t>(whole * 1000 + thousandths, kMaxCrawlDelayMs));
}

RobotsTxt ParseRobots(std::string_view bytes, const RobotsOptions& options) {
  RobotsTxt result;
  if (bytes.size() > options.byte_limit) {
    result.truncated = true;
    bytes = bytes.substr(0, options.byte_limit);
    const size_t last_end = bytes.find_last_of("\r\n");
    bytes = bytes.substr(0, last_end == std::string_view::npos ? 0 : last_end + 1);
  }
  for (const char byte : std::string_view("\xef\xbb\xbf")) {
    if (!bytes.starts_with(byte)) break;
    bytes.remove_prefix(1);
  }

  GroupRules own;
  GroupRules any;
  bool for_own = false;    // the open group names our agent
  bool for_any = false;    // the open group is for *
  bool in_agents = false;  // no rule has come yet in the open group
  // The agents that a Crawl-delay line applies to: those named since the last rule or Crawl-delay.
  bool delay_own = false;
  bool delay_any = false;
  bool in_delay_agents = false;
  std::set<std::string_view> sitemaps;  // ordered, not hashed: outsiders choose them
  for (Lines lines(bytes); !lines.done();) {
    std::string_view line = lines.Next();
    if (line.empty()) continue;
    // Other parsers all take a line behind a byte order mark for garbage, and so do the tests of the RFC's authors.
    if (line.starts_with("\xef\xbb\xbf")) continue;
    line = line.substr(0, line.find('#'));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const Key key = KeyOf(Trimmed(line.substr(0, colon)));
    if (key == Key::kUnknown) continue;
    const std::string_view value = Trimmed(line.substr(colon + 1));
    switch (key) {
      case Key::kUserAgent: {
        if (!in_agents) for_own = for_any = false;
        if (!in_delay_agents) delay_own = delay_any = false;
        in_agents = in_delay_agents = true;
        const std::string_view token = ProductToken(value);
        if (token == "*") {
          for_any = delay_any = any.seen = true;
        } else if (!token.empty() && EqualsIgnoringCase(token, options.agent)) {
          for_own = delay_own = own.seen = true;
        }
        break;
      }
      case Key::kAllow:
      case Key::kDisallow:
        in_agents = in_delay_agents = false;
        if (value.empty()) break;
        if (for_own) own.rules.push_back({value, key == Key::kAllow});
        if (for_any && !own.seen) any.rules.push_back({value, key == Key::kAllow});
        break;
      case Key::kCrawlDelay: {
        const auto delay = ParseCrawlDelay(value);
        in_delay_agents = false;
        if (!delay) break;
        if (delay_own) own.crawl_delay_ms = std::max(own.crawl_delay_ms.value_or(0), *delay);
        if (delay_any) any.crawl_delay_ms = std::max(any.crawl_delay_ms.value_or(0), *delay);
        break;
      }
      case Key::kSitemap:
        if (value.empty() || result.sitemaps.size() >= options.max_sitemaps) break;
        if (sitemaps.insert(value).second) result.sitemaps.emplace_back(value);
        break;
      case Key::kUnknown:
        break;
    }
  }

  const GroupRules& chosen = own.seen ? own : any;
  result.group = own.seen ? RobotsGroup::kOwn : any.seen ? RobotsGroup::kAny : RobotsGroup::kNone;
  result.crawl_delay_ms = chosen.crawl_delay_ms;
  RobotsRulesBuilder builder;
  builder.SetGroup(result.group);
  if (chosen.crawl_delay_ms) builder.SetCrawlDelay(*chosen.crawl_delay_ms);
  for (const auto& rule : chosen.rules) builder.Add(rule.path, rule.allow);
  result.rules = std::move(builder).Build();
  return result;
}

}  // namespace portolan
