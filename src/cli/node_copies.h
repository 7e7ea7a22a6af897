// NodeCopies: the copies that a node keeps of shards which other nodes hold, and what they are for: a shard that is to
// move here, and one whose node is gone.
//
//   which      a shard that is moved to this node; and up to Options::most others that no node copies. A node that
//              copies a shard says so in the bucket (copy.K) with a beat; a record whose beat stands still for
//              kCopySilenceNs is taken over. One copy per shard.
//   moving     the node that held the shard has stopped it and still gives its files away: when the copy is whole, this
//              node may claim it (WishFor), because then its files have the number that the bucket wants
//   takeover   the shard's lease was not renewed for takeover_ns (0: never taken over by itself), the copy is whole and
//              of the files that the bucket names, and the shard's stream still has everything behind the copy's
//              checkpoint: the bucket's record is changed to this node. Claiming the lease is another step, with the
//              rules of all claims (lease_view.h): until the old holder's belief has ended nobody gets it.
//
// A directory that this node had worked in, and whose shard the bucket gives to another node, becomes a copy: what it
// had committed and never given away is cut.
//
// Thread: one owner; a thread per copy. Memory bound: per copy that of ShardCopy.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster_store.h"
#include "cluster/nats_connection.h"
#include "cluster/node_record.h"
#include "cluster/shard_copy.h"
#include "cluster/shard_place.h"
#include "crawl/config.h"
#include "standby/checkpoint_files.h"

namespace portolan {

// A copy whose node says nothing for so long is given up: streams do not wait for it, and another node may make one.
inline constexpr int64_t kCopySilenceNs = 60 * kSecond;

// The history of a shard's files (standby/copy_mark.h) as long as it is in that place: another one when another node
// takes it, so a copy of what the node before had written is told apart.
uint64_t HistoryOf(const PlaceRecord& place);

// What the directory of a shard holds: the crawl's own mark, or, if it holds a whole copy of the files that `record`
// names, what that mark would be. Nothing: neither.
Result<std::optional<ShardPlace>> FilesHere(Env& env, const std::string& dir, const ShardPlace& as,
                                            const std::optional<PlaceRecord>& record);

// Makes of a copy a directory in which the shard can go on. REQUIRES: no copy is being made there.
Status AdoptCopy(Env& env, const std::string& dir, const ShardPlace& as, const Config& config);

// Whether the value of a key still changes, for who looks at it about once per second. Times without a look do not
// count: when the server was away for all, the others must have time to write.
class Beats {
 public:
  // True if it has not changed for so long.
  bool Silent(uint64_t revision, int64_t now_ns, int64_t silence_ns) {
    if (revision != revision_ || since_ns_ == 0 || now_ns - looked_ns_ > kGapNs) {
      revision_ = revision;
      since_ns_ = now_ns;
    }
    looked_ns_ = now_ns;
    return now_ns - since_ns_ >= silence_ns;
  }

 private:
  static constexpr int64_t kGapNs = 5 * kSecond;
  uint64_t revision_ = 0;
  int64_t since_ns_ = 0;
  int64_t looked_ns_ = 0;
};

struct NodeCopiesOptions {
  std::string cluster;
  uint64_t cluster_id = 0;
  uint32_t shards = 1;
  std::string node;
  NatsOptions nats;
  uint32_t most = 0;  // copies of shards that are not moved here
  int64_t takeover_ns = 0;
  std::function<std::string(uint32_t shard)> dir;
  std::function<Config(uint32_t shard)> config;
  std::function<Result<CrawlPlaces>(uint32_t shard)> places;
};

class NodeCopies {
 public:
  explicit NodeCopies(NodeCopiesOptions options) : options_(std::move(options)), copies_(options_.shards) {}
  ~NodeCopies();

  struct Seen {
    std::optional<PlaceRecord> place;
    uint64_t revision = 0;  // of the place
    bool at_work = false;   // an engine of this node has the shard, or is about to
    bool may_take = false;  // this node may hold one shard more
  };
  // To be called about once per second and shard. True: the bucket's record was changed, the shard is this node's.
  Result<bool> Look(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns);
  // No file of the shard's directory changes after this.
  void Stop(uint32_t shard);

  // For displays and status: whether there is a copy, and what it has.
  std::optional<ShardCopy::State> state(uint32_t shard) const;

 private:
  struct Copy {
    std::unique_ptr<ShardCopy> copy;  // null: none is kept
    CrawlPlaces places;
    CopyRecord record;
    uint64_t revision = 0;  // of the record; 0: not ours
    int64_t said_ns = 0;    // when the record was written
    Beats others;           // of another node's record
    Beats lease;
  };

  bool Wanted(uint32_t shard, const Seen& seen) const;
  bool MovesHere(const Seen& seen) const { return seen.place && seen.place->to == options_.node; }
  bool Register(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns);
  Status Begin(uint32_t shard);
  void Say(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns);
  ShardPlace As(uint32_t shard, uint64_t files) const;
  Result<bool> TakeOver(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns);

  const NodeCopiesOptions options_;
  std::unique_ptr<NatsConnection> connection_;  // made with the first copy
  std::vector<Copy> copies_;                    // by shard
};

}  // namespace portolan
