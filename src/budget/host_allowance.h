// HostAllowance: how many host names a pay-level domain may have at the normal price.
//
// A wildcard in the DNS gives a domain any number of invented hosts, each with its own robots.txt, its own connection
// and its own politeness clock. Each domain has an allowance of hosts that grows with its budget, A. The first A hosts
// cost 1 unit of the domain's budget for each URL, the next A cost 2, and so on up to 16: a farm is delayed, never
// dropped, and a domain that earns a larger budget gets its hosts cheaper at once.
//
// Thread: one owner. Deterministic, integers only.
// Memory bound: Options::memory, half of it for hosts and a quarter for domains, 8 bytes each. At the bound the least
// recently used hosts are dropped and count as new hosts when they come back, so a domain with more live hosts than the
// table holds looks larger than it is; a dropped domain starts at its first host again.
// Durability: Checkpointables (group_cache.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/group_cache.h"

namespace portolan {

class HostAllowance {
 public:
  static constexpr uint32_t kMaxPrice = 16;

  struct Options {
    std::string name = "hosts";
    uint64_t memory = uint64_t{8} << 20;
    uint32_t base = 16;       // hosts of any domain
    uint32_t per_budget = 2;  // and for each unit of its budget
  };
  static Result<std::unique_ptr<HostAllowance>> Open(Env& env, const Manifest& manifest, const Options& options);

  // 1 … kMaxPrice, for a URL of the host with hash `host`, which belongs to the domain with hash `pld`. Counts the host
  // when it is new.
  uint32_t Price(uint64_t pld, uint64_t host, uint32_t budget);

  uint64_t Allowance(uint32_t budget) const { return options_.base + uint64_t{options_.per_budget} * budget; }
  uint32_t Hosts(uint64_t pld) const;  // counted so far
  std::vector<Checkpointable*> Checkpointables() { return {hosts_.get(), domains_.get()}; }

 private:
  explicit HostAllowance(const Options& options) : options_(options) {}

  const Options options_;
  std::unique_ptr<GroupCache> hosts_;    // number: which of its domain's hosts it is, from 1
  std::unique_ptr<GroupCache> domains_;  // number: hosts counted
};

}  // namespace portolan
