// NodePlaces: where the files of the cluster's shards are, as one node knows and changes it: the bucket's record of
// each shard (PlaceRecord) and the mark in the shard's directory on this node (ShardPlace,
// docs/formats/shard_place.md).
//
//   Take    the shard begins here: its directory, a copy of it or an empty one, becomes this node's
//   Leave   the shard was stopped because it moves: the directory gets a new number, so that what was copied while it
//           ran is never used, and its files are given to whoever copies them
//
// Both write the mark first and then the bucket. A kill between the two leaves the number that the bucket knows in the
// mark's `before`.
//
// Thread: one owner; a thread per shard that is given away. Memory bound: a record per shard.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/shard_giver.h"
#include "cluster/cluster_store.h"
#include "cluster/nats_connection.h"
#include "cluster/node_record.h"
#include "cluster/shard_place.h"
#include "crawl/config.h"

namespace portolan {

struct NodePlacesOptions {
  std::string cluster;
  uint32_t shards = 1;
  std::string node;
  std::string dir;  // of the node
  std::string version;
  NatsOptions nats;
  Config config;                                  // of each shard
  std::function<void(uint32_t shard)> stop_copy;  // no file of the shard's directory changes after this
};

class NodePlaces {
 public:
  // `store` outlives this.
  NodePlaces(NodePlacesOptions options, ClusterStore& store);
  ~NodePlaces();

  std::string DirOf(uint32_t shard) const;
  Config ConfigOf(uint32_t shard) const;
  Result<CrawlPlaces> CrawlPlacesOf(uint32_t shard) const;  // the directories in it

  // Reads the bucket's record. Without an answer the last one stays.
  void Look(uint32_t shard);
  // False: the bucket never answered, or its record cannot be read; such a shard is left alone.
  bool known(uint32_t shard) const { return shards_[shard].known; }
  const std::optional<PlaceRecord>& record(uint32_t shard) const { return shards_[shard].record; }
  uint64_t revision(uint32_t shard) const { return shards_[shard].revision; }
  bool done(uint32_t shard) const { return shards_[shard].record && shards_[shard].record->done; }
  bool AllDone() const;
  bool MovesAway(uint32_t shard) const;

  // May this node claim the shard? By its directory and the record.
  Result<ClaimWish> Wish(uint32_t shard) const;
  // Tells the operator, if it is another wish than the last time.
  void Say(uint32_t shard, ClaimWish wish);

  // kClosed: the bucket did not take it. kInvalidArgument: the directory is another cluster's. REQUIRES: the shard's
  // lease is held, and its record is fresh.
  Status Take(uint32_t shard);
  // kClosed: likewise; the shard stays and is asked to move again.
  Status Leave(uint32_t shard);
  Status MarkDone(uint32_t shard);

  bool gives(uint32_t shard) const { return shards_[shard].giver != nullptr; }
  // Ends it where the record says that nobody waits for the files any more.
  void EndGiving(uint32_t shard);

 private:
  struct Shard {
    std::optional<PlaceRecord> record;
    uint64_t revision = 0;
    bool known = false;
    std::unique_ptr<ShardGiver> giver;   // of a shard that was stopped here and moves away
    ClaimWish told = ClaimWish::kClaim;  // what the operator was told last
  };
  ShardPlace As(uint32_t shard, uint64_t files) const;
  Result<std::optional<ShardPlace>> Here(uint32_t shard) const;
  Status Write(uint32_t shard, const PlaceRecord& record);
  Status GiveAway(uint32_t shard);

  const NodePlacesOptions options_;
  ClusterStore& store_;
  std::vector<Shard> shards_;
};

}  // namespace portolan
