#include "crawl/page_limits.h"

#include <limits>

#include "base/hash.h"

namespace portolan {

PageLimits::PageLimits(PayLevelDomains domains, const RuleSet& rules) : domains_(std::move(domains)) {
  for (const Rule& rule : rules.rules()) salts_.push_back(Hash64(ConditionsText(rule)));
}

Result<std::unique_ptr<PageLimits>> PageLimits::Open(Env& env, const Manifest& manifest, const RuleSet& rules,
                                                     const Options& options) {
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(options.key));
  std::unique_ptr<PageLimits> made(new PageLimits(std::move(domains), rules));
  ASSIGN_OR_RETURN(made->counts_, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory}));
  return made;
}

PageLimits::Claim PageLimits::ClaimOf(const Rule& rule, std::string_view url, uint64_t host) {
  constexpr uint64_t kDomains = 0x9e3779b97f4a7c15;  // a host that is its own domain counts twice, apart
  const uint64_t salt = salts_[rule.number - 1];
  Claim claim;
  if (rule.pages_per_host > 0) claim.host = Mix64(host ^ salt) | 1;
  if (rule.pages_per_domain > 0) claim.domain = Mix64(domains_.Key(url, host) ^ salt ^ kDomains) | 1;
  return claim;
}

uint64_t PageLimits::Fetched(uint64_t key) const {
  const GroupCache::Entry* entry = counts_->Find(key);
  return entry == nullptr ? 0 : entry->number();
}

uint64_t PageLimits::Began(uint64_t key) const {
  const auto found = began_.find(key);
  return found == began_.end() ? 0 : found->second;
}

bool PageLimits::Reached(const Rule& rule, const Claim& claim, bool or_began) const {
  const auto full = [&](uint64_t key, uint64_t most) {
    return key != 0 && Fetched(key) + (or_began ? Began(key) : 0) >= most;
  };
  return full(claim.host, rule.pages_per_host) || full(claim.domain, rule.pages_per_domain);
}

void PageLimits::Begin(const Claim& claim) {
  for (const uint64_t key : {claim.host, claim.domain}) {
    if (key != 0) ++began_[key];
  }
}

void PageLimits::End(const Claim& claim, bool page) {
  for (const uint64_t key : {claim.host, claim.domain}) {
    if (key == 0) continue;
    if (const auto found = began_.find(key); --found->second == 0) began_.erase(found);
    if (!page) continue;
    GroupCache::Entry& entry = counts_->Touch(key);
    if (entry.number() < std::numeric_limits<uint32_t>::max()) entry.set_number(entry.number() + 1);
  }
}

}  // namespace portolan
