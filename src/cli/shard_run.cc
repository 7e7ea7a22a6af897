#include "cli/shard_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "cli/crawl_place.h"
#include "cli/status_file.h"
#include "cluster/node_exchange.h"
#include "cluster/seed_stream.h"
#include "crawl/engine.h"
#include "crawl/phase_plan.h"
#include "crawl/seed_list.h"
#include "crawl/url_owner.h"
#include "io/process.h"
#include "url/link.h"

namespace portolan {
namespace {

constexpr int64_t kAskedInALease = 8;    // questions for an address, without an answer, while a lease would last
constexpr double kShardStatusEvery = 2;  // seconds between two status files
constexpr uint64_t kLeastWindow = uint64_t{64} << 10;
constexpr uint64_t kMostWindow = uint64_t{2} << 20;

}  // namespace

std::unique_ptr<ShardRun> ShardRun::Start(ShardRunOptions options) {
  std::unique_ptr<ShardRun> run(new ShardRun(std::move(options)));
  run->thread_ = std::thread([raw = run.get()] {
    NameThread(fmt::format("engine-{}", raw->options_.shard));
    raw->end_ = raw->Run();
    raw->ended_ = true;
    if (raw->options_.on_end) raw->options_.on_end();
  });
  return run;
}

ShardRun::~ShardRun() {
  Abandon(Error(ErrorCode::kClosed, "the program ends"));
  thread_.join();
}

std::optional<CrawlProgress> ShardRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::optional<ClusterExchange::Counters> ShardRun::counters() const {
  const std::lock_guard lock(mutex_);
  if (const auto exchange = exchange_.lock()) return exchange->counters();
  return last_counters_;
}

std::string ShardRun::Trouble() const {
  const std::lock_guard lock(mutex_);
  if (const auto exchange = exchange_.lock()) return exchange->Trouble();
  return {};
}

Result<SessionEnd> ShardRun::TakeEnd() {
  Result<SessionEnd> end = *std::move(end_);
  return end;
}

// The links on their way take a part of the memory that answers would have otherwise.
AloneOptions ShardRun::MakeAlone() {
  const uint64_t others = std::max<uint64_t>(1, options_.settings->shards - 1);
  const uint64_t window = std::clamp(options_.config.memory.total.bytes / 16 / others, kLeastWindow, kMostWindow);
  NodeExchangeOptions exchange{.nats = options_.nats,
                               .exchange = {.cluster = options_.cluster,
                                            .cluster_id = options_.cluster_id,
                                            .shards = options_.settings->shards,
                                            .shard = options_.shard,
                                            .epoch = options_.epoch,
                                            .out_bytes = window / 2,
                                            .window_bytes = window,
                                            .held = options_.held,
                                            .copied = [this] { return Copied(); }}};
  if (options_.config.crawl.partition == Partition::kPhase) {
    const PhasePlan plan = PhasePlan::Of(options_.config);
    exchange.exchange.phase_clock = {
        .allowed_ns = plan.clock_error_ns, .trust_ns = plan.trust_ns, .settle_ns = plan.settle_ns};
  }
  AloneOptions alone;
  alone.place = {.shard = options_.shard, .shards = options_.settings->shards};
  alone.may_act = options_.held;
  alone.make_exchange = [this, exchange](const AloneOptions::Parts& parts) -> Result<std::shared_ptr<ShardExchange>> {
    ASSIGN_OR_RETURN(const NodeExchange opened,
                     OpenNodeExchange(parts.env, parts.manifest, exchange, {parts.wake_shard, parts.wake_driver}));
    const std::lock_guard lock(mutex_);
    exchange_ = opened.view;
    return opened.engine;
  };
  return alone;
}

Status ShardRun::StartGiver(const EngineOptions& engine) {
  ShardGiverOptions options{.nats = options_.nats,
                            .cluster = options_.cluster,
                            .shard = options_.shard,
                            .files = options_.history,
                            .places = PlacesOf(engine),
                            .held = options_.held};
  options.nats.name += " files";
  ASSIGN_OR_RETURN(auto giver, ShardGiver::Start(options));
  const std::lock_guard lock(mutex_);
  giver_ = std::move(giver);
  giver_->WaitForCopy(copy_waits_);
  return {};
}

void ShardRun::WaitForCopy(bool wait) {
  const std::lock_guard lock(mutex_);
  copy_waits_ = wait;
  if (giver_) giver_->WaitForCopy(wait);
}

std::optional<CopiedCheckpoint> ShardRun::Copied() const {
  const std::lock_guard lock(mutex_);
  return giver_ ? giver_->copied() : std::nullopt;
}

Status ShardRun::WriteOwnSeeds(const EngineOptions& engine) {
  const ClusterSettings& settings = *options_.settings;
  ASSIGN_OR_RETURN(UrlOwner owner,
                   UrlOwner::Create(settings.key, {.shards = settings.shards,
                                                   .by_phases = options_.config.crawl.partition == Partition::kPhase}));
  ASSIGN_OR_RETURN(SeedWriter writer, SeedWriter::Open(Env::Posix(), engine.state_dir, settings.key));
  const bool listed = settings.seeds > 0;
  // The scope of a shard asks for any host whether it is a seed's, unless it takes all of them.
  const bool all_names = options_.config.scope.mode != ScopeMode::kAny;
  const auto take = [&](std::string_view url) -> Status {
    const bool own = owner.Of(url) == options_.shard;
    if (own) RETURN_IF_ERROR(writer.Offer(url));
    if (listed && (own || all_names)) RETURN_IF_ERROR(writer.Keep(url));
    if (stopper_.stopped()) return Fail(ErrorCode::kClosed, "stopped while the seeds were read");
    return {};
  };
  if (listed) {
    ASSIGN_OR_RETURN(const auto connection, NatsConnection::Connect(options_.nats, Clock::Real()));
    RETURN_IF_ERROR(ForEachSeed(*connection, options_.cluster, settings.seeds, take));
  } else {
    for (const std::string& seed : options_.config.crawl.seeds) RETURN_IF_ERROR(take(seed));
  }
  return writer.Finish();
}

Result<SessionEnd> ShardRun::Run() {
  ASSIGN_OR_RETURN(EngineOptions engine_options,
                   SetUpEngine(options_.config, options_.dir, options_.version, options_.engines));
  engine_options.locked = true;
  engine_options.shards = 1;
  engine_options.key = options_.settings->key;
  engine_options.alone = MakeAlone();
  engine_options.shard.frontier.epoch = options_.epoch;
  engine_options.shard.frontier.lease_ns = options_.settings->lease_ms * kMillisecond;
  // No request lasts longer than its limit: so much sooner may others use an address whose owner, or user, has died.
  int64_t& hold_ns = engine_options.shard.frontier.politeness.ip_hold_max_ns;
  hold_ns = std::min(hold_ns, engine_options.fetch.limits.total_ns + kSecond);
  engine_options.shard.frontier.lease_retry_ns = engine_options.shard.frontier.lease_ns / kAskedInALease;
  const bool goes_on = HoldsCrawl(options_.dir) && HasManifest(engine_options.state_dir);
  ASSIGN_OR_RETURN(CrawlPlace place,
                   goes_on ? CrawlPlace::GoOn(options_.dir, engine_options) : CrawlPlace::Begin(options_.dir));
  if (!goes_on) RETURN_IF_ERROR(WriteOwnSeeds(engine_options));
  RETURN_IF_ERROR(place.WriteSettings(options_.config));
  if (goes_on) LookAtArchive(engine_options);

  const std::string status_path = JoinPath(options_.dir, kStatusFile);
  RETURN_IF_ERROR(StartGiver(engine_options));
  auto opened = Engine::Open(giver_->env(), engine_options);
  if (!opened) return std::unexpected(std::move(opened).error());
  std::unique_ptr<Engine> engine = *std::move(opened);
  stopper_.SetRunning(engine.get());
  double status_at = -kShardStatusEvery;
  auto end = engine->Run([&](const CrawlProgress& progress) {
    {
      const std::lock_guard lock(mutex_);
      progress_ = progress;
    }
    if (progress.session_seconds - status_at < kShardStatusEvery) return;
    status_at = progress.session_seconds;
    WriteStatus(status_path, progress);
  });
  stopper_.SetRunning(nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (const auto exchange = exchange_.lock()) last_counters_ = exchange->counters();
  }
  if (end) {
    WriteStatus(status_path, *end);
    return SessionEnd{*std::move(end), std::string(engine->limit_reached())};
  }
  engine.reset();
  if (end.error().code() == ErrorCode::kNoSpace && !stopper_.stopped()) {
    Log(LogLevel::kWarn, "the disk is full: back to the last checkpoint", {{"why", end.error().message()}});
    WaitForMoreRoom(engine_options, stopper_, [this](std::string state) {
      const std::lock_guard lock(mutex_);
      if (progress_) progress_->state = std::move(state);
    });
  }
  return std::unexpected(std::move(end).error());
}

}  // namespace portolan
