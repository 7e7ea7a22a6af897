#include "cli/cluster_work.h"

#include <fmt/core.h>

#include <set>

#include "base/hash.h"
#include "cluster/cluster_store.h"
#include "cluster/lease_record.h"
#include "cluster/link_stream.h"
#include "cluster/names.h"
#include "cluster/node_record.h"
#include "cluster/seed_stream.h"
#include "crawl/hash_key_store.h"
#include "crawl/partition.h"
#include "crawl/phase_plan.h"
#include "crawl/rule_files.h"
#include "crawl/seed_list.h"
#include "io/env.h"
#include "io/rng.h"

namespace portolan {
namespace {

// Settings that mean something else, or nothing, on several machines.
Status CheckForCluster(const Config& config, const NewCluster& cluster) {
  const auto wrong = [](std::string_view key, std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", key, why));
  };
  if (cluster.shards < 1 || cluster.shards > kMaxShards) {
    return wrong("--shards", fmt::format("1 to {}", kMaxShards));
  }
  if (config.crawl.shards > 1) return wrong("crawl.shards", "is of a crawl on one machine; a cluster has --shards");
  if (config.crawl.phases > 0 && config.crawl.phases < cluster.shards) {
    return Fail(ErrorCode::kInvalidArgument, TooFewPhases(config.crawl.phases, cluster.shards));
  }
  RETURN_IF_ERROR(ValidateConfig(config));
  if (config.crawl.partition == Partition::kPhase) RETURN_IF_ERROR(LoadRuleSet(Env::Posix(), config));
  for (const std::string& directory : config.archive.directories) {
    if (directory.starts_with('/')) {
      return wrong("archive.directories", fmt::format("'{}' would be shared by several shards: in a cluster the "
                                                      "directories are inside each shard's own",
                                                      directory));
    }
  }
  return {};
}

Result<uint64_t> RandomId() {
  ASSIGN_OR_RETURN(const auto words, SystemRandomWords());
  return words[0] | 1;  // never 0
}

// The seeds, in the stream if they are too many for the settings.
Status StoreSeeds(NatsConnection& connection, const NewCluster& cluster, GivenSeeds& seeds, Config& config,
                  ClusterSettings& settings) {
  if (!seeds.more) {
    config.crawl.seeds = seeds.first;
    return {};
  }
  ASSIGN_OR_RETURN(auto writer, SeedStreamWriter::Create(connection, cluster.name, static_cast<int>(cluster.replicas)));
  for (const std::string& seed : seeds.first) RETURN_IF_ERROR(writer->Add(seed));
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<std::string> seed, seeds.more->Next());
    if (!seed) break;
    RETURN_IF_ERROR(writer->Add(*seed));
  }
  RETURN_IF_ERROR(writer->Finish());
  settings.seeds = writer->count();
  settings.seeds_from = seeds.from;
  config.crawl.seeds.clear();
  config.crawl.seed_list = fmt::format("{} seeds from {}", settings.seeds, seeds.from);
  return {};
}

}  // namespace

Result<Config> ConfigOfCluster(const ClusterSettings& settings) {
  auto config = ParseConfig(settings.toml, "the cluster's settings");
  if (!config) return Fail(ErrorCode::kCorrupt, config.error().message());
  config->crawl.shards = 1;  // of each engine
  RETURN_IF_ERROR(ValidateConfig(*config));
  return config;
}

Config ConfigOfShard(const Config& config, uint32_t shard) {
  Config own = config;
  own.archive.prefix += fmt::format("-S{:02}", shard);
  return own;
}

Result<uint64_t> HashOfRulesFile(const Config& config) {
  if (config.rules.file.empty()) return uint64_t{0};
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), config.rules.file));
  return Hash64(text) | 1;
}

Status CheckRulesFile(const ClusterSettings& settings, const Config& config) {
  const auto here = HashOfRulesFile(config);
  if (here && *here == settings.rules_hash) return {};
  if (!here && here.error().code() != ErrorCode::kNotFound) return std::unexpected(here.error());
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("rules.file: {} {}: copy the file that 'portolan cluster init' read to this place on each node",
                  config.rules.file,
                  here ? "has other contents here than where the cluster was made" : "is not on this machine"));
}

