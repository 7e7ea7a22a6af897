// ShardRun: one shard of a cluster at work in this process: its engine on a thread of its own, from the claim (an
// epoch) to its end. An epoch has one engine: if it breaks off, the shard is claimed anew before the next one.
//
// A directory without a crawl is begun: the shard's own seeds go into its queue, and the names of all seeds where its
// scope needs them.
//
// Thread: Start and the destructor one owner; all else any.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "cli/crawl_session.h"
#include "cli/engine_setup.h"
#include "cli/shard_giver.h"
#include "cluster/cluster_exchange.h"
#include "cluster/cluster_settings.h"
#include "cluster/nats_connection.h"
#include "crawl/config.h"
#include "crawl/progress.h"

namespace portolan {

struct ShardRunOptions {
  std::string dir;  // the shard's own
  std::string cluster;
  uint64_t cluster_id = 0;
  const ClusterSettings* settings = nullptr;
  Config config;         // the crawl's, with this node's share of memory and connections
  uint64_t engines = 1;  // that share this process's open files
  std::string version;
  NatsOptions nats;
  uint32_t shard = 0;
  uint64_t epoch = 0;
  uint64_t history = 0;               // of the shard's files here (node_copies.h)
  std::function<bool()> held;         // does this process still hold the shard, in that epoch? Any thread
  std::function<void()> on_end = {};  // called when ended() is true. On the run's thread
};

class ShardRun {
 public:
  static std::unique_ptr<ShardRun> Start(ShardRunOptions options);
  // Ends it as after a crash if it still runs.
  ~ShardRun();
  ShardRun(const ShardRun&) = delete;
  ShardRun& operator=(const ShardRun&) = delete;

  void RequestStop() { stopper_.Stop(); }
  void RequestPause(bool paused) { stopper_.Pause(paused); }
  void Abandon(const Error& why) { stopper_.Abandon(why); }

  // Whether another node keeps a copy of the shard now.
  void WaitForCopy(bool wait);

  uint64_t epoch() const { return options_.epoch; }
  // The last picture; none before the first.
  std::optional<CrawlProgress> progress() const;
  // Of its exchange; of one that was closed, the last ones.
  std::optional<ClusterExchange::Counters> counters() const;
  std::string Trouble() const;

  bool ended() const { return ended_; }
  // How it ended. REQUIRES: ended(). Once.
  Result<SessionEnd> TakeEnd();

 private:
  explicit ShardRun(ShardRunOptions options) : options_(std::move(options)) {}
  Result<SessionEnd> Run();
  Status WriteOwnSeeds(const EngineOptions& engine);
  AloneOptions MakeAlone();
  Status StartGiver(const EngineOptions& engine);
  std::optional<CopiedCheckpoint> Copied() const;

  const ShardRunOptions options_;
  Stopper stopper_;
  mutable std::mutex mutex_;
  std::optional<CrawlProgress> progress_;                   // guarded by mutex_
  std::unique_ptr<ShardGiver> giver_;                       // guarded by mutex_; from before the engine to after it
  bool copy_waits_ = false;                                 // guarded by mutex_
  std::weak_ptr<ClusterExchange> exchange_;                 // guarded by mutex_
  std::optional<ClusterExchange::Counters> last_counters_;  // guarded by mutex_
  std::optional<Result<SessionEnd>> end_;                   // of the thread, then of TakeEnd's caller
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace portolan
