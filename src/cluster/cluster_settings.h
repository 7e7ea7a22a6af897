// ClusterSettings: what all nodes of a cluster share, as the bucket holds it (key `settings`): written once by
// `portolan cluster init`, read by every node when it starts.
//
//   portolan-cluster 1          the format
//   shards 16
//   nodes 3                     how many are expected; 0: unknown
//   seeds 2000000               in the stream of seeds; 0: they are in the settings below
//   seeds_from list.txt
//   rules 0123456789abcdef      hash of the file that rules.file names; 0: there is none
//   lease_ms 10000              how long a node believes in a shard without news from the bucket
//   takeover_ms 0              after so long without a sign a shard's node is taken for dead, and a node with a copy
//                              takes the shard over; 0: never by itself
//   key 1 2 3 4                 the crawl's hash key, four hexadecimal numbers
//
//   (after an empty line, the crawl's settings as TOML)
//
// The key is as secret as the crawl's directories, and the settings may hold passwords: who may read the bucket reads
// them.
//
// Memory bound: kMaxStoreValue.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash_key.h"
#include "base/result.h"
#include "cluster/lease_view.h"
#include "io/clock.h"

namespace portolan {

inline constexpr uint32_t kClusterFormat = 1;

struct ClusterSettings {
  uint32_t shards = 1;
  uint32_t nodes = 0;
  uint64_t seeds = 0;
  std::string seeds_from;
  uint64_t rules_hash = 0;
  int64_t lease_ms = 10'000;
  int64_t takeover_ms = 0;
  HashKey key;
  std::string toml;
};

inline constexpr int64_t kShortestLeaseMs = 1'000;
inline constexpr int64_t kLongestLeaseMs = 600'000;
inline constexpr int64_t kLongestTakeoverMs = 7 * 86'400'000;

std::string EncodeClusterSettings(const ClusterSettings& settings);
// kUnsupported: another format, made by another version. kCorrupt: it is not such a text.
Result<ClusterSettings> DecodeClusterSettings(std::string_view text);

// The times of the leases of a cluster: all its nodes must use the same.
void SetLeaseTimes(int64_t lease_ms, LeaseOptions& options);

}  // namespace portolan
