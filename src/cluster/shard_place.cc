#include "cluster/shard_place.h"

#include <fmt/core.h>

#include <cstdio>

#include "io/small_file.h"

namespace portolan {
namespace {

constexpr size_t kMostDigits = 3;

}  // namespace

std::string EncodeShardPlace(const ShardPlace& place) {
  return fmt::format("portolan-shard 1 cluster={} id={:016x} shard={} shards={} files={:016x} before={:016x}\n",
                     place.cluster, place.id, place.shard, place.shards, place.files, place.before);
}

std::optional<ShardPlace> DecodeShardPlace(std::string_view text) {
  if (text.size() > kMaxRecord) return std::nullopt;
  char name[65] = {};
  unsigned long long id = 0;
  unsigned long long files = 0;
  unsigned long long before = 0;
  unsigned shard = 0;
  unsigned shards = 0;
  const std::string line(text);
  if (std::sscanf(line.c_str(), "portolan-shard 1 cluster=%64s id=%16llx shard=%u shards=%u files=%16llx before=%16llx",
                  name, &id, &shard, &shards, &files, &before) != 6 ||
      shard >= shards) {
    return std::nullopt;
  }
  ShardPlace place{.cluster = name, .id = id, .shard = shard, .shards = shards, .files = files, .before = before};
  // What was read must be all of it.
  if (EncodeShardPlace(place) != line) return std::nullopt;
  return place;
}

std::string ShardDirName(uint32_t shard) { return fmt::format("shard-{:02}", shard); }

std::optional<uint32_t> ShardOfDirName(std::string_view name) {
  constexpr std::string_view kPrefix = "shard-";
  if (!name.starts_with(kPrefix) || name.size() > kPrefix.size() + kMostDigits) return std::nullopt;
  uint32_t shard = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    shard = shard * 10 + static_cast<uint32_t>(c - '0');
  }
  if (name != ShardDirName(shard)) return std::nullopt;
  return shard;
}

Result<std::optional<ShardPlace>> ReadShardPlace(Env& env, const std::string& dir) {
  const std::string path = JoinPath(dir, kShardMark);
  if (!env.Exists(path)) return std::optional<ShardPlace>();
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
  std::optional<ShardPlace> place = DecodeShardPlace(text);
  if (!place) return Fail(ErrorCode::kCorrupt, path + ": does not say which shard this is");
  return place;
}

Status WriteShardPlace(Env& env, const std::string& dir, const ShardPlace& place) {
  RETURN_IF_ERROR(env.CreateDirs(dir));
  return ReplaceFile(env, JoinPath(dir, kShardMark), EncodeShardPlace(place));
}

ClaimWish WishFor(const std::string& node, const std::optional<ShardPlace>& here,
                  const std::optional<PlaceRecord>& record) {
  if (!record) return ClaimWish::kClaim;  // nobody has begun it
  if (record->done) return ClaimWish::kDone;
  const bool same_files = here && (here->files == record->files || here->before == record->files);
  if (!record->to.empty() && record->to != record->node) {
    if (record->to != node) return record->node == node ? ClaimWish::kMovesAway : ClaimWish::kElsewhere;
    return same_files ? ClaimWish::kClaim : ClaimWish::kCopyMissing;
  }
  return record->node == node && same_files ? ClaimWish::kClaim : ClaimWish::kElsewhere;
}

}  // namespace portolan
