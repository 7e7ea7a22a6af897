#include "rules/rule_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "rules/rule_set.h"

namespace portolan {
namespace {

bool IsBelow(std::string_view host, std::string_view domain) {
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

// Every word of `inner` fits one of `outer`.
template <typename Fits>
bool AllFit(const Rule::Words& inner, const Rule::Words& outer, Fits fits) {
  return std::ranges::all_of(inner, [&](const std::string& one) {
    return std::ranges::any_of(outer, [&](const std::string& other) { return fits(one, other); });
  });
}

bool Subset(const Rule::Words& inner, const Rule::Words& outer) {  // both are sorted
  return !inner.empty() && std::ranges::includes(outer, inner);
}

std::string_view HostOfPrefix(std::string_view prefix) {
  const size_t begin = prefix.find("://") + 3;
  const std::string_view authority = prefix.substr(begin, prefix.find('/', begin) - begin);
  const size_t colon = authority.rfind(':');
  return authority.ends_with(']') || colon == std::string_view::npos ? authority : authority.substr(0, colon);
}

Rule::Words HostsOfPrefixes(const Rule& rule) {
  Rule::Words hosts;
  for (const std::string& prefix : rule.prefixes) hosts.emplace_back(HostOfPrefix(prefix));
  return hosts;
}

bool CoversDomains(const Rule& first, const Rule& second) {
  for (const Rule::Words& names : {second.hosts, second.domains, HostsOfPrefixes(second)}) {
    if (!names.empty() && AllFit(names, first.domains, IsBelow)) return true;
  }
  return false;
}

// The kinds for which a rule can hold.
uint8_t KindsOf(const Rule& rule) {
  if (rule.kinds != 0) return rule.kinds;
  constexpr uint8_t kAll = kRulePage | kRuleRequisite | kRuleSitemap;
  return rule.action == RuleAction::kLimit ? uint8_t{kRulePage} : kAll;
}

// What an earlier rule is filed under: one text that a later rule must lead to if the earlier one covers it.
class Earlier {
 public:
  void Add(const Rule& rule) {
    if (!rule.hosts.empty()) {
      AddAll("h", rule.hosts, rule);
    } else if (!rule.domains.empty()) {
      AddAll("d", rule.domains, rule);
    } else if (!rule.prefixes.empty()) {
      AddAll("u", rule.prefixes, rule);
    } else if (!rule.patterns.empty()) {
      AddAll("p", rule.patterns, rule);
    } else if (!rule.extensions.empty()) {
      AddAll("x", rule.extensions, rule);
    } else {
      others_.push_back(&rule);
    }
  }

  // The first of them that covers the rule; null: none does.
  const Rule* FirstThatCovers(const Rule& rule) const {
    const Rule* first = nullptr;
    const auto consider = [&](const Rule* one) {
      if ((first == nullptr || one->number < first->number) && Covers(*one, rule)) first = one;
    };
    const auto look = [&](char what, std::string_view key) {
      const auto found = filed_.find(what + std::string(key));
      if (found == filed_.end()) return;
      for (const Rule* one : found->second) consider(one);
    };
    for (const Rule* one : others_) consider(one);
    if (!rule.hosts.empty()) look('h', rule.hosts.front());
    Rule::Words names = HostsOfPrefixes(rule);
    if (!rule.hosts.empty()) names.push_back(rule.hosts.front());
    if (!rule.domains.empty()) names.push_back(rule.domains.front());
    for (std::string_view name : names) {
      while (!name.empty()) {
        look('d', name);
        const size_t dot = name.find('.');
        name = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
      }
    }
    if (!rule.prefixes.empty()) {
      const std::string_view prefix = rule.prefixes.front();
      for (size_t size = 1; size <= prefix.size(); ++size) look('u', prefix.substr(0, size));
    }
    if (!rule.patterns.empty()) look('p', rule.patterns.front());
    if (!rule.extensions.empty()) look('x', rule.extensions.front());
    return first;
  }

 private:
  void AddAll(const char* what, const Rule::Words& words, const Rule& rule) {
    for (const std::string& word : words) filed_[what + word].push_back(&rule);
  }

  std::unordered_map<std::string, std::vector<const Rule*>> filed_;
  std::vector<const Rule*> others_;
};

}  // namespace

bool Covers(const Rule& first, const Rule& second) {
  if ((KindsOf(second) & ~KindsOf(first)) != 0) return false;
  if (!first.depth.Covers(second.depth) || !first.size.Covers(second.size)) return false;
  if (!first.hosts.empty() && !Subset(second.hosts, first.hosts)) return false;
  if (!first.patterns.empty() && !Subset(second.patterns, first.patterns)) return false;
  if (!first.extensions.empty() && !Subset(second.extensions, first.extensions)) return false;
  if (!first.types.empty() && (second.types.empty() || !AllFit(second.types, first.types, [](auto& one, auto& other) {
                                 return RuleSet::TypeFits(other, one);
                               }))) {
    return false;
  }
  if (!first.prefixes.empty() &&
      (second.prefixes.empty() ||
       !AllFit(second.prefixes, first.prefixes, [](auto& one, auto& other) { return one.starts_with(other); }))) {
    return false;
  }
  return first.domains.empty() || CoversDomains(first, second);
}

Status CheckRules(const std::vector<Rule>& rules) {
  Earlier access, limits, rates, priorities;
  for (const Rule& rule : rules) {
    Earlier& earlier = rule.Judges()                       ? access
                       : rule.action == RuleAction::kLimit ? limits
                       : rule.action == RuleAction::kRate  ? rates
                                                           : priorities;
    if (const Rule* first = earlier.FirstThatCovers(rule)) {
      const bool same = ConditionsText(*first) == ConditionsText(rule);
      const std::string what =
          same && first->action != rule.action
              ? fmt::format("contradicts {}: the same conditions, once {} and once {}; remove one of them",
                            first->Name(), RuleActionName(first->action), RuleActionName(rule.action))
          : same ? fmt::format("repeats the conditions of {}, which decides first: remove one of them", first->Name())
                 : fmt::format(
                       "never decides anything: {} ({}) holds whenever it would, and comes first; put the "
                       "narrower rule before the wider one",
                       first->Name(), RuleActionName(first->action));
      return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: rule {} {}", rule.file, rule.line, rule.number, what));
    }
    earlier.Add(rule);
  }
  return {};
}

}  // namespace portolan
