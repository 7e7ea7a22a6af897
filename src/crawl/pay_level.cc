#include "crawl/pay_level.h"

#include "base/hash.h"
#include "flow/address.h"

namespace portolan {

Result<PayLevelDomains> PayLevelDomains::Create() {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return PayLevelDomains(std::move(suffixes));
}

std::string_view PayLevelDomains::Name(std::string_view host) const {
  if (host.ends_with(']') || Address::Parse(host)) return host;
  const std::string_view domain = suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
  return domain.empty() ? host : domain;
}

uint64_t PayLevelDomains::Key(std::string_view host, uint64_t host_key) {
  Entry& entry = entries_[host_key % kEntries];
  if (entry.host != host_key || entry.domain == 0) entry = {host_key, Hash64(Name(host))};
  return entry.domain;
}

}  // namespace portolan
