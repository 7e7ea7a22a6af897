// PageLimits: how many pages of each host and of each pay-level domain were fetched under the rules that limit them.
//
// A rule counts the pages that it decides about, each host and each domain for itself. What counts under a rule is
// known by the rule's conditions, so the counts survive a restart, a new limit and new rules before it.
//
// A fetch in flight takes a page of its limits until it has failed; meanwhile other URLs wait. These are only in
// memory: after a crash the URL is fetched again, and counted then.
//
// Thread: one owner, the shard. Deterministic.
// Memory bound: Options::memory, and about 60 bytes for each fetch in flight. At the bound the counts of hosts that had
// no page for the longest time are dropped (group_cache.h), such a host may have its pages again, and `forgotten` says
// how many.
// Durability: Checkpointables.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/pay_level.h"
#include "disk/group_cache.h"
#include "rules/rule_set.h"

namespace portolan {

class PageLimits {
 public:
  struct Options {
    std::string name = "limits";
    uint64_t memory = uint64_t{8} << 20;
    HashKey key;
  };
  static Result<std::unique_ptr<PageLimits>> Open(Env& env, const Manifest& manifest, const RuleSet& rules,
                                                  const Options& options);

  // What a fetch counts under; 0: nothing.
  struct Claim {
    uint64_t host = 0;
    uint64_t domain = 0;
  };
  // `host` is the HostKey of the canonical `url`.
  Claim ClaimOf(const Rule& rule, std::string_view url, uint64_t host);

  // True if all pages that the rule allows there were fetched; `or_began`: or are being fetched.
  bool Reached(const Rule& rule, const Claim& claim, bool or_began) const;
  void Begin(const Claim& claim);
  // REQUIRES: Begin was called with this claim.
  void End(const Claim& claim, bool page);

  uint64_t forgotten() const { return counts_->forgotten(); }
  std::vector<Checkpointable*> Checkpointables() { return {counts_.get()}; }

 private:
  PageLimits(PayLevelDomains domains, const RuleSet& rules);
  uint64_t Fetched(uint64_t key) const;
  uint64_t Began(uint64_t key) const;

  PayLevelDomains domains_;
  std::vector<uint64_t> salts_;  // by rule
  std::unique_ptr<GroupCache> counts_;
  std::unordered_map<uint64_t, uint32_t> began_;  // never iterated
};

}  // namespace portolan
