#include "cli/engine_setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "cli/limits.h"
#include "crawl/rule_files.h"
#include "crawl/wiring.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "io/process.h"
#include "outputs/finished_files.h"

namespace portolan {
namespace {

// At most a part of the space that is free when the crawl begins, so that small disks can be used, too.
uint64_t ReserveOf(const EngineOptions& options) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  constexpr uint64_t kMost = uint64_t{256} << 20;
  uint64_t reserve = kMost;
  std::vector<std::string> dirs = options.outputs.Directories();
  dirs.push_back(options.state_dir);
  for (std::string dir : dirs) {
    while (!dir.empty() && !Env::Posix().Exists(dir)) dir = DirName(dir) == dir ? "" : DirName(dir);
    const auto room = Env::Posix().FreeSpace(dir.empty() ? "." : dir);
    if (room) reserve = std::min(reserve, *room / 8);
  }
  return std::max(reserve, kLeast);
}

// Warns where memory.total reduces other settings (MemoryPlan) below what was asked for.
void SayWhatMemoryAllows(const Config& config, const EngineOptions& options) {
  const uint64_t memory = config.memory.total.bytes;
  if (const size_t wanted = LoopsOf(config); config.fetch.loops > 0 && options.fetch.loops < wanted) {
    Log(LogLevel::kWarn, "fewer fetch threads: memory.total has no room for more",
        {{"loops", options.fetch.loops}, {"wanted", wanted}, {"memory", FormatBytes(memory)}});
  }
  if (const uint64_t wanted = config.fetch.max_body.bytes; options.fetch.limits.max_body < wanted) {
    Log(LogLevel::kWarn, "bodies are cut earlier: memory.total has no room for larger ones",
        {{"max_body", FormatBytes(options.fetch.limits.max_body)},
         {"wanted", FormatBytes(wanted)},
         {"memory", FormatBytes(memory)}});
  }
}

}  // namespace

Error AtCheckpoint(const Error& error, const std::string& dir) {
  std::string limit;
  if (error.message().find("Too many open files") != std::string::npos) {
    limit = fmt::format(" (at most {}: ulimit -n; fewer --connections leave more for the crawl's own files)",
                        RaiseDescriptorLimit());
  }
  return Error(error.code(),
               fmt::format("{}{}. The last checkpoint is intact: 'portolan resume {}' continues from there",
                           error.message(), limit, dir));
}

Result<uint64_t> MemoryFor(const Config& config) {
  const uint64_t limit = MemoryLimit("");
  const uint64_t safe = SafeMemory(limit);
  const uint64_t wanted = config.memory.total.bytes;
  if (limit == 0 || wanted <= safe) return wanted;
  if (wanted != ForProfile(config.crawl.profile).memory.total.bytes && wanted > limit) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("memory.total: {} are more than the {} that this process may use (RAM, or memory.max of its "
                    "control group): at most {} are wise",
                    FormatBytes(wanted), FormatBytes(limit), FormatBytes(safe)));
  }
  if (wanted != ForProfile(config.crawl.profile).memory.total.bytes) {
    Log(LogLevel::kWarn, "memory.total leaves little for the page cache",
        {{"memory", FormatBytes(wanted)}, {"allowed", FormatBytes(limit)}, {"wise", FormatBytes(safe)}});
    return wanted;
  }
  constexpr uint64_t kLeast = uint64_t{128} << 20;
  Log(LogLevel::kWarn, "less memory than usual: this process may use little",
      {{"memory", FormatBytes(std::max(safe, kLeast))}, {"allowed", FormatBytes(limit)}});
  return std::max(safe, kLeast);
}

Result<EngineOptions> SetUpEngine(const Config& asked, const std::string& dir, const std::string& version,
                                  uint64_t engines) {
  Config config = asked;
  const uint64_t descriptors = RaiseDescriptorLimit() / engines;
  const uint64_t wanted = config.fetch.connections;
  const ConnectionPlan plan =
      PlanConnections(descriptors, wanted, LoopsOf(config), config.budget.enabled ? config.budget.queues : 0);
  if (plan.connections == 0 && wanted > 0) {
    return Fail(ErrorCode::kIo, fmt::format("the system allows {} open files (ulimit -n), a crawl needs more than {}",
                                            descriptors, kDescriptorsForFiles));
  }
  config.fetch.connections = plan.connections;
  ASSIGN_OR_RETURN(config.memory.total.bytes, MemoryFor(config));
  ASSIGN_OR_RETURN(LoadedRules rules, LoadRules(Env::Posix(), config));
  ASSIGN_OR_RETURN(EngineOptions options, WireCrawl(config, dir, config.crawl.seeds, version));
  options.shard.scope.rules = std::move(rules.rules);
  options.shard.scope.blocked = rules.blocked.list;
  options.blocked = std::move(rules.blocked);
  SayWhatMemoryAllows(config, options);
  options.fetch.idle_connections = plan.idle;
  options.fetch.dns.max_outstanding = plan.questions;
  if (plan.connections < wanted) {
    Log(LogLevel::kWarn, "fewer connections: the system allows few open files (ulimit -n)",
        {{"connections", plan.connections}, {"open_files", descriptors}});
  }
  options.reserve_bytes = ReserveOf(options);
  return options;
}

bool WaitForMoreRoom(const EngineOptions& options, Stopper& stopper, const std::function<void(std::string)>& tell) {
  const std::string& dir = options.state_dir;
  const std::string_view keep[] = {kStateLock};
  static_cast<void>(
      Manifest::Open(Env::Posix(), dir, keep));  // first removes what no checkpoint names, which frees space, too
  const uint64_t room = Env::Posix().FreeSpace(dir).value_or(0);
  const uint64_t wanted = room + std::max(options.reserve_bytes, room / 8);
  Log(LogLevel::kWarn, "waiting for more room on the disk",
      {{"free", FormatBytes(room)}, {"wanted", FormatBytes(wanted)}});
  tell(fmt::format("paused: disk full: {} has {} free, {} are wanted", dir, FormatBytes(room), FormatBytes(wanted)));
  while (Env::Posix().FreeSpace(dir).value_or(0) < wanted) {
    if (stopper.WaitFor(std::chrono::nanoseconds(options.retry_ns))) return false;
  }
  Log(LogLevel::kInfo, "there is room again: going on", {});
  return !stopper.stopped();
}

void LookAtArchive(const EngineOptions& options) {
  for (const std::string& what :
       DamageOfFinished(Env::Posix(), options.outputs.warc.directories, options.outputs.warc.files.prefix)) {
    Log(LogLevel::kWarn, "a finished WARC file is damaged ('portolan check' says more): continuing without it",
        {{"what", what}});
  }
}

}  // namespace portolan
