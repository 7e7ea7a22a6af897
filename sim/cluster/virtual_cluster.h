// VirtualCluster: a crawl on several machines in virtual time. Each machine has one shard: the real shard under the
// real driver with the real exchange (cluster/cluster_exchange.h), a disk of its own, and a connection to one
// VirtualNats. One judge sees the requests of all.
//
// Machines die at any moment (their disks keep what a power cut leaves) and begin again, with a new epoch, from their
// last checkpoint; they are cut off from the server, for longer than their lease holds, too. Each has a calendar of its
// own, which may be set while it runs and while it is dead.
//
// Thread: one. Memory: the crawls'. The same options give the same run.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_exchange.h"
#include "cluster/copied_checkpoint.h"
#include "io/mem_env.h"
#include "sim/cluster/virtual_nats.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {

class VirtualCluster {
 public:
  struct Options {
    VirtualCrawl::Options crawl;  // of each shard; `shards` of them
    VirtualNats::Options nats;
    ClusterExchangeOptions exchange;    // sizes and times
    int64_t lease_ns = 10'000'000'000;  // a process that cannot reach the server for so long has lost its shard
    std::vector<MachineClock::Options> clocks = {};  // by machine; none: all go right
    int64_t claim_ns = 4'000'000'000;                // from a death to the next process, after the lease
    bool copies = false;                             // streams and the end wait for copies, as made by TakeCopy
  };

  VirtualCluster(const World& world, VirtualTime& time, HitSink& judge, const Options& options);
  ~VirtualCluster();

  // Opens all, adds the world's seeds, and begins.
  Status Begin();
  // One event. False: all shards are over.
  Result<bool> Step();
  // Runs until all shards are over.
  Status Run(uint64_t max_events);

  // Its process ends now, and another one begins later.
  void Kill(uint32_t shard, CrashMode mode);
  // Another machine has its newest checkpoint from now on. Without one yet: nothing.
  void TakeCopy(uint32_t shard);
  // Its machine is gone for good: the next process begins with the copy. REQUIRES: there is one.
  void Lose(uint32_t shard);
  bool copied(uint32_t shard) const { return nodes_[shard].copy != nullptr; }
  // It has found the end, and will do nothing more.
  bool over(uint32_t shard) const { return nodes_[shard].over; }
  // Its calendar is wrong by so much from now on.
  void SetClockError(uint32_t shard, int64_t error_ns) { nodes_[shard].clock->SetCalendarError(error_ns); }
  VirtualNats& nats() { return nats_; }
  bool runs(uint32_t shard) const { return nodes_[shard].crawl != nullptr; }
  VirtualCrawl& crawl(uint32_t shard) { return *nodes_[shard].crawl; }
  ClusterExchange& exchange(uint32_t shard) { return *nodes_[shard].exchange; }
  Env& env(uint32_t shard) { return *nodes_[shard].env; }
  uint64_t epoch(uint32_t shard) const { return nodes_[shard].epoch; }
  uint64_t events() const { return events_; }
  uint64_t deaths() const { return deaths_; }
  // What all processes did, the dead ones too.
  const ClusterExchange::Counters& total() const { return total_; }
  void AddCounters();  // of those that run

 private:
  struct Node {
    std::unique_ptr<MachineClock> clock;
    std::unique_ptr<MemEnv> env;
    std::unique_ptr<MemEnv> copy;  // null: none yet
    CopiedCheckpoint copied;       // of the copy
    std::unique_ptr<LinkTransport> transport;
    std::unique_ptr<VirtualCrawl> crawl;  // null: dead
    ClusterExchange* exchange = nullptr;  // of the crawl
    uint64_t epoch = 0;
    int64_t reached_ns = 0;  // when it reached the server last
    int64_t work_ns = -1;    // when Work is scheduled
    bool over = false;
  };

  Status Start(uint32_t shard);
  void End(uint32_t shard, std::unique_ptr<MemEnv> left);
  void StartLater(uint32_t shard, int64_t at_ns);
  void WorkAt(uint32_t shard, int64_t at_ns);
  bool Held(uint32_t shard, uint64_t epoch);

  const World& world_;
  VirtualTime& time_;
  HitSink& judge_;
  const Options options_;
  VirtualNats nats_;
  std::vector<Node> nodes_;
  uint64_t events_ = 0;
  uint64_t deaths_ = 0;
  uint64_t crash_seed_ = 0;
  ClusterExchange::Counters total_;
};

}  // namespace portolan::sim
