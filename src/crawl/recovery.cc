#include "crawl/recovery.h"

#include <memory>

#include "base/log.h"
#include "base/units.h"
#include "crawl/hash_key_store.h"
#include "crawl/shard.h"
#include "crawl/shard_share.h"
#include "disk/inspect.h"
#include "io/clock.h"
#include "io/dry_run_env.h"
#include "io/executor.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

constexpr uint64_t kTakesLong = uint64_t{1} << 30;  // bytes of state; reading more takes long enough for a message

class NobodyFetches : public FetchPort {
 public:
  void Fetch(FetchTask&& /*task*/) override {}
  void Resolve(ResolveTask&& /*task*/) override {}
};

class NobodyElse : public ExchangePort {
 public:
  bool HasRoom(uint32_t /*to*/) const override { return false; }
  void Send(uint32_t /*to*/, std::string_view /*message*/) override {}
  void Raise(uint32_t /*to*/, uint64_t /*pld*/) override {}
  void Tell(uint32_t /*to*/, const AddressNotice& /*notice*/) override {}
};

class NobodyKeeps : public OutputPort {
 public:
  void Write(PageResult& /*result*/, FetchLine&& /*about*/) override {}
};

}  // namespace

Result<Manifest> Recover(Env& env, const EngineOptions& options) {
  const std::string_view keep[] = {kStateLock};
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.state_dir, keep));
  OutputsOptions outputs = options.outputs;
  outputs.threads = false;
  RETURN_IF_ERROR(Outputs::Open(env, Clock::Real(), manifest, outputs));
  return manifest;
}

Status OpenShardsAlone(Env& env, const Manifest& manifest, const EngineOptions& options,
                       const std::function<void(const Shard&)>& look) {
  NobodyFetches fetches;
  NobodyElse nobody_else;
  NobodyKeeps keeps;
  WorkerPool rounds(1, "merge");  // an interrupted round begins again, and fails at the dry run's bound
  const Moment now{Clock::Real().NowNs(), Clock::Real().UnixNs()};
  ShardOptions shard_options = options.shard;
  ASSIGN_OR_RETURN(shard_options.key, HashKeyStore::ReadOr(manifest, shard_options.key));
  ASSIGN_OR_RETURN(const uint32_t had, Shard::CountIn(manifest));
  const uint32_t shards = had > 0 ? had : options.shards;
  ASSIGN_OR_RETURN(const std::optional<Shard::Place> place, Shard::AloneIn(manifest));
  if (place) {
    shard_options.alone = true;
    shard_options.shard = place->shard;
    shard_options.shards = place->shards;
  }
  const bool has_others = shards > 1 || (place && place->shards > 1);
  const ShardPorts ports{fetches, keeps, has_others ? &nobody_else : nullptr};
  for (uint32_t i = 0; i < shards; ++i) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Shard> shard,
                     Shard::Open(env, manifest, rounds, ports, ShareOf(shard_options, i, shards), now));
    if (look) look(*shard);
  }
  return {};
}

Status CheckBeforeRecovery(Env& env, const EngineOptions& options) {
  DryRunEnv dry(env);
  ASSIGN_OR_RETURN(const Manifest manifest, Recover(dry, options));
  if (manifest.sequence() == 0) return {};                      // a new crawl
  if (dry.Cuts().empty() && dry.Removals().empty()) return {};  // recovery changes nothing, so nothing can be lost
  uint64_t bytes = 0;
  for (const ManifestSection& section : manifest.sections()) {
    for (const ManifestSection::FileEntry& file : section.files) bytes += file.length;
  }
  if (bytes >= kTakesLong) {
    Log(LogLevel::kInfo, "the crawl was interrupted: reading its state before anything is cut",
        {{"state", FormatBytes(bytes)}});
  }
  for (const ManifestSection& section : manifest.sections()) {
    for (const ManifestSection::FileEntry& file : section.files) {
      RETURN_IF_ERROR(CheckFile(dry, JoinPath(manifest.dir(), file.name)));
    }
  }
  return OpenShardsAlone(dry, manifest, options, {});
}

}  // namespace portolan