bool AllGivenBack(const ShardLeases& leases, uint32_t shards, uint64_t process) {
  for (uint32_t shard = 0; shard < shards; ++shard) {
    const auto record = DecodeLease(leases.Describe(shard));
    if (record && record->holder == process) return false;
  }
  return true;
}

Result<uint64_t> MakeCluster(NatsConnection& connection, const NewCluster& cluster, Config config, GivenSeeds& seeds) {
  if (seeds.first.empty()) return Fail(ErrorCode::kInvalidArgument, "no seeds: name a URL, or a file with --seeds");
  RETURN_IF_ERROR(CheckForCluster(config, cluster));
  ASSIGN_OR_RETURN(const uint64_t id, RandomId());
  ClusterSettings settings{.shards = cluster.shards,
                           .nodes = cluster.nodes,
                           .lease_ms = cluster.lease_ms,
                           .takeover_ms = cluster.takeover_ms,
                           .key = {},
                           .toml = {}};
  ASSIGN_OR_RETURN(settings.key, HashKeyStore::Make());
  if (const auto rules = LoadRuleSet(Env::Posix(), config); !rules) return std::unexpected(rules.error());
  ASSIGN_OR_RETURN(settings.rules_hash, HashOfRulesFile(config));
  uint64_t count = seeds.first.size();
  // Streams of an earlier cluster with this name whose bucket was removed would deliver its links.
  const auto fill = [&]() -> Result<std::string> {
    for (uint32_t shard = 0; shard < cluster.shards; ++shard) {
      RETURN_IF_ERROR(
          CreateLinkStream(connection, cluster.name, shard,
                           {.max_bytes = cluster.stream_bytes, .replicas = static_cast<int>(cluster.replicas)}));
    }
    RETURN_IF_ERROR(StoreSeeds(connection, cluster, seeds, config, settings));
    if (settings.seeds > 0) count = settings.seeds;
    config.crawl.shards = 0;
    RETURN_IF_ERROR(ValidateConfig(config));
    settings.toml = ConfigToToml(config);
    return EncodeClusterSettings(settings);
  };
  ASSIGN_OR_RETURN(const auto store,
                   ClusterStore::Create(connection, cluster.name, fill, id, static_cast<int>(cluster.replicas)));
  RETURN_IF_ERROR(store->Put(kVersionKey, cluster.version));
  RETURN_IF_ERROR(store->Put(kControlKey, EncodeControl({})));
  return count;
}

Status CheckNobodyWorks(ClusterStore& store) {
  for (uint32_t shard = 0; shard < kMaxShards; ++shard) {
    const auto entry = store.Read(fmt::format("shard.{}", shard));
    if (!entry && entry.error().code() != ErrorCode::kNotFound) return std::unexpected(entry.error());
    const auto lease = entry ? DecodeLease(entry->value) : std::nullopt;
    if (!lease || lease->holder == 0) continue;
    return Fail(ErrorCode::kBusy,
                fmt::format("cluster {}: node {} holds shard {}: stop the nodes first, or add --force", store.cluster(),
                            lease->node, shard));
  }
  return {};
}

Status RemoveCluster(NatsConnection& connection, const std::string& name, bool even_if_held) {
  if (const auto store = ClusterStore::Open(connection, name); store && !even_if_held) {
    RETURN_IF_ERROR(CheckNobodyWorks(**store));
  }
  bool any = false;
  const auto remove = [&](const std::string& stream) -> Status {
    const Status removed = RemoveStream(connection, stream);
    if (removed) any = true;
    return removed || removed.error().code() == ErrorCode::kNotFound ? Status() : removed;
  };
  for (uint32_t shard = 0; shard < kMaxShards; ++shard) RETURN_IF_ERROR(remove(LinkStreamName(name, shard)));
  RETURN_IF_ERROR(remove(SeedStreamName(name)));
  const Status bucket = ClusterStore::Remove(connection, name);
  if (bucket || (bucket.error().code() == ErrorCode::kNotFound && any)) return {};
  if (bucket.error().code() == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound, fmt::format("cluster {}: there is none with this name", name));
  }
  return bucket;
}

}  // namespace portolan
