#include "cli/crawl_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "base/log.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/crawl_flags.h"
#include "cli/limits.h"
#include "cli/live_display.h"
#include "cli/seed_writing.h"
#include "cli/verb_app.h"
#include "crawl/engine.h"
#include "crawl/rule_files.h"
#include "crawl/wiring.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "io/process.h"
#include "io/stop_signals.h"
#include "outputs/finished_files.h"

namespace portolan {
namespace {

constexpr double kStatusEvery = 2;  // seconds between two status files

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

// Adds to an error that ended a crawl what the user can do.
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

// The crawl's memory on this machine: if there is less, a default is reduced, but an explicit value is refused.
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

// Passes a request to stop to the running engine. Thread: any.
class Stopper {
 public:
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->RequestStop();
    changed_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void SetRunning(Engine* engine) {
    const std::lock_guard lock(mutex_);
    running_ = engine;
    if (stopped_ && engine != nullptr) engine->RequestStop();
  }
  // True when stopped.
  bool WaitFor(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return stopped_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;       // guarded by mutex_
  Engine* running_ = nullptr;  // guarded by mutex_
};

// A structure filled the disk in the middle of its work, although more than the reserve was free: a merge needs as much
// space as its table. The crawl is back at its last checkpoint and would fail in the same way, after fetching the same
// pages again. So it waits for more free space than there is now. False: a stop was requested.
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

// Finished WARC files never change again, so nothing else checks them, and damage by a disk or a copy would be found
// too late. The crawl does not need them and continues.
void LookAtArchive(const EngineOptions& options) {
  for (const std::string& what :
       DamageOfFinished(Env::Posix(), options.outputs.warc.directories, options.outputs.warc.files.prefix)) {
    Log(LogLevel::kWarn, "a finished WARC file is damaged ('portolan check' says more): continuing without it",
        {{"what", what}});
  }
}

// One session from opening its place to its end. It may use several engines: a full disk sends it back to its
// checkpoint.
class Session {
 public:
  Session(const SessionOptions& options, Config& config, const EngineOptions& engine_options, CrawlPlace& place,
          Stopper& stopper)
      : options_(options),
        config_(config),
        engine_options_(engine_options),
        place_(place),
        stopper_(stopper),
        status_path_(JoinPath(options.dir, kStatusFile)),
        is_crawl_(options.resume) {}

  Result<SessionEnd> Run() {
    RETURN_IF_ERROR(TakeSeeds());
    if (!options_.resume) RETURN_IF_ERROR(place_.WriteSettings(config_));
    for (;;) {
      auto end = RunEngine();
      if (end || !is_crawl_) return end;
      if (end.error().code() != ErrorCode::kNoSpace || stopper_.stopped()) {
        const bool disk = end.error().code() == ErrorCode::kNoSpace || end.error().code() == ErrorCode::kIo ||
                          end.error().code() == ErrorCode::kReadOnly;
        return std::unexpected(disk ? AtCheckpoint(end.error(), options_.dir) : std::move(end).error());
      }
      Log(LogLevel::kWarn, "the disk is full: back to the last checkpoint", {{"why", end.error().message()}});
      const auto tell = [this](std::string state) {
        last_.state = std::move(state);
        WriteStatus(status_path_, last_);
      };
      if (!WaitForMoreRoom(engine_options_, stopper_, tell)) {
        return std::unexpected(AtCheckpoint(end.error(), options_.dir));
      }
    }
  }

 private:
  Status TakeSeeds() {
    GivenSeeds given = options_.given;
    if (options_.resume && !engine_options_.seed_list && !HasManifest(engine_options_.state_dir)) {
      given.first = config_.crawl.seeds;  // its state is gone, and there was nothing else: start from the beginning
    }
    const SeedWriting how{.goes_on = options_.resume,
                          .list = engine_options_.seed_list,
                          .listed_before = options_.listed_before,
                          .stopped = [this] { return stopper_.stopped(); }};
    ASSIGN_OR_RETURN(const uint64_t listed, WriteSeeds(engine_options_, given, how));
    if (!how.list || listed == 0) return {};
    config_.crawl.seed_list = fmt::format("{} seeds from {}", listed, given.from);
    seeds_changed_ = true;
    return {};
  }

