#include "crawl/scope.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace portolan {
Result<Scope> Scope::Create(const ScopeOptions& options) {
  CHECK(!options.listed || options.listed->mode() == options.mode,
        "the names of seeds were made for another scope mode");
  ASSIGN_OR_RETURN(SeedNames names, SeedNames::Create(options.mode, options.key));
  for (const std::string& seed : options.seeds) {
    if (HostOf(seed).empty()) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("scope: '{}' is not a URL", seed));
    }
    names.Add(seed);
  }
  names.Finish();
  Scope scope(options, std::move(names));
  scope.include_ = options.include_domains;
  scope.include_prefixes_ = options.include_prefixes;
  scope.exclude_ = options.exclude_domains;
  scope.globs_ = options.exclude_urls;
  return scope;
}

bool Scope::Below(std::string_view host, const std::vector<std::string>& domains) {
  for (const std::string& domain : domains) {
    if (!host.ends_with(domain)) continue;
    if (host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.') return true;
  }
  return false;
}

bool Scope::HostInside(std::string_view host) const {
  if (Below(host, exclude_)) return false;
  if (Below(host, include_)) return true;
  switch (mode_) {
    case ScopeMode::kAny:
    case ScopeMode::kPrefix:  // decided by the URL
      return true;
    case ScopeMode::kHost:
      return IsSeeds(host);
    case ScopeMode::kDomain:
      return IsSeeds(names_.DomainOf(host));
  }
  return false;
}

bool Scope::ExcludesOrigin(std::string_view origin) const {
  const std::string root = std::string(origin) + "/";
  if (rules_ && rules_->ExcludesHost(HostOf(root)) != nullptr) return true;
  // A rule may include what a block list names.
  if (blocked_ && !(rules_ && rules_->has(RuleAction::kInclude)) && blocked_->Has(HostOf(root))) return true;
  if (exclude_.empty() && globs_.empty()) return false;
  if (Below(HostOf(root), exclude_)) return true;
  // The glob's last star matches whatever follows the root.
  return std::any_of(globs_.begin(), globs_.end(),
                     [&](const std::string& glob) { return glob.ends_with('*') && Matches(glob, root); });
}

const Scope::Known& Scope::KnownOf(std::string_view url, uint64_t host) {
  Known& known = cache_[host % kCache];
  if (known.host != host) known = {host, HostInside(HostOf(url)), blocked_ && blocked_->Has(HostOf(url))};
  return known;
}

void Scope::SetBlocked(std::shared_ptr<const BlockList> blocked) {
  blocked_ = std::move(blocked);
  std::ranges::fill(cache_, Known{});
}

RuleUrl Scope::ForRules(const UrlRecord& record) {
  return {.url = record.url,
          .host = HostOf(record.url),
          .depth = record.depth,
          .kind = record.requisite > 0               ? kRuleRequisite
                  : record.kind == UrlKind::kSitemap ? kRuleSitemap
                                                     : kRulePage};
}

ScopeVerdict Scope::Judge(const UrlRecord& record, uint64_t host, bool seed) {
  const auto by_mode = [&] {
    if (seed) return !Excludes(record.url);
    return Contains(record.url, host) || (requisites_ && record.requisite > 0 && !Excludes(record.url));
  };
  ScopeVerdict verdict;
  const auto answer = [&](ScopeAnswer what) {
    verdict.answer = what;
    return verdict;
  };
  // Most links lead out of scope; without an include no rule needs to be asked about them.
  const bool may_include = rules_ && rules_->has(RuleAction::kInclude);
  if (!may_include && !by_mode()) return verdict;
  if (rules_) verdict.rules = rules_->Judge(ForRules(record));
  if (verdict.rules.Includes()) return answer(Excludes(record.url) ? ScopeAnswer::kOutside : ScopeAnswer::kInside);
  if (may_include && !by_mode()) return verdict;
  if (verdict.rules.Excludes()) return answer(ScopeAnswer::kRule);
  if (blocked_ && KnownOf(record.url, host).blocked) return answer(ScopeAnswer::kBlocked);
  return answer(ScopeAnswer::kInside);
}

const Rule* Scope::ExcludesAnswer(const UrlRecord& record, const RuleAnswer& answer) const {
  if (!judges_answers()) return nullptr;
  const Rule* rule = rules_->JudgeAnswer(ForRules(record), answer);
  return rule != nullptr && rule->action == RuleAction::kExclude ? rule : nullptr;
}

bool Scope::Contains(std::string_view url, uint64_t host) {
  if (!KnownOf(url, host).inside) {
    if (include_prefixes_.empty()) return false;
    const bool below = std::any_of(include_prefixes_.begin(), include_prefixes_.end(),
                                   [&](const std::string& prefix) { return url.starts_with(prefix); });
    if (!below || Below(HostOf(url), exclude_)) return false;
  }
  if (mode_ == ScopeMode::kPrefix) {
    bool below = Below(HostOf(url), include_);
    below = below || names_.HasDirectoryOf(url) || (listed_ && listed_->HasDirectoryOf(url));
    for (const std::string& prefix : include_prefixes_) below = below || url.starts_with(prefix);
    if (!below) return false;
  }
  return !MatchesAny(url);
}

bool Scope::Excludes(std::string_view url) const {
  return (!exclude_.empty() && Below(HostOf(url), exclude_)) || MatchesAny(url);
}

bool Scope::MatchesAny(std::string_view url) const {
  return std::ranges::any_of(globs_, [&](const std::string& glob) { return Matches(glob, url); });
}

bool Scope::Matches(std::string_view glob, std::string_view text) {
  size_t at = 0;
  size_t star = std::string_view::npos;  // the last star seen, and where its run ends so far
  size_t run = 0;
  size_t in_glob = 0;
  while (at < text.size()) {
    if (in_glob < glob.size() && glob[in_glob] == '*') {
      star = in_glob++;
      run = at;
    } else if (in_glob < glob.size() && (glob[in_glob] == '?' || glob[in_glob] == text[at])) {
      ++in_glob;
      ++at;
    } else if (star != std::string_view::npos) {
      in_glob = star + 1;
      at = ++run;
    } else {
      return false;
    }
  }
  while (in_glob < glob.size() && glob[in_glob] == '*') ++in_glob;
  return in_glob == glob.size();
}

}  // namespace portolan
