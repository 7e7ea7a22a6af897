#include "rules/rule_set.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/hash.h"
#include "rules/rule_check.h"

namespace portolan {
namespace {

size_t LabelsOf(std::string_view domain) { return 1 + static_cast<size_t>(std::ranges::count(domain, '.')); }

}  // namespace

size_t RuleSet::Hash::operator()(std::string_view text) const { return Hash64(text); }

Result<std::shared_ptr<const RuleSet>> RuleSet::Create(std::vector<Rule> rules) {
  for (uint32_t i = 0; i < rules.size(); ++i) rules[i].number = i + 1;
  RETURN_IF_ERROR(CheckRules(rules));
  std::shared_ptr<RuleSet> set(new RuleSet());
  set->rules_ = std::move(rules);
  RETURN_IF_ERROR(set->File());
  return set;
}

Status RuleSet::File() {
  std::vector<std::string> patterns;
  for (uint32_t index = 0; index < rules_.size(); ++index) {
    const Rule& rule = rules_[index];
    actions_ |= 1U << static_cast<unsigned>(rule.action);
    judges_answers_ = judges_answers_ || rule.WantsAnswer();
    if (rule.action == RuleAction::kInclude && rule.hosts.empty() && rule.domains.empty()) {
      first_free_include_ = std::min(first_free_include_, index);
    }
    const auto begin = static_cast<uint32_t>(patterns.size());
    for (const std::string& pattern : rule.patterns) {
      patterns.push_back(pattern);
      rule_of_pattern_.push_back(index);
    }
    patterns_of_rule_.emplace_back(begin, static_cast<uint32_t>(patterns.size()));
    if (!rule.hosts.empty()) {
      for (const std::string& host : rule.hosts) hosts_[host].push_back(index);
    } else if (!rule.domains.empty()) {
      for (const std::string& domain : rule.domains) {
        domains_[domain].push_back(index);
        most_labels_ = std::max(most_labels_, LabelsOf(domain));
      }
    } else if (!rule.prefixes.empty()) {
      for (const std::string& prefix : rule.prefixes) prefixes_.Add(prefix, index);
    } else if (rule.patterns.empty() && !rule.extensions.empty()) {
      for (const std::string& extension : rule.extensions) extensions_[extension].push_back(index);
    } else if (rule.patterns.empty()) {
      others_.push_back(index);
    }
  }
  prefixes_.Finish();
  if (patterns.empty()) return {};
  size_t culprit = 0;
  Result<PatternSet> made = PatternSet::Create(patterns, &culprit);
  if (!made) {
    const Rule& rule = rules_[rule_of_pattern_[culprit]];
    return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: pattern: {}", rule.file, rule.line, made.error().message()));
  }
  patterns_ = std::make_unique<PatternSet>(*std::move(made));
  return {};
}

std::string_view RuleSet::ExtensionOf(std::string_view url, std::string& room) {
  url = url.substr(0, url.find('?'));
  const size_t slash = url.rfind('/');
  const size_t scheme = url.find("://");
  if (slash == std::string_view::npos || scheme == std::string_view::npos || slash < scheme + 3) return {};
  const std::string_view name = url.substr(slash + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view extension = name.substr(dot + 1);
  if (std::ranges::none_of(extension, [](char c) { return c >= 'A' && c <= 'Z'; })) return extension;
  room = LowerCase(extension);
  return room;
}

bool RuleSet::TypeFits(std::string_view pattern, std::string_view type) {
  if (pattern.ends_with("/*")) return type.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == type;
}

bool RuleSet::Below(std::string_view host, const Rule::Words& domains) {
  // Sorted, so each of the host's own domains is looked up.
  for (;;) {
    if (std::binary_search(domains.begin(), domains.end(), host)) return true;
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    host.remove_prefix(dot + 1);
  }
}

void RuleSet::Take(const Index& index, std::string_view key, Numbers& out) {
  const auto found = index.find(key);
  if (found != index.end()) out.insert(out.end(), found->second.begin(), found->second.end());
}

void RuleSet::CollectByHost(std::string_view host, Numbers& out) const {
  if (!hosts_.empty()) Take(hosts_, host, out);
  if (domains_.empty()) return;
  // From the right: no more labels than the longest domain has.
  size_t at = host.size();
  for (size_t labels = 0; labels < most_labels_ && at != std::string_view::npos && at > 0; ++labels) {
    at = host.rfind('.', at - 1);
    Take(domains_, at == std::string_view::npos ? host : host.substr(at + 1), out);
  }
}

void RuleSet::Collect(const RuleUrl& url, Candidates& out) const {
  Numbers& rules = out.rules;
  rules.assign(others_.begin(), others_.end());
  CollectByHost(url.host, rules);
  if (!prefixes_.empty()) prefixes_.Each(url.url, [&rules](uint32_t rule) { rules.push_back(rule); });
  if (patterns_) {
    patterns_->Find(url.url, out.patterns);
    for (const int pattern : out.patterns) {
      const uint32_t index = rule_of_pattern_[static_cast<size_t>(pattern)];
      const Rule& rule = rules_[index];
      if (rule.hosts.empty() && rule.domains.empty() && rule.prefixes.empty()) rules.push_back(index);
    }
  }
  out.extension = ExtensionOf(url.url, out.extension_room);
  if (!extensions_.empty() && !out.extension.empty()) Take(extensions_, out.extension, rules);
  std::ranges::sort(rules);
  rules.erase(std::ranges::unique(rules).begin(), rules.end());
}

bool RuleSet::Holds(const Rule& rule, uint32_t index, const RuleUrl& url, const Candidates& about) const {
  const auto has = [](const Rule::Words& words, std::string_view word) {
    return std::binary_search(words.begin(), words.end(), word);
  };
  if (rule.kinds != 0 && (rule.kinds & url.kind) == 0) return false;
  // A limit is of pages, where the rule does not say something else.
  if (rule.action == RuleAction::kLimit && rule.kinds == 0 && url.kind != kRulePage) return false;
  if (!rule.depth.Has(url.depth)) return false;
  if (!rule.hosts.empty() && !has(rule.hosts, url.host)) return false;
  if (!rule.domains.empty() && !Below(url.host, rule.domains)) return false;
  if (!rule.extensions.empty() && !has(rule.extensions, about.extension)) return false;
  if (!rule.prefixes.empty() &&
      std::ranges::none_of(rule.prefixes, [&](const std::string& prefix) { return url.url.starts_with(prefix); })) {
    return false;
  }
  if (rule.patterns.empty()) return true;
  const auto [begin, end] = patterns_of_rule_[index];
  const auto found = std::ranges::lower_bound(about.patterns, static_cast<int>(begin));
  return found != about.patterns.end() && *found < static_cast<int>(end);
}

bool RuleSet::HoldsFor(const Rule& rule, const RuleAnswer& answer) {
  if (!rule.size.Has(answer.size)) return false;
  return rule.types.empty() ||
         std::ranges::any_of(rule.types, [&](const std::string& type) { return TypeFits(type, answer.type); });
}

RuleVerdict RuleSet::Judge(const RuleUrl& url) const {
  thread_local Candidates about;
  Collect(url, about);
  RuleVerdict verdict;
  bool undecided_include = false;
  for (const uint32_t index : about.rules) {
    const Rule& rule = rules_[index];
    const Rule** place = nullptr;
    switch (rule.action) {
      case RuleAction::kInclude:
      case RuleAction::kExclude:
        place = &verdict.access;
        break;
      case RuleAction::kLimit:
        place = &verdict.limit;
        break;
      case RuleAction::kRate:
        place = &verdict.rate;
        break;
      case RuleAction::kPriority:
        place = &verdict.priority;
        break;
    }
    if (*place != nullptr || !Holds(rule, index, url, about)) continue;
    if (rule.WantsAnswer()) {
      undecided_include = undecided_include || rule.action == RuleAction::kInclude;
      continue;
    }
    *place = &rule;
    if (rule.action == RuleAction::kExclude) verdict.depends = undecided_include;
  }
  return verdict;
}

const Rule* RuleSet::JudgeAnswer(const RuleUrl& url, const RuleAnswer& answer) const {
  thread_local Candidates about;
  Collect(url, about);
  for (const uint32_t index : about.rules) {
    const Rule& rule = rules_[index];
    if (rule.Judges() && Holds(rule, index, url, about) && HoldsFor(rule, answer)) return &rule;
  }
  return nullptr;
}

const Rule* RuleSet::ExcludesHost(std::string_view host) const {
  if (!has(RuleAction::kExclude)) return nullptr;
  Numbers numbers = others_;
  CollectByHost(host, numbers);
  std::ranges::sort(numbers);
  for (const uint32_t index : numbers) {
    if (index > first_free_include_) return nullptr;
    const Rule& rule = rules_[index];
    if (!rule.Judges() || (!rule.domains.empty() && !Below(host, rule.domains))) continue;
    if (rule.action == RuleAction::kInclude) return nullptr;  // some URL of the host may be included
    const bool whole = rule.prefixes.empty() && rule.patterns.empty() && rule.extensions.empty() && rule.kinds == 0 &&
                       !rule.depth.set() && !rule.WantsAnswer();
    if (whole) return &rule;
  }
  return nullptr;
}

}  // namespace portolan
