// ShardCopy: keeps a copy of a shard that another node holds (standby/copy_target.h), pass after pass, until it is
// stopped. Then the shard may be taken over in this directory, if its lease can be claimed.
//
//   nobody answers      the node that holds the shard, or the server, is away: ask again after interval_ns
//   the crawl moves on  next pass at once
//   the disk here fails open the copy again after interval_ns; what it holds stays as recovery needs it
//
// Thread: one of its own, which waits for the network and the disk. state() and Stop any.
// Memory bound: the target's.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "cluster/nats_connection.h"
#include "standby/copy_target.h"

namespace portolan {

struct ShardCopyOptions {
  std::string cluster;
  uint32_t shard = 0;
  CopyTargetOptions target;
  int64_t interval_ns = 5 * kSecond;  // between two passes
};

class ShardCopy {
 public:
  // REQUIRES: connection and env outlive this.
  ShardCopy(NatsConnection& connection, Env& env, const ShardCopyOptions& options);
  ~ShardCopy();  // stops
  ShardCopy(const ShardCopy&) = delete;
  ShardCopy& operator=(const ShardCopy&) = delete;

  struct State {
    uint64_t sequence = 0;   // of the checkpoint that the copy has; 0: it is not whole
    int64_t updated_ns = 0;  // when that was the newest, as far as was known (steady clock)
    uint64_t passes = 0;     // that ended well
    uint64_t bytes = 0;      // received in them
    std::string trouble;     // of the last pass; empty: it ended well
  };
  State state() const;
  // No file changes after this returns. Waits for a request that is under way.
  void Stop();

 private:
  void Run();
  Result<std::string> Ask(const std::string& request) const;
  // One pass, on a target that is opened if there is none. Returns how long to wait.
  int64_t Pass(std::unique_ptr<CopyTarget>& target);
  void Note(const Error& error);

  NatsConnection& connection_;
  Env& env_;
  const ShardCopyOptions options_;
  const std::string subject_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  State state_;        // guarded by mutex_
  bool stop_ = false;  // guarded by mutex_
  uint32_t busy_ = 0;  // the thread's: passes in a row that the crawl overtook
  std::thread thread_;
};

}  // namespace portolan
