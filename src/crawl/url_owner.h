// UrlOwner: which shard of a crawl a URL belongs to, for those who look from outside or hand out seeds. A crawl is
// divided by domains (partition.h), or by whole URLs if it has phases (frontier/phase_partition.h).
//
// Thread: one owner. Memory bound: the public suffix list.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/partition.h"
#include "crawl/pay_level.h"
#include "flow/url_record.h"
#include "frontier/phase_partition.h"

namespace portolan {

class UrlOwner {
 public:
  struct Options {
    uint32_t shards = 1;
    bool by_phases = false;
  };
  static Result<UrlOwner> Create(const HashKey& key, const Options& options) {
    ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(key));
    return UrlOwner(key, std::move(domains), options);
  }

  // `url` is canonical.
  uint32_t Of(std::string_view url) {
    if (options_.by_phases) return phases_.NodeOf(key_.Hash(url));
    return ShardOfDomain(domains_.Key(url, HostKey(url, key_)), options_.shards);
  }

 private:
  UrlOwner(const HashKey& key, PayLevelDomains domains, const Options& options)
      : key_(key),
        domains_(std::move(domains)),
        options_(options),
        phases_({.nodes = options.shards, .phases = options.shards}) {}

  HashKey key_;
  PayLevelDomains domains_;
  Options options_;
  PhasePartition phases_;
};

}  // namespace portolan
