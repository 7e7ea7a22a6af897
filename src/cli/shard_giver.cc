#include "cli/shard_giver.h"

#include <utility>

#include "base/log.h"
#include "cluster/copied_checkpoint.h"

namespace portolan {
namespace {

constexpr int64_t kCopyAskedNs = 10 * kSecond;  // several passes of a copy, and looks of a node at the bucket

}  // namespace

CrawlPlaces PlacesOf(const EngineOptions& options) {
  CrawlPlaces places{.state = options.state_dir,
                     .log = options.outputs.log.files.dir,
                     .links = options.outputs.links.files.dir,
                     .text = options.outputs.text.files.dir,
                     .warc = options.outputs.warc.directories,
                     .prefix = options.outputs.warc.files.prefix};
  return places;
}

Result<std::unique_ptr<ShardGiver>> ShardGiver::Start(const ShardGiverOptions& options) {
  std::unique_ptr<ShardGiver> giver(new ShardGiver);
  ASSIGN_OR_RETURN(giver->connection_, NatsConnection::Connect(options.nats, Clock::Real()));
  CopyServerOptions server{.cluster = options.cluster,
                           .shard = options.shard,
                           .source = {.places = options.places, .history = options.files},
                           .held = options.held};
  server.source.on_have = [raw = giver.get(), state = options.places.state](const CheckpointFiles& files) {
    const auto checkpoint = CheckpointOfManifest(raw->env_, state, files.manifest);
    if (checkpoint) {
      const std::lock_guard lock(raw->mutex_);
      raw->copied_ = *checkpoint;
    } else {
      Log(LogLevel::kWarn, "how far a copy has read cannot be told", {{"why", checkpoint.error().message()}});
    }
  };
  // The bucket says that there is a copy, too, and the node looks there once per second: too late for the first list.
  server.source.on_list = [raw = giver.get()] { raw->wait_until_ns_ = Clock::Real().NowNs() + kCopyAskedNs; };
  ASSIGN_OR_RETURN(giver->server_, CopyServer::Start(*giver->connection_, giver->env_, Clock::Real(), server));
  return giver;
}

}  // namespace portolan
