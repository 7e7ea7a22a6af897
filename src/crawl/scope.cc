#include "crawl/scope.h"

#include <fmt/core.h>

#include <algorithm>

#include "flow/address.h"
#include "url/url.h"

namespace portolan {
Result<Scope> Scope::Create(const ScopeOptions& options) {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  Scope scope(options, std::move(suffixes));
  for (const std::string& seed : options.seeds) {
    const std::optional<Url> url = Url::Parse(seed);
    if (!url) return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no URL", seed));
    switch (options.mode) {
      case ScopeMode::kDomain:
        scope.names_.emplace(scope.suffixes_.PayLevelDomain(*url));
        break;
      case ScopeMode::kHost:
        scope.names_.emplace(url->hostname());
        break;
      case ScopeMode::kPrefix:
        scope.prefixes_.emplace_back(url->href().substr(0, url->href().rfind('/', url->href().find('?')) + 1));
        break;
      case ScopeMode::kAny:
        break;
    }
  }
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
      return names_.contains(std::string(host));
    case ScopeMode::kDomain: {
      // The list knows names only; an address is its own domain.
      const std::string_view domain =
          Address::Parse(host) ? std::string_view() : suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
      return names_.contains(std::string(domain.empty() ? host : domain));
    }
  }
  return false;
}

bool Scope::ExcludesOrigin(std::string_view origin) const {
  if (exclude_.empty() && globs_.empty()) return false;
  const std::string root = std::string(origin) + "/";
  if (Below(HostOf(root), exclude_)) return true;
  // Its last star takes whatever follows the root.
  return std::any_of(globs_.begin(), globs_.end(),
                     [&](const std::string& glob) { return glob.ends_with('*') && Matches(glob, root); });
}

bool Scope::Contains(std::string_view url, uint64_t host) {
  Known& known = cache_[host % kCache];
  if (known.host != host) known = {host, HostInside(HostOf(url))};
  if (!known.inside) {
    if (include_prefixes_.empty()) return false;
    const bool below = std::any_of(include_prefixes_.begin(), include_prefixes_.end(),
                                   [&](const std::string& prefix) { return url.starts_with(prefix); });
    if (!below || Below(HostOf(url), exclude_)) return false;
  }
  if (mode_ == ScopeMode::kPrefix) {
    bool below = Below(HostOf(url), include_);
    for (const std::string& prefix : prefixes_) below = below || url.starts_with(prefix);
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
  size_t star = std::string_view::npos;  // the last star met, and where its run ends so far
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
