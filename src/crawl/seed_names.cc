#include "crawl/seed_names.h"

#include <algorithm>

#include "flow/address.h"
#include "flow/url_record.h"

namespace portolan {

Result<SeedNames> SeedNames::Create(ScopeMode mode, const HashKey& key) {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return SeedNames(mode, key, std::move(suffixes));
}

std::string_view SeedNames::DomainOf(std::string_view host) const {
  if (host.ends_with(']') || Address::Parse(host)) return host;
  const std::string_view domain = suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
  return domain.empty() ? host : domain;
}

void SeedNames::Add(std::string_view url) {
  switch (mode_) {
    case ScopeMode::kDomain:
      keys_.push_back(key_.Hash(DomainOf(HostOf(url))));
      break;
    case ScopeMode::kHost:
      keys_.push_back(key_.Hash(HostOf(url)));
      break;
    case ScopeMode::kPrefix: {
      const std::string_view directory = url.substr(0, url.rfind('/', url.find('?')) + 1);
      deepest_ = std::max<size_t>(deepest_, std::count(directory.begin(), directory.end(), '/'));
      keys_.push_back(key_.Hash(directory));
      break;
    }
    case ScopeMode::kAny:
      return;
  }
  if (keys_.size() < compact_at_) return;
  Compact();
  compact_at_ = std::max<size_t>(1024, 2 * keys_.size());
}

void SeedNames::Compact() {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

bool SeedNames::Has(std::string_view name) const {
  return std::binary_search(keys_.begin(), keys_.end(), key_.Hash(name));
}

bool SeedNames::HasDirectoryOf(std::string_view url) const {
  url = url.substr(0, url.find('?'));
  size_t at = 0;
  for (size_t slashes = 0; slashes < deepest_; ++slashes) {
    at = url.find('/', at);
    if (at == std::string_view::npos) return false;
    ++at;
    if (Has(url.substr(0, at))) return true;
  }
  return false;
}

}  // namespace portolan
