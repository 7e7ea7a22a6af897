#include "follow/page_hosts.h"

#include "follow/node_key.h"

namespace portolan {

Result<DomainNumbers> DomainNumbers::Create() {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return DomainNumbers(std::move(suffixes));
}

std::string DomainNumbers::DomainOf(std::string_view host_key) const {
  // Without ',' it is an address or a single label; with ',' in front the name ends with a dot.
  const bool dot = host_key.starts_with(',');
  const std::string_view name_key = host_key.substr(dot ? 1 : 0);
  if (name_key.find(',') == std::string_view::npos) return std::string(host_key);
  const std::string host = HostNameOfKey(name_key);
  const std::string_view domain = suffixes_.RegistrableDomain(host, SuffixChoice::kIcannAndPrivate);
  if (domain.empty()) return std::string(host_key);
  // The domain is the end of the host, and so its key is the front of the host's.
  return std::string(host_key.substr(0, domain.size() + (dot ? 1 : 0)));
}

void DomainNumbers::AddHost(std::string_view host_key) {
  std::string domain = DomainOf(host_key);
  if (domain < largest_) {
    late_.emplace(std::move(domain), 0);
  } else {
    largest_ = std::move(domain);
  }
}

Result<std::vector<uint32_t>> DomainNumbers::Number(const graph::UrlDictionary& hosts,
                                                    graph::UrlDictionaryWriter& names) {
  std::vector<uint32_t> numbers;
  numbers.reserve(hosts.size());
  std::string last;
  bool any = false;
  auto next_late = late_.begin();
  const auto add = [&](const std::string& domain) -> Status {
    if (any && domain == last) return {};
    any = true;
    last = domain;
    return names.Add(domain);
  };
  for (graph::UrlDictionary::Scan scan(hosts);;) {
    if (!scan.Next()) {
      RETURN_IF_ERROR(scan.status());
      return numbers;
    }
    const std::string domain = DomainOf(scan.key());
    while (next_late != late_.end() && next_late->first <= domain) {
      RETURN_IF_ERROR(add(next_late->first));
      next_late->second = static_cast<uint32_t>(names.size() - 1);
      ++next_late;
    }
    if (const auto found = late_.find(domain); found != late_.end()) {
      numbers.push_back(found->second);
      continue;
    }
    RETURN_IF_ERROR(add(domain));
    numbers.push_back(static_cast<uint32_t>(names.size() - 1));
  }
}

}  // namespace portolan
