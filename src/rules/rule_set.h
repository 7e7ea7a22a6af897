// RuleSet: the rules of a crawl, compiled, so that ten thousand cost a URL little more than ten (docs/rules.md).
//
// Each rule is filed under one of its conditions: its hosts, else its domains, its prefixes, its patterns, its
// extensions. A URL's own host, domains, prefixes, patterns and extension give the few rules that may hold for it, and
// only these are looked at. Rules with none of these conditions (only depth, kind, size, type) are looked at for each
// URL.
//
// Before the fetch a rule with size or type is undecided. What is decided then must not be wrong later: an exclude
// behind an undecided include lets the URL be fetched, and is decided by the answer.
//
// Thread: const after Create, any number of threads.
// Memory bound: the texts of the rules, about 100 bytes per name, and the PatternSet's. Create refuses more patterns.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "rules/pattern_set.h"
#include "rules/prefix_table.h"
#include "rules/rule.h"

namespace portolan {

// What a rule may ask about a URL before it is fetched. `url` is canonical.
struct RuleUrl {
  std::string_view url;
  std::string_view host;
  uint32_t depth = 0;
  RuleKind kind = kRulePage;
};

// What it may ask about an answer.
struct RuleAnswer {
  uint64_t size = 0;      // of the body, decoded
  std::string_view type;  // "text/html"
};

// The rule of each kind of action that decides; null: none does. They live as long as the RuleSet.
struct RuleVerdict {
  const Rule* access = nullptr;  // an include or an exclude
  bool depends = false;          // `access` excludes unless the answer fits an include before it
  const Rule* limit = nullptr;
  const Rule* rate = nullptr;
  const Rule* priority = nullptr;

  bool Excludes() const { return access != nullptr && access->action == RuleAction::kExclude && !depends; }
  bool Includes() const { return access != nullptr && access->action == RuleAction::kInclude; }
};

class RuleSet {
 public:
  // Checks the rules against each other first (rule_check.h); that, and patterns that need too much memory, are
  // kCorrupt with file and line.
  static Result<std::shared_ptr<const RuleSet>> Create(std::vector<Rule> rules);

  RuleVerdict Judge(const RuleUrl& url) const;
  // The include or exclude that decides when the answer is known; null: none.
  const Rule* JudgeAnswer(const RuleUrl& url, const RuleAnswer& answer) const;
  // The exclude that keeps out every URL of this host, whatever its path; null: there may be URLs that are allowed.
  const Rule* ExcludesHost(std::string_view host) const;

  bool empty() const { return rules_.empty(); }
  bool judges_answers() const { return judges_answers_; }
  bool has(RuleAction action) const { return (actions_ & (1U << static_cast<unsigned>(action))) != 0; }
  const std::vector<Rule>& rules() const { return rules_; }

  // The last part of the path's extension, in lower case; empty: it has none. `room` holds it if it must be made.
  static std::string_view ExtensionOf(std::string_view url, std::string& room);
  static bool TypeFits(std::string_view pattern, std::string_view type);

 private:
  using Numbers = std::vector<uint32_t>;  // indexes of rules
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const;
  };
  using Index = std::unordered_map<std::string, Numbers, Hash, std::equal_to<>>;

  RuleSet() = default;
  Status File();
  // The rules that may hold for the URL, in their order, and its patterns.
  struct Candidates {
    Numbers rules;
    std::vector<int> patterns;
    std::string extension_room;
    std::string_view extension;
  };
  static void Take(const Index& index, std::string_view key, Numbers& out);
  void CollectByHost(std::string_view host, Numbers& out) const;  // those that are filed under a host or a domain
  void Collect(const RuleUrl& url, Candidates& out) const;
  // Whether the conditions on the URL hold.
  bool Holds(const Rule& rule, uint32_t index, const RuleUrl& url, const Candidates& about) const;
  static bool HoldsFor(const Rule& rule, const RuleAnswer& answer);
  static bool Below(std::string_view host, const Rule::Words& domains);

  std::vector<Rule> rules_;
  Index hosts_;
  Index domains_;
  size_t most_labels_ = 0;  // of a domain in domains_
  PrefixTable prefixes_;
  Index extensions_;
  Numbers others_;
  std::unique_ptr<PatternSet> patterns_;
  Numbers rule_of_pattern_;
  std::vector<std::pair<uint32_t, uint32_t>> patterns_of_rule_;  // by rule: begin and end in PatternSet's numbers
  uint32_t first_free_include_ = ~0U;                            // the first include without a condition on the host
  bool judges_answers_ = false;
  unsigned actions_ = 0;  // bits
};

}  // namespace portolan
