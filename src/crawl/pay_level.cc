#include "crawl/pay_level.h"

#include "flow/address.h"
#include "flow/url_record.h"

namespace portolan {

Result<PayLevelDomains> PayLevelDomains::Create(const HashKey& key) {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return PayLevelDomains(std::move(suffixes), key);
}

std::string_view PayLevelDomains::Name(std::string_view host) const {
  if (host.ends_with(']') || Address::Parse(host)) return host;
  const std::string_view domain = suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
  return domain.empty() ? host : domain;
}

PayLevelDomains::Domain PayLevelDomains::DomainOf(std::string_view url) const {
  const std::string_view name = Name(HostOf(url));
  return {key_.Hash(name), static_cast<uint32_t>(name.size())};
}

}  // namespace portolan
