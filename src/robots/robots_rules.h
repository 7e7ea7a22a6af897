// RobotsRules: the rules of one host for our agent, compiled to one flat byte string that is stored as it is and
// matched in place. RobotsRulesBuilder makes it.
//
// Decision (RFC 9309 section 2.2.2): of all rules that match a path, the one with the most octets; Allow where an Allow
// and a Disallow are equally long; allowed where none matches. /robots.txt itself is always allowed.
//
// Plain rules (no star, no $) are sorted, and each knows the longest other rule that is a prefix of it. The rules that
// are prefixes of a path are then the last one not after the path and its chain of prefixes: a binary search and at
// most as many steps as the path has bytes. The other rules are in the order of precedence, so that the first one to
// match decides; a set of the byte pairs that each needs (path_pattern.h) rules most of them out with one AND.
//
// Bound of a match: O(log n · |path|) for plain rules, O(|path| + |rule|) for each of the others that is tried, in any
// case; and those are tried on kMaxMatchBytes of path in all. A path for which that is not enough, of a file with tens
// of thousands of starred rules, is not allowed: the careful choice.
//
// Format, little-endian (docs/formats/robots_rules.md has a worked example). U is 2 bytes wide, or 4 with the flag
// wide:
//   u8  version (1)      u8  flags: bits 0-1 RobotsGroup, 2 wide, 3 has crawl delay      u16 zero
//   u32 checksum: the low half of XXH3-64 of all that follows, seeded with the u32 before it
//   u32 crawl delay in milliseconds
//   u32 plain: number of plain rules
//   u32 starred: number of other rules
//   u32 text: bytes of text
//   U   begin[plain + starred + 1]   where each rule's text begins; plain rules sorted by text, then the others by key
//   U   key[plain + starred]         2 · octets + (1 for Allow): the greater key wins
//   U   parent[plain]                1 + index of the longest plain rule that is a prefix of this one; 0 = none
//   u64 pairs[starred]
//   text, then 8 bytes of zero so that eight bytes can be loaded from any rule

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "robots/path_pattern.h"

namespace portolan {

// On disk. Which group the rules come from.
enum class RobotsGroup : uint8_t {
  kNone = 0,   // no group was for us: everything is allowed
  kAny = 1,    // the group of *
  kOwn = 2,    // groups that name our agent
  kWhole = 3,  // no file: a policy made by its status
};

// A view of compiled rules: valid as long as the bytes are.
class RobotsRules {
 public:
  // kUnsupported for another version, kCorrupt for anything else that is not exactly what the builder writes. Costs one
  // pass over the bytes, so open once for many paths.
  static Result<RobotsRules> Open(std::string_view bytes);

  static constexpr size_t kMaxMatchBytes = size_t{256} << 10;

  // May `path_and_query` ("/a/b?c", no fragment; "" is "/") be fetched? Any bytes are fine.
  bool Allows(std::string_view path_and_query) const;

  RobotsGroup group() const { return group_; }
  std::optional<uint32_t> crawl_delay_ms() const { return crawl_delay_ms_; }
  size_t size() const { return plain_ + starred_; }

  struct Rule {
    std::string_view pattern;  // canonical
    uint32_t octets;
    bool allow;
  };
  // REQUIRES: index < size(). Plain rules first, sorted; then the others by precedence.
  Rule At(size_t index) const;

 private:
  template <typename U>
  friend struct RulesLayout;

  const char* begins_ = nullptr;
  const char* keys_ = nullptr;
  const char* parents_ = nullptr;
  const char* pairs_ = nullptr;
  const char* text_ = nullptr;
  uint32_t plain_ = 0;
  uint32_t starred_ = 0;
  bool wide_ = false;
  RobotsGroup group_ = RobotsGroup::kNone;
  std::optional<uint32_t> crawl_delay_ms_;
};

// Collects rules and writes them. Memory: the rules' canonical text and 40 bytes per rule.
class RobotsRulesBuilder {
 public:
  // A rule that can match nothing is left out. So is one whose canonical form is past kMaxRule bytes: no URL that is
  // fetched is that long.
  void Add(std::string_view path, bool allow);
  void SetGroup(RobotsGroup group) { group_ = group; }
  void SetCrawlDelay(uint32_t milliseconds) { crawl_delay_ms_ = milliseconds; }

  std::string Build() &&;

  static constexpr size_t kMaxRule = size_t{64} << 10;

 private:
  struct Rule {
    std::string text;
    uint32_t key;
  };
  std::vector<Rule> plain_;
  std::vector<Rule> starred_;
  RobotsGroup group_ = RobotsGroup::kNone;
  std::optional<uint32_t> crawl_delay_ms_;
};

// Rules that allow everything, or nothing, for a host whose file could not be fetched.
std::string WholeRobotsRules(bool allow);

}  // namespace portolan
