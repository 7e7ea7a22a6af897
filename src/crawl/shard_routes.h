// ShardRoutes: several shards share one FetchPort. The id of a fetch contains its shard (partition.h); for a look-up of
// a name the shard is stored here until the answer comes.
//
// Thread: any; one lock inside. Memory bound: an entry per name that is being looked up.

#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "flow/fetch.h"

namespace portolan {

class ShardRoutes {
 public:
  // REQUIRES: `port` outlives this.
  ShardRoutes(FetchPort& port, uint32_t shards) : port_(port) {
    for (uint32_t shard = 0; shard < shards; ++shard) ports_.emplace_back(*this, shard);
  }

  // The port to be given to that shard.
  FetchPort& port(uint32_t shard) { return ports_[shard]; }
  // The shard that asked for the name. A host belongs to one shard; only the look-ups with which shards find out
  // whether the name servers answer (NetworkGuard) share a host number, and either answer serves either shard.
  uint32_t TakeAsker(const Resolution& resolution) {
    if (ports_.size() == 1) return 0;
    const std::lock_guard lock(mutex_);
    const auto found = askers_.find(resolution.host);
    if (found == askers_.end()) return 0;
    const uint32_t shard = found->second;
    askers_.erase(found);
    return shard;
  }

 private:
  class Port : public FetchPort {
   public:
    Port(ShardRoutes& routes, uint32_t shard) : routes_(routes), shard_(shard) {}
    void Fetch(FetchTask&& task) override { routes_.port_.Fetch(std::move(task)); }
    void Resolve(ResolveTask&& task) override {
      if (routes_.ports_.size() > 1) {
        const std::lock_guard lock(routes_.mutex_);
        routes_.askers_.emplace(task.host, shard_);
      }
      routes_.port_.Resolve(std::move(task));
    }

   private:
    ShardRoutes& routes_;
    const uint32_t shard_;
  };

  FetchPort& port_;
  std::deque<Port> ports_;
  std::mutex mutex_;
  std::unordered_multimap<uint64_t, uint32_t> askers_;  // by host; guarded by mutex_
};

}  // namespace portolan
