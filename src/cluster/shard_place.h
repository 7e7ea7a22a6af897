// ShardPlace: the mark in the directory of a cluster's shard (file `cluster`): which shard of which cluster its files
// are, and the random number under which the bucket knows this directory (PlaceRecord::files;
// docs/formats/shard_place.md).
//
//   "portolan-shard 1 cluster=web id=0123456789abcdef shard=3 shards=16 files=00000000000000ff before=…"
//
// `before` is the number that it replaced: the mark is written before the bucket, and a kill may come between.
// A copy of the directory has the same number: who holds it is decided by the bucket, and who claims a copy gives it a
// new one, so that the old directory is never used again.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/node_record.h"
#include "io/env.h"

namespace portolan {

inline constexpr const char* kShardMark = "cluster";

struct ShardPlace {
  std::string cluster;
  uint64_t id = 0;  // of the cluster
  uint32_t shard = 0;
  uint32_t shards = 1;
  uint64_t files = 0;
  uint64_t before = 0;  // 0: none
  bool operator==(const ShardPlace&) const = default;
};

std::string EncodeShardPlace(const ShardPlace& place);
std::optional<ShardPlace> DecodeShardPlace(std::string_view text);

// "shard-03": the name of a shard's directory.
std::string ShardDirName(uint32_t shard);
std::optional<uint32_t> ShardOfDirName(std::string_view name);

// Nothing: the directory is not there, or has no mark. kCorrupt: its mark cannot be read.
Result<std::optional<ShardPlace>> ReadShardPlace(Env& env, const std::string& dir);
Status WriteShardPlace(Env& env, const std::string& dir, const ShardPlace& place);

// May a node, whose directory has this mark or none, claim the shard of which the bucket says this?
enum class ClaimWish : uint8_t {
  kClaim,
  kDone,         // nothing is left to do for it
  kElsewhere,    // its files are on another node
  kMovesAway,    // it is to go to another node
  kCopyMissing,  // it is to come here, but its files are not here yet
};
ClaimWish WishFor(const std::string& node, const std::optional<ShardPlace>& here,
                  const std::optional<PlaceRecord>& record);

}  // namespace portolan
