#include "cli/crawl_session.h"

#include <fmt/core.h>

#include <functional>
#include <memory>

#include "base/log.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/crawl_flags.h"
#include "cli/engine_setup.h"
#include "cli/live_display.h"
#include "cli/seed_writing.h"
#include "cli/verb_app.h"
#include "cluster/shard_place.h"
#include "crawl/engine.h"
#include "io/env.h"
#include "io/process.h"
#include "io/stop_signals.h"

namespace portolan {
namespace {

constexpr double kStatusEvery = 2;  // seconds between two status files

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
  if (Env::Posix().Exists(JoinPath(options.dir, kShardMark))) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: is one shard of a cluster: 'portolan node' continues it", options.dir));
  }
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
  ASSIGN_OR_RETURN(EngineOptions engine_options, SetUpEngine(config, options.dir, PORTOLAN_VERSION));
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
