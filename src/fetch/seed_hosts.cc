#include "fetch/seed_hosts.h"

#include "flow/address.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

constexpr std::string_view kPlain = "http://";

bool IsPlain(std::string_view url) { return url.starts_with(kPlain); }

}  // namespace

Result<SeedHosts> SeedHosts::Create(std::span<const std::string> seeds) {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  SeedHosts hosts(std::move(suffixes));
  for (const std::string& seed : seeds) {
    const std::string_view origin = OriginOf(seed);
    const std::string_view host = HostOf(seed);
    hosts.origins_.emplace(origin);
    // The default port: the same host, over TLS.
    if (IsPlain(seed) && origin.size() == kPlain.size() + host.size())
      hosts.origins_.insert("https://" + std::string(host));
    hosts.domains_[hosts.DomainOf(seed)] |= IsPlain(seed);
  }
  return hosts;
}

Audience SeedHosts::Of(std::string_view url) const {
  if (origins_.contains(std::string(OriginOf(url)))) return Audience::kOrigin;
  const auto domain = domains_.find(DomainOf(url));
  return domain != domains_.end() && (domain->second || !IsPlain(url)) ? Audience::kDomain : Audience::kAnyone;
}

// An address, or a name without a registered domain, stands for itself.
std::string SeedHosts::DomainOf(std::string_view url) const {
  const std::string_view host = HostOf(url);
  if (host.ends_with(']') || Address::Parse(host)) return std::string(host);
  const std::string_view domain = suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
  return std::string(domain.empty() ? host : domain);
}

}  // namespace portolan
