#include "cli/node_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cli/cluster_work.h"
#include "cli/node_copies.h"
#include "crawl/wiring.h"
#include "io/rng.h"
#include "standby/copy_mark.h"

namespace portolan {

NodePlaces::NodePlaces(NodePlacesOptions options, ClusterStore& store)
    : options_(std::move(options)), store_(store), shards_(options_.shards) {}

NodePlaces::~NodePlaces() = default;

std::string NodePlaces::DirOf(uint32_t shard) const { return JoinPath(options_.dir, ShardDirName(shard)); }

Config NodePlaces::ConfigOf(uint32_t shard) const { return ConfigOfShard(options_.config, shard); }

Result<CrawlPlaces> NodePlaces::CrawlPlacesOf(uint32_t shard) const {
  ASSIGN_OR_RETURN(const EngineOptions engine, WireCrawl(ConfigOf(shard), DirOf(shard), {}, options_.version));
  return PlacesOf(engine);
}

void NodePlaces::Look(uint32_t index) {
  Shard& shard = shards_[index];
  const auto entry = store_.Read(PlaceKey(index));
  if (!entry && entry.error().code() != ErrorCode::kNotFound) return;
  shard.revision = entry ? entry->revision : 0;
  shard.record = entry ? DecodePlace(entry->value) : std::nullopt;
  shard.known = !entry || shard.record.has_value();
}

bool NodePlaces::AllDone() const {
  return std::ranges::all_of(shards_, [](const Shard& shard) { return shard.record && shard.record->done; });
}

bool NodePlaces::MovesAway(uint32_t index) const {
  const std::optional<PlaceRecord>& record = shards_[index].record;
  return record && !record->to.empty() && record->to != options_.node;
}

ShardPlace NodePlaces::As(uint32_t index, uint64_t files) const {
  return {.cluster = options_.cluster, .id = store_.id(), .shard = index, .shards = options_.shards, .files = files};
}

Result<std::optional<ShardPlace>> NodePlaces::Here(uint32_t index) const {
  return FilesHere(Env::Posix(), DirOf(index), As(index, 0), shards_[index].record);
}

Result<ClaimWish> NodePlaces::Wish(uint32_t index) const {
  ASSIGN_OR_RETURN(const std::optional<ShardPlace> here, Here(index));
  return WishFor(options_.node, here, shards_[index].record);
}

void NodePlaces::Say(uint32_t index, ClaimWish wish) {
  Shard& shard = shards_[index];
  if (std::exchange(shard.told, wish) == wish) return;
  if (wish == ClaimWish::kMovesAway) {
    Log(LogLevel::kInfo, "a shard is to move to another node: stopping it",
        {{"shard", index}, {"to", shard.record->to}});
  } else if (wish == ClaimWish::kCopyMissing) {
    Log(LogLevel::kWarn, "a shard is to move here: waiting for a copy of its directory",
        {{"shard", index}, {"from", shard.record->node}, {"directory", DirOf(index)}});
  }
}

// The directory gets a new number with each holder: an older copy of it is never used again.
Status NodePlaces::Take(uint32_t index) {
  Shard& shard = shards_[index];
  ASSIGN_OR_RETURN(const std::optional<ShardPlace> here, Here(index));
  if (here && (here->id != store_.id() || here->shard != index)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: holds shard {} of cluster {}", DirOf(index), here->shard, here->cluster));
  }
  const bool is_ours = here && shard.record && shard.record->node == options_.node &&
                       shard.record->files == here->files && shard.record->to.empty();
  if (is_ours) return {};
  ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
  const uint64_t files = random[0] | 1;
  options_.stop_copy(index);
  ShardPlace mark = As(index, files);
  mark.before = here ? here->files : 0;
  ASSIGN_OR_RETURN(const std::optional<CopyMark> copy, ReadCopyMark(Env::Posix(), DirOf(index)));
  if (copy) {
    RETURN_IF_ERROR(AdoptCopy(Env::Posix(), DirOf(index), mark, ConfigOf(index)));
  } else {
    RETURN_IF_ERROR(WriteShardPlace(Env::Posix(), DirOf(index), mark));
  }
  return Write(index, {.node = options_.node, .files = files, .to = {}, .done = false});
}

// The directory gets a new number before it is copied: copies that were made while its engine ran have the old one.
Status NodePlaces::Leave(uint32_t index) {
  ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
  PlaceRecord record = *shards_[index].record;
  ShardPlace mark = As(index, random[0] | 1);
  mark.before = std::exchange(record.files, mark.files);
  RETURN_IF_ERROR(WriteShardPlace(Env::Posix(), DirOf(index), mark));
  RETURN_IF_ERROR(Write(index, record));
  Log(LogLevel::kInfo, "a shard is stopped: the other node copies its files",
      {{"shard", index}, {"directory", DirOf(index)}, {"to", record.to}});
  return GiveAway(index);
}

Status NodePlaces::MarkDone(uint32_t index) {
  PlaceRecord record = *shards_[index].record;
  record.done = true;
  return Write(index, record);
}

// The shard is stopped: whoever is to have it copies its files from here.
Status NodePlaces::GiveAway(uint32_t index) {
  ASSIGN_OR_RETURN(const CrawlPlaces places, CrawlPlacesOf(index));
  auto giver = ShardGiver::Start({.nats = options_.nats,
                                  .cluster = options_.cluster,
                                  .shard = index,
                                  .files = HistoryOf(*shards_[index].record),
                                  .places = places,
                                  .held = {}});
  if (giver) shards_[index].giver = *std::move(giver);
  return {};  // if the server is away: the operator can copy the directory
}

void NodePlaces::EndGiving(uint32_t index) {
  Shard& shard = shards_[index];
  if (!shard.giver) return;
  if (!shard.record || shard.record->node != options_.node || shard.record->to.empty()) shard.giver.reset();
}

Status NodePlaces::Write(uint32_t index, const PlaceRecord& record) {
  Shard& shard = shards_[index];
  const StoreWrite write = store_.CompareAndSet(PlaceKey(index), EncodePlace(record), shard.revision);
  if (write.outcome == WriteOutcome::kTaken) {
    shard.record = record;
    shard.revision = write.revision;
    return {};
  }
  Look(index);
  if (shard.record == record) return {};  // the answer to an earlier try was lost
  return Fail(ErrorCode::kClosed, fmt::format("writing where shard {} is: {}", index, write.reason));
}

}  // namespace portolan
