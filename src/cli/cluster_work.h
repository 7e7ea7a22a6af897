// What the verbs of a cluster share: its settings as a crawl's, and making one.
//
// Thread: any.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/seeds.h"
#include "cluster/cluster_settings.h"
#include "cluster/cluster_store.h"
#include "cluster/nats_connection.h"
#include "cluster/shard_leases.h"
#include "crawl/config.h"

namespace portolan {

// The crawl's settings. kCorrupt: they cannot be read, or do not fit together.
Result<Config> ConfigOfCluster(const ClusterSettings& settings);

// The same for one shard: names of its archive's files say which.
Config ConfigOfShard(const Config& config, uint32_t shard);

// The file of rules is read on each node: its contents must be those that the cluster was made with.
Result<uint64_t> HashOfRulesFile(const Config& config);
Status CheckRulesFile(const ClusterSettings& settings, const Config& config);

// True if the bucket, as far as this process knows, gives no shard to it.
bool AllGivenBack(const ShardLeases& leases, uint32_t shards, uint64_t process);

struct NewCluster {
  std::string name;
  uint32_t shards = 16;
  uint32_t nodes = 0;
  uint32_t replicas = 1;
  uint64_t stream_bytes = uint64_t{1} << 30;  // of each shard's stream
  int64_t lease_ms = 10'000;
  int64_t takeover_ms = 0;
  std::string version;
};
// Makes the bucket, the streams, and puts settings and seeds in. kExists: there is a cluster with this name.
// kInvalidArgument: settings that several machines cannot share. Returns how many seeds it has.
Result<uint64_t> MakeCluster(NatsConnection& connection, const NewCluster& cluster, Config config, GivenSeeds& seeds);

// kBusy: a node holds a shard, or seems to.
Status CheckNobodyWorks(ClusterStore& store);

// Removes bucket and streams. kBusy: a node works for it. kNotFound: there is none.
Status RemoveCluster(NatsConnection& connection, const std::string& name, bool even_if_held);

}  // namespace portolan
