// What a ClusterExchange is given, and what it counts.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cluster/copied_checkpoint.h"
#include "cluster/phase_clock.h"
#include "io/clock.h"

namespace portolan {

struct ClusterExchangeOptions {
  std::string cluster;
  uint64_t cluster_id = 0;
  uint32_t shards = 2;
  uint32_t shard = 0;                         // this one
  uint64_t epoch = 0;                         // of the claim to it
  uint64_t out_bytes = uint64_t{1} << 20;     // of messages that Work has not taken yet, per receiver
  uint64_t window_bytes = uint64_t{2} << 20;  // sent and not known to be stored, per receiver
  uint64_t spill_bytes = uint64_t{1} << 30;   // on disk, of batches for all receivers
  uint64_t in_bytes = uint64_t{2} << 20;      // that came and the shard has not taken
  int64_t flush_ns = 20 * kMillisecond;       // a batch that is not full is sent after this time
  int64_t ack_wait_ns = 5 * kSecond;
  int64_t full_wait_ns = 200 * kMillisecond;
  int64_t report_ns = kSecond;  // between two reports, and two looks at those of the other shards
  // With phases: how well their clock must be known. None: no time is asked for.
  std::optional<PhaseClockOptions> phase_clock = {};
  // Does this process still hold the shard, in that epoch? None: always. Any thread.
  std::function<bool()> held;
  // Which checkpoint a copy of this shard on another node has: what that one has not taken stays in the own stream, and
  // the end of the crawl waits for the copy. nullopt: no copy is waited for. None: likewise. Any thread.
  std::function<std::optional<CopiedCheckpoint>()> copied;
  // What is wanted: a turn of the shard; a tick of the driver; a call of Work. Any thread, also inside Open.
  std::function<void()> wake_shard;
  std::function<void()> wake_driver;
  std::function<void()> wake_worker;
};

struct ExchangeCounters {
  uint64_t messages_sent = 0;  // taken from the shard
  uint64_t batches_sent = 0;   // numbers given
  uint64_t bytes_sent = 0;     // published, again and again
  uint64_t batches_taken = 0;
  uint64_t messages_taken = 0;
  uint64_t duplicates = 0;   // batches that came again
  uint64_t old_epochs = 0;   // refused: sent by who had lost its shard
  uint64_t foreign = 0;      // no batches of this cluster
  uint64_t spilled = 0;      // batches that went to disk
  uint64_t spill_bytes = 0;  // that are there now
  uint64_t resent = 0;       // batches of the outbox, at Open
  uint64_t raises = 0;       // received
  uint64_t notices_sent = 0;
  uint64_t notices_taken = 0;
  uint64_t notices_bad = 0;  // datagrams that were refused
  uint64_t clock_jumps = 0;  // of the server's clock, as far as phases saw them
};

}  // namespace portolan
