// WorldSite: the world as the site of a server, with a cache of recently requested pages.
//
// A page costs tens of microseconds to write. Where the same pages are asked for again and again (load tests, demos),
// healthy numbered pages are kept as they were answered, until the world's version of them changes. A crawl requests
// each page once, so it gains nothing from the cache.
//
// Thread: any. Memory bound: `cache_bytes` of answers, the least recently used is dropped first; 0: no cache.

#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sim/server/site.h"
#include "sim/world/world.h"

namespace portolan::sim {

class WorldSite : public Site {
 public:
  // REQUIRES: `world` outlives it.
  explicit WorldSite(const World& world, size_t cache_bytes = 0) : world_(world), shard_bytes_(cache_bytes / kShards) {}

  Answer Respond(const Request& request) const override { return world_.Respond(request); }
  SharedAnswer RespondShared(const Request& request) const override;
  DnsAnswer Resolve(std::string_view name) const override { return world_.Resolve(name); }
  Certificate CertificateOf(std::string_view name) const override { return world_.CertificateOf(name); }

  size_t cached_bytes() const;

 private:
  static constexpr size_t kShards = 16;

  struct Entry {
    std::string key;
    uint64_t version = 0;
    SharedAnswer answer;
    size_t bytes = 0;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;                                                 // mutex; asked for last in front
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key;  // mutex; views of the entries' keys
    size_t bytes = 0;                                                         // mutex
  };

  const World& world_;
  const size_t shard_bytes_;
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace portolan::sim
