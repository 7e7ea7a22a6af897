// NodeSession: a node of a cluster from its start to its end: it claims shards, runs an engine for each one that it
// holds, does what the cluster's operator asks for, and ends when nothing is left to do for any shard.
//
//   its main thread   looks at the bucket once per second: the order (run, pause, stop), where shards' files are;
//   starts
//                     and ends engines; writes what others should know (beat, status of its shards)
//   leases            ShardLeases' thread, with a connection of its own
//   per shard         an engine with its threads, and the exchange's connection and thread (shard_run.h)
//
// Its parts: who it is (node_identity.h), what it may hold (node_share.h), where the shards' files are (node_places.h),
// copies of those of others (node_copies.h), and the engines (node_engines.h).
//
// A shard is claimed if nobody has begun it, or if its files are here (WishFor). What is fenced: an engine asks before
// each fetch, its exchange before each batch, whether the lease is still believed in; nothing depends on how quick the
// main thread is. NATS away: engines go on as long as their leases last, then break off, and are claimed again when it
// is back.
//
// Errors that waiting does not mend (links lost, a disk that fails, another node with this name) stop the whole node:
// its shards are given back, and Run returns the error.
//
// Thread: one owner. Memory bound: that of its engines, each of which has the node's memory divided by its capacity.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/crawl_summary.h"
#include "cluster/nats_connection.h"
#include "crawl/config.h"
#include "crawl/progress.h"

namespace portolan {

struct NodeSessionOptions {
  std::string cluster;
  NatsOptions nats;
  std::string dir;
  std::string name;       // empty: the directory's, or this machine's
  uint32_t copies = 0;    // of other nodes' shards that it keeps
  uint32_t capacity = 0;  // shards at most; 0: the cluster's shards divided by its nodes
  std::string version;
  // Of this machine; nothing: as the cluster's settings say.
  std::optional<std::string> memory;
  std::optional<std::string> connections;
  std::optional<std::string> loops;
  bool quiet = false;
};

struct NodeEnd {
  CrawlProgress progress;  // of this node's shards
  bool done = false;       // the whole crawl is
  std::string why;         // otherwise: "stopped", "the cluster was stopped", "a limit is reached: max_pages"
};

Result<NodeEnd> RunNodeSession(const NodeSessionOptions& options);

}  // namespace portolan
