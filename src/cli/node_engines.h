// NodeEngines: the engines of a node, at most one per shard, and what others see of them: their sum for the node's
// display, and each one's status in the bucket (status.K).
//
// An epoch has one engine: numbers of batches begin anew with each.
//
// Thread: StopAll any; the rest one owner, with a thread per engine. Memory bound: that of the engines.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/shard_run.h"
#include "cluster/cluster_store.h"
#include "crawl/progress.h"

namespace portolan {

class NodeEngines {
 public:
  // `store` outlives this.
  NodeEngines(uint32_t shards, std::string node, ClusterStore& store);

  bool runs(uint32_t shard) const { return shards_[shard].run != nullptr; }
  // REQUIRES: runs(shard).
  ShardRun& run(uint32_t shard) { return *shards_[shard].run; }
  uint64_t used_epoch(uint32_t shard) const { return shards_[shard].used_epoch; }  // of its last engine; 0: none yet
  size_t running() const;

  void Start(ShardRunOptions options);
  // REQUIRES: the shard's run has ended. It is removed, and its last status is written.
  Result<SessionEnd> TakeEnd(uint32_t shard);
  // All of them stop cleanly, those too that are started later.
  void StopAll();

  // Writes the status of those for which it was not written lately. The bucket may be away.
  void ReportDue();
  // Of those that run and have something to say; nothing: there is none.
  std::optional<CrawlProgress> Sum() const;
  // Of those that ended.
  const CrawlProgress& past() const { return past_; }

 private:
  struct Shard {
    std::unique_ptr<ShardRun> run;
    uint64_t used_epoch = 0;
    int64_t status_at_ns = 0;
  };

  void Report(uint32_t shard);

  const std::string node_;
  ClusterStore& store_;
  std::mutex mutex_;  // guards shards_[i].run and stopped_ against StopAll
  bool stopped_ = false;
  std::vector<Shard> shards_;
  CrawlProgress past_;
};

}  // namespace portolan
