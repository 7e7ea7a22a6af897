// What one node does of a cluster's crawl: how many shards it may hold, and the settings of each one's engine, which
// are the cluster's with the node's memory, connections and threads divided among the shards that it may hold.
//
// Thread: any.

#pragma once

#include <cstdint>

#include "base/result.h"
#include "cli/node_session.h"
#include "cluster/cluster_settings.h"
#include "crawl/config.h"

namespace portolan {

struct NodeShare {
  uint32_t capacity = 1;
  Config config;  // of each shard
};

// kInvalidArgument: the settings do not fit together, there is too little memory, or the file of rules is another one.
Result<NodeShare> ShareOfNode(const NodeSessionOptions& options, const ClusterSettings& settings);

}  // namespace portolan
