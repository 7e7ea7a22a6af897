// YieldTable: how much new content a group of URLs gives, and what a URL of it should cost its domain.
//
// STAR's budgets are for whole pay-level domains; the thesis leaves finer groups as future work. Here a URL of a host
// or directory whose pages keep turning out to be errors, copies or soft 404s costs more than one unit of its domain's
// budget, up to 16: an endless calendar or a broken session parameter gets a shrinking share of its domain's budget,
// and the rest of the domain gets the remainder. Nothing is dropped, and a group that recovers becomes cheap again.
//
// A URL belongs to two groups: its host, and its first directory on that host. The directory decides when it is known
// well enough, otherwise the host does: a good directory of a poor host is cheap, and a new directory of a poor host is
// as expensive as the host.
//
// Price: n observations of which u were useful, both halved whenever n reaches 64, so that old ones fade. Below 8
// observations 1; else (n + 1) / (2u + 1), rounded down, between 1 and 16. So half useful, or a third, costs 1; a
// quarter 2 at most; an eighth 3; none at all 9 after 8 observations and 16 after 15.
//
// Thread: one owner. Deterministic, integers only. Memory bound: Options::memory; a group that was dropped costs 1.
// Durability: Checkpointable (group_cache.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/group_cache.h"

namespace portolan {

struct UrlGroups {
  uint64_t host = 0;
  uint64_t directory = 0;  // of "https://a.example/b/c?d": host and "b"; of a file at the top: host and nothing

  bool operator==(const UrlGroups&) const = default;
};

// REQUIRES: `url` is canonical, as in UrlRecord, and `host_key` its HostKey, with the same key.
UrlGroups GroupsOf(std::string_view url, uint64_t host_key, const HashKey& key);

class YieldTable {
 public:
  static constexpr uint32_t kMaxPrice = 16;
  static constexpr uint32_t kMinSeen = 8;  // observations before a price moves
  static constexpr uint32_t kWindow = 64;  // observations after which all count half

  struct Options {
    std::string name = "yield";
    uint64_t memory = uint64_t{4} << 20;  // 8 bytes per group
  };
  static Result<std::unique_ptr<YieldTable>> Open(Env& env, const Manifest& manifest, const Options& options);

  // After each fetch. Useful: a page with content that was not seen before.
  void Observe(const UrlGroups& groups, bool useful);

  // 1 … kMaxPrice: units of its domain's budget that a URL should take.
  uint32_t Price(const UrlGroups& groups) const;

  const GroupCache& cache() const { return *cache_; }
  Checkpointable* checkpointable() { return cache_.get(); }

 private:
  explicit YieldTable(std::unique_ptr<GroupCache> cache) : cache_(std::move(cache)) {}

  std::unique_ptr<GroupCache> cache_;  // first: n, second: u
};

}  // namespace portolan
