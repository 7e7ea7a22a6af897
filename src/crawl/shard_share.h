// ShareOf: the share of one shard in the memory, connections and queues of the whole crawl.
//
// The shares add up to no more than the whole, except where a structure has a minimum size (DRUM's memory). Then
// Shard::Open refuses a share that is too small, and says so.

#pragma once

#include <algorithm>
#include <cstdint>

#include "crawl/shard.h"

namespace portolan {

inline constexpr uint32_t kLeastQueuesPerShard = 8;  // of BEAST
inline constexpr uint32_t kLeastOutageHosts = 4;     // whose failures mean an outage

// Of the shards of one engine; a shard that is alone in its engine has all of it.
inline ShardOptions ShareOf(const ShardOptions& whole, uint32_t shard, uint32_t shards) {
  ShardOptions share = whole;
  if (whole.alone) return share;
  share.shard = shard;
  share.shards = shards;
  if (shards == 1) return share;
  share.connections = std::max(1U, whole.connections / shards + (shard < whole.connections % shards ? 1 : 0));
  // Each shard judges the network by the hosts that it knows.
  if (whole.outage.hosts > 0) share.outage.hosts = std::max(kLeastOutageHosts, whole.outage.hosts / shards);
  share.seen.memory /= shards;
  share.gate.memory /= shards;
  share.limits_memory /= shards;
  share.frontier.memory /= shards;
  share.content.memory /= shards;
  share.near.memory = std::max(whole.near.memory / shards, NearTable::kMinMemory);
  share.refresh = ShareOf(whole.refresh, shards);
  share.frontier.max_hosts = std::max(1U, whole.frontier.max_hosts / shards);
  share.frontier.back_queues = std::clamp(whole.frontier.back_queues / shards, 1U, share.frontier.max_hosts);
  AdmissionOptions& admission = share.admission;
  admission.star.memory /= shards;
  admission.beast.max_queues = std::max(kLeastQueuesPerShard, admission.beast.max_queues / shards);
  admission.yield.memory /= shards;
  admission.hosts.memory /= shards;
  admission.content_memory /= shards;
  return share;
}

}  // namespace portolan
