// Rule: one entry of the ordered list with which the operator says what a crawl fetches and keeps (docs/rules.md).
//
// A rule has conditions and an action. All conditions that it names must hold; of a condition with several values one
// is enough; a rule without conditions holds for every URL. Of the rules with one kind of action (include and exclude
// are one kind) the first that holds decides.
//
// Size and type are known only after an answer came, so a rule with these conditions is undecided before.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

enum class RuleAction : uint8_t {
  kInclude,
  kExclude,
  kLimit,     // pages per host, per domain
  kRate,      // a delay between two requests to a host
  kPriority,  // the front queue
};
std::string_view RuleActionName(RuleAction action);

// What a URL is fetched for, as bits.
enum RuleKind : uint8_t {
  kRulePage = 1 << 0,
  kRuleRequisite = 1 << 1,  // a page needs it to be displayed
  kRuleSitemap = 1 << 2,
};
std::string_view RuleKindName(RuleKind kind);

struct Rule {
  using Words = std::vector<std::string>;
  template <typename T>
  struct Range {
    T least = 0;
    T most = std::numeric_limits<T>::max();
    bool set() const { return least > 0 || most < std::numeric_limits<T>::max(); }
    bool Has(T value) const { return value >= least && value <= most; }
    bool Covers(const Range& other) const { return least <= other.least && most >= other.most; }
    bool operator==(const Range&) const = default;
  };

  RuleAction action = RuleAction::kExclude;

  // Conditions; empty: it does not matter.
  Words hosts;       // "www.example.org"
  Words domains;     // "example.org", with everything below it
  Words prefixes;    // of URLs, canonical
  Words patterns;    // RE2, found anywhere in the canonical URL
  Words extensions;  // of the path's last part, in lower case, without the dot
  Words types;       // "text/html", "image/*"; of the answer
  uint8_t kinds = 0;
  Range<uint32_t> depth;
  Range<uint64_t> size;  // bytes of the answer's body, decoded

  // What the action needs.
  uint64_t pages_per_host = 0;    // 0: no limit
  uint64_t pages_per_domain = 0;  // likewise
  int64_t delay_ns = 0;
  uint32_t priority = 0;

  // Where it is written.
  std::string file;
  uint32_t line = 0;
  uint32_t number = 0;  // in the whole list, from 1

  // Whether it is known only after the fetch if the rule holds.
  bool WantsAnswer() const { return !types.empty() || size.set(); }
  // True if it includes or excludes.
  bool Judges() const { return action == RuleAction::kInclude || action == RuleAction::kExclude; }
  // "rule 3 at rules.toml:17"
  std::string Name() const;
};

// The conditions as text: equal for equal conditions, so that counts of a rule survive when rules before it change.
std::string ConditionsText(const Rule& rule);

// The rules as a TOML array of inline tables, which RulesOf reads back; without places.
std::string PrintRules(const std::vector<Rule>& rules);

}  // namespace portolan
