#include "budget/host_allowance.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"

namespace portolan {

Result<std::unique_ptr<HostAllowance>> HostAllowance::Open(Env& env, const Manifest& manifest, const Options& options) {
  if (options.base == 0) return Fail(ErrorCode::kInvalidArgument, options.name + ": the allowance of hosts is 0");
  std::unique_ptr<HostAllowance> made(new HostAllowance(options));
  ASSIGN_OR_RETURN(made->hosts_, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory / 2}));
  ASSIGN_OR_RETURN(made->domains_,
                   GroupCache::Open(env, manifest, {.name = options.name + "-plds", .memory = options.memory / 4}));
  return made;
}

uint32_t HostAllowance::Price(uint64_t pld, uint64_t host, uint32_t budget) {
  // The same host under another domain (as after a change of the list of suffixes) is another one.
  GroupCache::Entry& known = hosts_->Touch(Mix64(host) ^ pld);
  GroupCache::Entry& domain = domains_->Touch(Mix64(pld));
  if (known.number() == 0) {
    if (domain.number() < std::numeric_limits<uint32_t>::max()) domain.set_number(domain.number() + 1);
    known.set_number(domain.number());
  }
  return static_cast<uint32_t>(std::min<uint64_t>(kMaxPrice, 1 + (known.number() - 1) / Allowance(budget)));
}

uint32_t HostAllowance::Hosts(uint64_t pld) const {
  const GroupCache::Entry* domain = domains_->Find(Mix64(pld));
  return domain == nullptr ? 0 : domain->number();
}

}  // namespace portolan