  // Runs from the checkpoint, or from nothing, to the end or an error.
  Result<SessionEnd> RunEngine() {
    ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, Engine::Open(Env::Posix(), engine_options_));
    if (options_.resume && !opened_) {
      if (options_.settings_changed || seeds_changed_) RETURN_IF_ERROR(place_.WriteSettings(config_));
      LookAtArchive(engine_options_);
    }
    opened_ = true;
    stopper_.SetRunning(engine.get());
    LiveDisplay display(LiveDisplay::Choose(options_.quiet));
    double status_at = -kStatusEvery;
    auto end = engine->Run([&](const CrawlProgress& progress) {
      is_crawl_ = true;  // it has its first checkpoint
      last_ = progress;
      display.Show(progress);
      if (progress.session_seconds - status_at < kStatusEvery) return;
      status_at = progress.session_seconds;
      WriteStatus(status_path_, progress);
    });
    stopper_.SetRunning(nullptr);
    if (!end) return std::unexpected(std::move(end).error());
    display.End(*end);
    WriteStatus(status_path_, *end);
    return SessionEnd{*std::move(end), std::string(engine->limit_reached())};
  }

  const SessionOptions& options_;
  Config& config_;
  const EngineOptions& engine_options_;
  CrawlPlace& place_;
  Stopper& stopper_;
  const std::string status_path_;
  bool is_crawl_;        // there is something to continue
  bool opened_ = false;  // an engine was opened before
  bool seeds_changed_ = false;
  CrawlProgress last_;  // the progress that was shown last
};

}  // namespace

Result<SessionEnd> RunCrawlSession(const SessionOptions& options) {
  Config config = options.config;
  const bool many = options.given.more != nullptr;
  if (!options.resume) {
    if (options.given.first.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "no seeds: name a URL, or a file with --seeds");
    }
    config.crawl.seeds = many ? Config::Words() : options.given.first;
  }
  // How many there are is known when they are read.
  if ((many || options.seed_list) && config.crawl.seed_list.empty()) config.crawl.seed_list = options.given.from;
  RETURN_IF_ERROR(ValidateConfig(config));  // as it was asked for, before this machine's limits change it
  WarnOfIgnoredProxy(config);
  const uint64_t descriptors = RaiseDescriptorLimit();
  const ConnectionPlan plan = PlanConnections(descriptors, config.fetch.connections, LoopsOf(config),
                                              config.budget.enabled ? config.budget.queues : 0);
  if (plan.connections == 0 && config.fetch.connections > 0) {
    return Fail(ErrorCode::kIo, fmt::format("the system allows {} open files (ulimit -n), a crawl needs more than {}",
                                            descriptors, kDescriptorsForFiles));
  }
  const uint64_t wanted = config.fetch.connections;
  config.fetch.connections = plan.connections;
  ASSIGN_OR_RETURN(const uint64_t memory, MemoryFor(options.config));
  config.memory.total.bytes = memory;
  ASSIGN_OR_RETURN(LoadedRules rules, LoadRules(Env::Posix(), config));
  ASSIGN_OR_RETURN(EngineOptions engine_options, WireCrawl(config, options.dir, config.crawl.seeds, PORTOLAN_VERSION));
  engine_options.shard.scope.rules = std::move(rules.rules);
  engine_options.shard.scope.blocked = rules.blocked.list;
  engine_options.blocked = std::move(rules.blocked);
  SayWhatMemoryAllows(config, engine_options);
  engine_options.fetch.idle_connections = plan.idle;
  engine_options.fetch.dns.max_outstanding = plan.questions;
  // This machine's limits are not stored in the crawl's settings: another machine may have more.
  config.fetch.connections = wanted;
  config.memory = options.config.memory;
  if (plan.connections < wanted) {
    Log(LogLevel::kWarn, "fewer connections: the system allows few open files (ulimit -n)",
        {{"connections", plan.connections}, {"open_files", descriptors}});
  }
  engine_options.reserve_bytes = ReserveOf(engine_options);

  engine_options.locked = true;

  MakeWritesFailQuietly();
  KeepMallocSmall();
  ASSIGN_OR_RETURN(CrawlPlace place,
                   options.resume ? CrawlPlace::GoOn(options.dir, engine_options) : CrawlPlace::Begin(options.dir));
  // Made before the engine, so that the engine's threads inherit the blocked signals; it learns of the engine later.
  Stopper stopper;
  const StopSignals signals([&stopper](int /*request*/) { stopper.Stop(); });
  Session session(options, config, engine_options, place, stopper);
  ASSIGN_OR_RETURN(SessionEnd end, session.Run());
  if (options.summary) {
    CrawlSummary summary{.dir = options.dir, .progress = end.progress, .limit = end.limit, .failures = {}};
    if (end.fruitless()) {
      const bool listed = config.crawl.seeds.empty();
      summary.failures = WhySeedsFailed(options.dir, config, listed ? options.given.first : config.crawl.seeds,
                                        end.progress.counts.seeds);
    }
    PrintSummary(summary, config, options.json);
  }
  return end;
}

int RunCrawlVerb(const SessionOptions& options) {
  const auto end = RunCrawlSession(options);
  if (!end) return Complain(end.error());
  return end->fruitless() ? kExitVerdict : kExitOk;
}

}  // namespace portolan
