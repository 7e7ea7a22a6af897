#include "crawl/recovery.h"

#include <memory>

#include "base/log.h"
#include "base/units.h"
#include "crawl/hash_key_store.h"
#include "crawl/shard.h"
#include "disk/inspect.h"
#include "io/clock.h"
#include "io/dry_run_env.h"
#include "io/executor.h"
#include "outputs/outputs.h"

namespace portolan {
namespace {

constexpr uint64_t kTakesLong = uint64_t{1} << 30;  // bytes of state whose reading somebody may wonder about

class NobodyFetches : public FetchPort {
 public:
  void Fetch(FetchTask&& /*task*/) override {}
  void Resolve(ResolveTask&& /*task*/) override {}
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

Status OpenShardAlone(Env& env, const Manifest& manifest, const EngineOptions& options,
                      const std::function<void(const Shard&)>& look) {
  NobodyFetches fetches;
  NobodyKeeps keeps;
  WorkerPool rounds(1, "merge");  // a round that was under way begins anew, and fails at the dry run's bound
  const Moment now{Clock::Real().NowNs(), Clock::Real().UnixNs()};
  ShardOptions shard_options = options.shard;
  ASSIGN_OR_RETURN(shard_options.key, HashKeyStore::ReadOr(manifest, shard_options.key));
  ASSIGN_OR_RETURN(const std::unique_ptr<Shard> shard,
                   Shard::Open(env, manifest, rounds, fetches, keeps, shard_options, now));
  if (look) look(*shard);
  return {};
}

Status CheckBeforeRecovery(Env& env, const EngineOptions& options) {
  DryRunEnv dry(env);
  ASSIGN_OR_RETURN(const Manifest manifest, Recover(dry, options));
  if (manifest.sequence() == 0) return {};                      // from nothing
  if (dry.Cuts().empty() && dry.Removals().empty()) return {};  // whatever is found later, nothing will have been lost
  uint64_t bytes = 0;
  for (const ManifestSection& section : manifest.sections()) {
    for (const ManifestSection::FileEntry& file : section.files) bytes += file.length;
  }
  if (bytes >= kTakesLong) {
    Log(LogLevel::kInfo, "the crawl broke off: its state is read before anything is cut",
        {{"state", FormatBytes(bytes)}});
  }
  for (const ManifestSection& section : manifest.sections()) {
    for (const ManifestSection::FileEntry& file : section.files) {
      RETURN_IF_ERROR(CheckFile(dry, JoinPath(manifest.dir(), file.name)));
    }
  }
  return OpenShardAlone(dry, manifest, options, {});
}

}  // namespace portolan
