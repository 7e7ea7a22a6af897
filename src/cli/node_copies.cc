#include "cli/node_copies.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "cli/crawl_place.h"
#include "cluster/copied_checkpoint.h"
#include "cluster/link_stream.h"
#include "io/small_file.h"
#include "standby/copy_mark.h"

namespace portolan {
namespace {

constexpr int64_t kSayNs = 5 * kSecond;  // between two beats of a copy
constexpr int64_t kPassNs = 2 * kSecond;

}  // namespace

uint64_t HistoryOf(const PlaceRecord& place) { return Hash64(place.node, place.files) | 1; }

Result<std::optional<ShardPlace>> FilesHere(Env& env, const std::string& dir, const ShardPlace& as,
                                            const std::optional<PlaceRecord>& record) {
  ASSIGN_OR_RETURN(const std::optional<CopyMark> mark, ReadCopyMark(env, dir));
  if (!mark) return ReadShardPlace(env, dir);
  if (!mark->whole || !record || mark->history != HistoryOf(*record)) return std::nullopt;
  ShardPlace place = as;
  place.files = record->files;
  return place;
}

Status AdoptCopy(Env& env, const std::string& dir, const ShardPlace& as, const Config& config) {
  RETURN_IF_ERROR(
      ReplaceSmallFile(JoinPath(dir, kConfigFile), ConfigToToml(config), {.secret = true, .durable = true}));
  RETURN_IF_ERROR(WriteShardPlace(env, dir, as));
  return RemoveCopyMark(env, dir);
}

NodeCopies::~NodeCopies() = default;

std::optional<ShardCopy::State> NodeCopies::state(uint32_t shard) const {
  if (!copies_[shard].copy) return std::nullopt;
  return copies_[shard].copy->state();
}

void NodeCopies::Stop(uint32_t shard) {
  copies_[shard].copy.reset();
  copies_[shard].revision = 0;
}

bool NodeCopies::Wanted(uint32_t shard, const Seen& seen) const {
  if (!seen.place || seen.place->done || seen.at_work) return false;
  if (MovesHere(seen)) return true;
  if (seen.place->node == options_.node) return false;
  if (copies_[shard].copy) return true;
  const auto kept = std::ranges::count_if(copies_, [](const Copy& copy) { return copy.copy != nullptr; });
  return static_cast<uint32_t>(kept) < options_.most;
}

// Makes the bucket say that this node copies the shard. False: another node does, or the bucket does not answer.
bool NodeCopies::Register(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns) {
  Copy& copy = copies_[shard];
  const auto entry = store.Read(CopyKey(shard));
  if (!entry && entry.error().code() != ErrorCode::kNotFound) return false;
  const auto record = entry ? DecodeCopy(entry->value) : std::nullopt;
  const bool others = record && record->node != options_.node;
  if (others && !MovesHere(seen) && !copy.others.Silent(entry->revision, now_ns, kCopySilenceNs)) return false;
  copy.record = {
      .node = options_.node, .files = seen.place->files, .sequence = 0, .beat = record ? record->beat + 1 : 1};
  const StoreWrite write = store.CompareAndSet(CopyKey(shard), EncodeCopy(copy.record), entry ? entry->revision : 0);
  if (write.outcome != WriteOutcome::kTaken) return false;
  copy.revision = write.revision;
  copy.said_ns = now_ns;
  return true;
}

Status NodeCopies::Begin(uint32_t shard) {
  Copy& copy = copies_[shard];
  if (!connection_) {
    NatsOptions nats = options_.nats;
    nats.name = options_.node + " copies";
    ASSIGN_OR_RETURN(connection_, NatsConnection::Connect(nats, Clock::Real()));
  }
  ASSIGN_OR_RETURN(copy.places, options_.places(shard));
  copy.copy = std::make_unique<ShardCopy>(
      *connection_, Env::Posix(),
      ShardCopyOptions{.cluster = options_.cluster,
                       .shard = shard,
                       .target = {.dir = options_.dir(shard), .places = copy.places, .replace_own = true},
                       .interval_ns = kPassNs});
  copy.lease = {};
  Log(LogLevel::kInfo, "keeping a copy of a shard", {{"shard", shard}, {"directory", options_.dir(shard)}});
  return {};
}

void NodeCopies::Say(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns) {
  Copy& copy = copies_[shard];
  const ShardCopy::State state = copy.copy->state();
  if (now_ns - copy.said_ns < kSayNs && state.sequence == copy.record.sequence) return;
  copy.said_ns = now_ns;
  copy.record.sequence = state.sequence;
  copy.record.files = seen.place->files;
  ++copy.record.beat;
  const StoreWrite write = store.CompareAndSet(CopyKey(shard), EncodeCopy(copy.record), copy.revision);
  if (write.outcome == WriteOutcome::kTaken) {
    copy.revision = write.revision;
  } else if (write.outcome == WriteOutcome::kRefused) {
    Log(LogLevel::kWarn, "another node copies a shard now: this copy ends", {{"shard", shard}});
    Stop(shard);
  }
}

Result<bool> NodeCopies::TakeOver(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns) {
  Copy& copy = copies_[shard];
  if (options_.takeover_ns == 0 || !seen.may_take || MovesHere(seen) || !seen.place->to.empty()) return false;
  const auto lease = store.Read(LeaseKey(shard));
  if (!lease || !copy.lease.Silent(lease->revision, now_ns, options_.takeover_ns)) return false;
  ASSIGN_OR_RETURN(const std::optional<CopyMark> mark, ReadCopyMark(Env::Posix(), options_.dir(shard)));
  if (!mark || !mark->whole || mark->history != HistoryOf(*seen.place)) return false;
  const auto stream = ReadLinkStream(*connection_, options_.cluster, shard);
  if (!stream) return false;
  copy.copy->Stop();
  ASSIGN_OR_RETURN(const CopiedCheckpoint checkpoint, CheckpointOfState(Env::Posix(), copy.places.state));
  if (stream->first > checkpoint.position + 1) {
    Log(LogLevel::kError, "a shard's node is gone, and its copy is too old: links between them would be lost",
        {{"shard", shard}, {"copy", checkpoint.position}, {"stream", stream->first}});
    Stop(shard);  // a new pass, if the node comes back
    copy.lease = {};
    return false;
  }
  PlaceRecord place = *seen.place;
  Log(LogLevel::kWarn, "a shard's node is gone: taking the shard over from the copy here",
      {{"shard", shard}, {"node", place.node}});
  RETURN_IF_ERROR(AdoptCopy(Env::Posix(), options_.dir(shard), As(shard, place.files), options_.config(shard)));
  // If this is refused, the directory is made a copy again.
  place.node = options_.node;
  const StoreWrite write = store.CompareAndSet(PlaceKey(shard), EncodePlace(place), seen.revision);
  Stop(shard);
  return write.outcome == WriteOutcome::kTaken;
}

ShardPlace NodeCopies::As(uint32_t shard, uint64_t files) const {
  return {.cluster = options_.cluster,
          .id = options_.cluster_id,
          .shard = shard,
          .shards = options_.shards,
          .files = files};
}

Result<bool> NodeCopies::Look(uint32_t shard, const Seen& seen, ClusterStore& store, int64_t now_ns) {
  Copy& copy = copies_[shard];
  if (!Wanted(shard, seen)) {
    if (copy.copy) Stop(shard);
    return false;
  }
  if (!copy.copy) {
    if (!Register(shard, seen, store, now_ns)) return false;
    const Status begun = Begin(shard);
    if (begun) return false;
    if (begun.error().code() == ErrorCode::kClosed) return false;  // the server is away
    return std::unexpected(begun.error());
  }
  Say(shard, seen, store, now_ns);
  if (!copy.copy) return false;
  return TakeOver(shard, seen, store, now_ns);
}

}  // namespace portolan
