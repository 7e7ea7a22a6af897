// What the bucket says of nodes and of the shards' files, besides the leases. Text, one line each.
//
//   node.NAME   "v1 process=00000000000000ff beat=12 version=1.2 capacity=4 machine=host1"
//               A node's process, with a beat that grows as long as it lives; process 0: it ended.
//   place.K     "v1 node=alpha files=0123456789abcdef to=- state=running"
//               Where shard K's files are: the node, and the random number of that directory (also in the directory:
//               shard_place.h). `to`: the node to which its operator moves it. state: begun, or done when nothing is
//               left to do for it.
//   copy.K      "v1 node=beta files=0123456789abcdef sequence=42 beat=7"
//               Which node keeps a copy of shard K (cli/node_copies.h): of which directory's files, and the checkpoint
//               that it has; 0: none yet. The beat grows as long as that node asks.
//   control     "v1 run", "v1 pause", "v1 stop" or "v1 end max_pages"
//   status.K    what its holder last saw of shard K, one JSON object (cli/shard_status.h)
//
// Memory bound: a line of kMaxRecord bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portolan {

inline constexpr size_t kMaxRecord = 512;

struct NodeRecord {
  uint64_t process = 0;
  uint64_t beat = 0;
  std::string version;
  uint32_t capacity = 0;
  std::string machine;
  bool operator==(const NodeRecord&) const = default;
};
std::string EncodeNode(const NodeRecord& record);
std::optional<NodeRecord> DecodeNode(std::string_view text);

struct PlaceRecord {
  std::string node;
  uint64_t files = 0;
  std::string to;  // empty: it stays
  bool done = false;
  bool operator==(const PlaceRecord&) const = default;
};
std::string EncodePlace(const PlaceRecord& record);
std::optional<PlaceRecord> DecodePlace(std::string_view text);

struct CopyRecord {
  std::string node;
  uint64_t files = 0;
  uint64_t sequence = 0;
  uint64_t beat = 0;
  bool operator==(const CopyRecord&) const = default;
};
std::string EncodeCopy(const CopyRecord& record);
std::optional<CopyRecord> DecodeCopy(std::string_view text);

enum class ClusterOrder : uint8_t { kRun, kPause, kStop, kEnd };
struct ControlRecord {
  ClusterOrder order = ClusterOrder::kRun;
  std::string limit;  // kEnd: the limit that is reached
  bool operator==(const ControlRecord&) const = default;
};
std::string EncodeControl(const ControlRecord& record);
std::optional<ControlRecord> DecodeControl(std::string_view text);

std::string NodeKey(std::string_view node);
std::string PlaceKey(uint32_t shard);
std::string CopyKey(uint32_t shard);
std::string LeaseKey(uint32_t shard);  // of lease_record.h
std::string StatusKey(uint32_t shard);
inline constexpr std::string_view kControlKey = "control";
inline constexpr std::string_view kVersionKey = "version";

}  // namespace portolan
