// ShardLeases: the leases of this process, kept by a thread of its own. LeaseView decides, ClusterStore reads and
// writes, this is the loop between them.
//
// Thread: Held, Release, Want and the counters: any. Everything else happens on the thread.
// Memory bound: LeaseView's.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/cluster_store.h"
#include "cluster/lease_view.h"

namespace portolan {

class ShardLeases {
 public:
  // `store` and its connection are used by the thread alone from now on. `changed`, if there is one, is called on that
  // thread after a shard was gained or lost.
  ShardLeases(const LeaseOptions& options, std::unique_ptr<ClusterStore> store, const Clock& clock,
              std::function<void()> changed = {});
  // Stops the thread. Leases are not given back: Release does that.
  ~ShardLeases();
  ShardLeases(const ShardLeases&) = delete;
  ShardLeases& operator=(const ShardLeases&) = delete;

  // The epoch of this process's claim to the shard, as long as it believes to hold it at this moment.
  std::optional<uint64_t> Held(uint32_t shard) const;
  // See LeaseView. The caller has stopped the shard.
  void Release(uint32_t shard);
  void Want(uint32_t shard);

  // What the bucket last said about the shard; empty: nothing.
  std::string Describe(uint32_t shard) const;
  // Why the store did not answer last; empty: it did.
  std::string Trouble() const;

 private:
  void Run();
  void Do(const LeaseCommand& command);
  void Publish();

  struct Lease {
    uint64_t epoch = 0;
    int64_t until = 0;
    std::string seen;
  };
  const Clock& clock_;
  const std::function<void()> changed_;
  std::unique_ptr<ClusterStore> store_;  // of the thread
  LeaseView view_;                       // of the thread
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Lease> leases_;                        // guarded by mutex_
  std::vector<std::pair<uint32_t, bool>> requests_;  // guarded by mutex_: shard, wanted. At most two per shard
  std::string trouble_;                              // guarded by mutex_
  bool stop_ = false;                                // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
