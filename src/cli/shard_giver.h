// ShardGiver: lets another node copy the files of a shard that this process works on (cluster/copy_server.h), and says
// which checkpoint that copy has.
//
// Thread: made and destroyed by one owner, after the engine that uses env(); copied() and WaitForCopy any.
// Memory bound: the copy server's.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "cluster/copied_checkpoint.h"
#include "cluster/copy_server.h"
#include "cluster/nats_connection.h"
#include "crawl/engine.h"
#include "io/holding_env.h"
#include "standby/checkpoint_files.h"

namespace portolan {

// The directories of the crawl with these options.
CrawlPlaces PlacesOf(const EngineOptions& options);

struct ShardGiverOptions {
  NatsOptions nats;
  std::string cluster;
  uint32_t shard = 0;
  uint64_t files = 0;  // the number of the shard's directory: the history of its files
  CrawlPlaces places;
  std::function<bool()> held;  // does this process still hold the shard? None: nobody else can
};

class ShardGiver {
 public:
  // kClosed: the server does not answer.
  static Result<std::unique_ptr<ShardGiver>> Start(const ShardGiverOptions& options);

  HoldingEnv& env() { return env_; }
  // Whether another node keeps a copy now: then the stream keeps what that copy has not.
  void WaitForCopy(bool wait) { wait_ = wait; }
  // From the first list that a copy asked for on: what was trimmed before is behind that list's checkpoint.
  std::optional<CopiedCheckpoint> copied() const {
    if (!wait_ && Clock::Real().NowNs() > wait_until_ns_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return copied_;
  }

 private:
  ShardGiver() : env_(Env::Posix()) {}

  HoldingEnv env_;
  std::atomic<bool> wait_{false};
  std::atomic<int64_t> wait_until_ns_{0};  // in any case, since a copy has asked for a list
  mutable std::mutex mutex_;
  CopiedCheckpoint copied_;  // guarded by mutex_
  std::unique_ptr<NatsConnection> connection_;
  std::unique_ptr<CopyServer> server_;  // uses all of the above
};

}  // namespace portolan
