#include "cli/node_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cli/cluster_work.h"
#include "cli/engine_setup.h"
#include "cli/live_display.h"
#include "cli/nats_flags.h"
#include "cli/node_copies.h"
#include "cli/node_identity.h"
#include "cli/progress_sum.h"
#include "cli/shard_giver.h"
#include "cli/shard_run.h"
#include "cli/shard_status.h"
#include "cli/stop_request.h"
#include "cluster/node_record.h"
#include "cluster/shard_leases.h"
#include "cluster/shard_place.h"
#include "crawl/wiring.h"
#include "io/process.h"
#include "io/rng.h"
#include "io/stop_signals.h"
#include "standby/copy_mark.h"

namespace portolan {
namespace {

constexpr int64_t kStepNs = 100 * kMillisecond;         // between two looks at the engines
constexpr int64_t kGiveBackNs = 20 * kMillisecond;      // between two looks whether leases are given back
constexpr int64_t kLookNs = kSecond;                    // between two looks at the bucket
constexpr int64_t kStatusNs = 2 * kSecond;              // between two reports of a shard
constexpr int64_t kAgainNs = 2 * kSecond;               // before a shard that broke off is claimed anew
constexpr uint64_t kLeastMemory = uint64_t{128} << 20;  // of an engine

class NodeSession {
 public:
  NodeSession(const NodeSessionOptions& options, StopRequest& stop) : options_(options), stop_(stop) {}

  Status Open();
  Result<NodeEnd> Run();
  void OnStop();  // from the signals' thread

 private:
  struct Shard {
    std::unique_ptr<ShardRun> run;  // null: none runs
    uint64_t used_epoch = 0;        // an epoch has one engine
    std::optional<PlaceRecord> place;
    uint64_t place_revision = 0;
    bool looked = false;  // place is known
    bool wanted = false;
    // The files of a shard that was stopped here and moves away.
    std::unique_ptr<ShardGiver> giving;
    Beats copy_beats;      // of the node that copies the shard
    bool leaving = false;  // its engine ends because it moves to another node
    int64_t not_before_ns = 0;
    int64_t status_at_ns = 0;
    ClaimWish told = ClaimWish::kClaim;  // what the operator was told last
  };

  Status SetConfig();
  void LookAtBucket();
  void LookAtPlace(uint32_t shard);
  void LookAtCopies(uint32_t shard);
  ShardPlace As(uint32_t shard, uint64_t files) const;
  Result<std::optional<ShardPlace>> Here(uint32_t shard) const;
  Status GiveAway(uint32_t shard);
  void SayWish(uint32_t shard, ClaimWish wish);
  Status Obey();
  Status StartAndEnd();
  Status Begin(uint32_t shard, uint64_t epoch);
  Status TakePlace(uint32_t shard);
  Status OnEnd(uint32_t shard);
  Status Leave(uint32_t shard);
  void Want(uint32_t shard, bool wanted);
  void GiveBack(uint32_t shard);
  void Report(uint32_t index);
  void ReportDue();
  Status WritePlace(uint32_t shard, const PlaceRecord& record);
  std::string DirOf(uint32_t shard) const { return JoinPath(options_.dir, ShardDirName(shard)); }
  int64_t Now() const { return Clock::Real().NowNs(); }
  bool AllDone() const {
    return std::ranges::all_of(shards_, [](const Shard& shard) { return shard.place && shard.place->done; });
  }
  size_t Running() const {
    return static_cast<size_t>(std::ranges::count_if(shards_, [](const Shard& shard) { return shard.run != nullptr; }));
  }
  CrawlProgress Sum() const;

  const NodeSessionOptions& options_;
  StopRequest& stop_;
  Alarm alarm_;  // wakes the loop
  OpenCluster cluster_;
  Config config_;  // of each shard
  uint32_t capacity_ = 1;
  std::unique_ptr<NodeIdentity> identity_;
  std::unique_ptr<NatsConnection> lease_connection_;
  std::unique_ptr<ShardLeases> leases_;
  std::unique_ptr<NodeCopies> copies_;
  std::mutex mutex_;  // guards shards_[i].run against OnStop
  std::vector<Shard> shards_;
  ControlRecord control_;
  bool stopping_ = false;
  std::string why_;
  bool away_told_ = false;
  int64_t look_at_ns_ = 0;
  int64_t beat_at_ns_ = 0;
  int64_t began_ns_ = 0;
  CrawlProgress past_;  // of engines that ended
};

// What each engine of this node gets.
Status NodeSession::SetConfig() {
  ASSIGN_OR_RETURN(config_, ConfigOfCluster(cluster_.settings));
  for (const auto& [name, value] :
       {std::pair("memory.total", &options_.memory), std::pair("fetch.connections", &options_.connections),
        std::pair("fetch.loops", &options_.loops)}) {
    if (*value) RETURN_IF_ERROR(portolan::SetConfig(config_, name, **value));
  }
  RETURN_IF_ERROR(CheckRulesFile(cluster_.settings, config_));
  const uint32_t nodes = std::max(1U, cluster_.settings.nodes);
  const uint32_t share = (cluster_.settings.shards + nodes - 1) / nodes;
  capacity_ = std::min(options_.capacity > 0 ? options_.capacity : share, cluster_.settings.shards);
  ASSIGN_OR_RETURN(const uint64_t memory, MemoryFor(config_));
  if (memory / capacity_ < kLeastMemory) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("this node may hold {} shards, which need {}M of memory each: give it more --memory, or a "
                            "smaller --capacity",
                            capacity_, kLeastMemory >> 20));
  }
  config_.memory.total.bytes = memory / capacity_;
  config_.fetch.connections = std::max<uint64_t>(1, config_.fetch.connections / capacity_);
  config_.fetch.loops = std::max<uint64_t>(1, LoopsOf(config_) / capacity_);
  return {};
}

Status NodeSession::Open() {
  ASSIGN_OR_RETURN(cluster_, OpenClusterOf(options_.nats, options_.cluster, options_.version, &stop_));
  RETURN_IF_ERROR(SetConfig());
  LeaseOptions leases{.shards = cluster_.settings.shards, .capacity = capacity_};
  SetLeaseTimes(cluster_.settings.lease_ms, leases);
  ASSIGN_OR_RETURN(identity_, NodeIdentity::Take({.dir = options_.dir,
                                                  .name = options_.name,
                                                  .version = options_.version,
                                                  .capacity = capacity_,
                                                  .watch_ns = leases.hold_ns + leases.hold_ns / 2,
                                                  .stop = &stop_},
                                                 *cluster_.store));
  leases.node = identity_->name();
  leases.holder = identity_->process();
  leases.dead_holder = identity_->dead_process();
  leases.wants_all = false;
  ASSIGN_OR_RETURN(lease_connection_, ConnectToNats(options_.nats, &stop_));
  ASSIGN_OR_RETURN(auto store, ClusterStore::Open(*lease_connection_, options_.cluster));
  if (store->id() != cluster_.store->id()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("cluster {}: was made anew just now", options_.cluster));
  }
  shards_ = std::vector<Shard>(cluster_.settings.shards);
  copies_ = std::make_unique<NodeCopies>(NodeCopiesOptions{
      .cluster = options_.cluster,
      .cluster_id = cluster_.store->id(),
      .shards = cluster_.settings.shards,
      .node = identity_->name(),
      .nats = options_.nats,
      .most = options_.copies,
      .takeover_ns = cluster_.settings.takeover_ms * kMillisecond,
      .dir = [this](uint32_t shard) { return DirOf(shard); },
      .config = [this](uint32_t shard) { return ConfigOfShard(config_, shard); },
      .places = [this](uint32_t shard) -> Result<CrawlPlaces> {
        ASSIGN_OR_RETURN(const EngineOptions engine,
                         WireCrawl(ConfigOfShard(config_, shard), DirOf(shard), {}, options_.version));
        return PlacesOf(engine);
      }});
  leases_ = std::make_unique<ShardLeases>(leases, std::move(store), Clock::Real());
  Log(LogLevel::kInfo, "node",
      {{"cluster", options_.cluster},
       {"name", identity_->name()},
       {"shards", cluster_.settings.shards},
       {"capacity", capacity_}});
  return {};
}

void NodeSession::OnStop() {
  const std::lock_guard lock(mutex_);
  for (const Shard& shard : shards_) {
    if (shard.run) shard.run->RequestStop();
  }
  alarm_.Ring();
}

// ---- the bucket

void NodeSession::LookAtPlace(uint32_t index) {
  Shard& shard = shards_[index];
  const auto entry = cluster_.store->Read(PlaceKey(index));
  if (!entry && entry.error().code() != ErrorCode::kNotFound) return;
  shard.place_revision = entry ? entry->revision : 0;
  shard.place = entry ? DecodePlace(entry->value) : std::nullopt;
  // What cannot be read is left alone.
  shard.looked = !entry || shard.place.has_value();
}

void NodeSession::LookAtBucket() {
  const NatsStatus status = cluster_.connection->status();
  if (status.state == NatsState::kAway) {
    if (!std::exchange(away_told_, true)) {
      Log(LogLevel::kWarn, "NATS is away: going on as long as the leases last, and waiting for it",
          {{"why", status.reason}});
    }
    return;
  }
  if (std::exchange(away_told_, false)) Log(LogLevel::kInfo, "NATS is back", {});
  if (const auto entry = cluster_.store->Read(kControlKey)) {
    if (const auto order = DecodeControl(entry->value)) control_ = *order;
  }
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].place && shards_[i].place->done) continue;
    LookAtPlace(i);
    LookAtCopies(i);
  }
}

// Whether other nodes copy what is here, and whether this node copies what is there.
void NodeSession::LookAtCopies(uint32_t index) {
  Shard& shard = shards_[index];
  const int64_t now_ns = Now();
  if (shard.run) {
    const auto entry = cluster_.store->Read(CopyKey(index));
    const auto record = entry ? DecodeCopy(entry->value) : std::nullopt;
    const bool alive = record && record->node != identity_->name() &&
                       !shard.copy_beats.Silent(entry->revision, now_ns, kCopySilenceNs);
    shard.run->WaitForCopy(alive);
  }
  if (shard.giving && (!shard.place || shard.place->node != identity_->name() || shard.place->to.empty())) {
    shard.giving.reset();
  }
  if (!shard.looked) return;
  const auto took =
      copies_->Look(index,
                    {.place = shard.place,
                     .revision = shard.place_revision,
                     .at_work = shard.run != nullptr || leases_->Held(index).has_value() || shard.giving != nullptr,
                     .may_take = !stopping_ && Running() < capacity_},
                    *cluster_.store, now_ns);
  if (!took) {
    Log(LogLevel::kWarn, "a copy of a shard", {{"shard", index}, {"why", took.error().message()}});
  } else if (*took) {
    LookAtPlace(index);
  }
}

ShardPlace NodeSession::As(uint32_t index, uint64_t files) const {
  return {.cluster = options_.cluster,
          .id = cluster_.store->id(),
          .shard = index,
          .shards = cluster_.settings.shards,
          .files = files};
}

Result<std::optional<ShardPlace>> NodeSession::Here(uint32_t index) const {
  return FilesHere(Env::Posix(), DirOf(index), As(index, 0), shards_[index].place);
}

// The shard is stopped: whoever is to have it copies its files from here.
Status NodeSession::GiveAway(uint32_t index) {
  ASSIGN_OR_RETURN(const EngineOptions engine,
                   WireCrawl(ConfigOfShard(config_, index), DirOf(index), {}, options_.version));
  auto giving = ShardGiver::Start({.nats = options_.nats,
                                   .cluster = options_.cluster,
                                   .shard = index,
                                   .files = HistoryOf(*shards_[index].place),
                                   .places = PlacesOf(engine),
                                   .held = {}});
  if (giving) shards_[index].giving = *std::move(giving);
  return {};  // if the server is away: the operator can copy the directory
}

Status NodeSession::WritePlace(uint32_t index, const PlaceRecord& record) {
  Shard& shard = shards_[index];
  const StoreWrite write = cluster_.store->CompareAndSet(PlaceKey(index), EncodePlace(record), shard.place_revision);
  if (write.outcome == WriteOutcome::kTaken) {
    shard.place = record;
    shard.place_revision = write.revision;
    return {};
  }
  LookAtPlace(index);
  if (shard.place == record) return {};  // the answer to an earlier try was lost
  return Fail(ErrorCode::kClosed, fmt::format("writing where shard {} is: {}", index, write.reason));
}

void NodeSession::SayWish(uint32_t index, ClaimWish wish) {
  Shard& shard = shards_[index];
  if (std::exchange(shard.told, wish) == wish) return;
  if (wish == ClaimWish::kMovesAway) {
    Log(LogLevel::kInfo, "a shard is to move to another node: stopping it",
        {{"shard", index}, {"to", shard.place->to}});
  } else if (wish == ClaimWish::kCopyMissing) {
    Log(LogLevel::kWarn, "a shard is to move here: waiting for a copy of its directory",
        {{"shard", index}, {"from", shard.place->node}, {"directory", DirOf(index)}});
  }
}

// ---- shards

void NodeSession::Want(uint32_t index, bool wanted) {
  Shard& shard = shards_[index];
  if (std::exchange(shard.wanted, wanted) == wanted) return;
  if (wanted) {
    leases_->Want(index);
  } else {
    leases_->Release(index);
  }
}

void NodeSession::GiveBack(uint32_t index) {
  shards_[index].wanted = true;  // so that it is released in any case
  Want(index, false);
}

// The directory gets a new number with each holder: an older copy of it is never used again.
Status NodeSession::TakePlace(uint32_t index) {
  Shard& shard = shards_[index];
  ASSIGN_OR_RETURN(const std::optional<ShardPlace> here, Here(index));
  if (here && (here->id != cluster_.store->id() || here->shard != index)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: holds shard {} of cluster {}", DirOf(index), here->shard, here->cluster));
  }
  const bool is_ours = here && shard.place && shard.place->node == identity_->name() &&
                       shard.place->files == here->files && shard.place->to.empty();
  if (is_ours) return {};
  ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
  const uint64_t files = random[0] | 1;
  copies_->Stop(index);
  ShardPlace mark = As(index, files);
  mark.before = here ? here->files : 0;
  ASSIGN_OR_RETURN(const std::optional<CopyMark> copy, ReadCopyMark(Env::Posix(), DirOf(index)));
  if (copy) {
    RETURN_IF_ERROR(AdoptCopy(Env::Posix(), DirOf(index), mark, ConfigOfShard(config_, index)));
  } else {
    RETURN_IF_ERROR(WriteShardPlace(Env::Posix(), DirOf(index), mark));
  }
  return WritePlace(index, {.node = identity_->name(), .files = files, .to = {}, .done = false});
}

Status NodeSession::Begin(uint32_t index, uint64_t epoch) {
  Shard& shard = shards_[index];
  // The place may have changed since it was looked at, for example if another node begun the shard meanwhile.
  LookAtPlace(index);
  ASSIGN_OR_RETURN(const std::optional<ShardPlace> here, Here(index));
  if (!shard.looked || WishFor(identity_->name(), here, shard.place) != ClaimWish::kClaim) {
    GiveBack(index);
    return {};
  }
  if (const Status taken = TakePlace(index); !taken) {
    if (taken.error().code() != ErrorCode::kClosed) return taken;
    GiveBack(index);
    return {};
  }
  shard.used_epoch = epoch;
  ShardRunOptions options{.dir = DirOf(index),
                          .cluster = options_.cluster,
                          .cluster_id = cluster_.store->id(),
                          .settings = &cluster_.settings,
                          .config = ConfigOfShard(config_, index),
                          .engines = capacity_,
                          .version = options_.version,
                          .nats = options_.nats,
                          .shard = index,
                          .epoch = epoch,
                          .history = HistoryOf(*shard.place),
                          .held = [leases = leases_.get(), index, epoch] { return leases->Held(index) == epoch; },
                          .on_end = [this] { alarm_.Ring(); }};
  options.nats.name = fmt::format("{} shard {}", identity_->name(), index);
  Log(LogLevel::kInfo, "a shard is ours", {{"shard", index}, {"epoch", epoch}});
  auto run = ShardRun::Start(std::move(options));
  run->RequestPause(control_.order == ClusterOrder::kPause);
  const std::lock_guard lock(mutex_);
  shard.run = std::move(run);
  if (stop_.made()) shard.run->RequestStop();
  return {};
}

// The directory gets a new number before it is copied: copies that were made while its engine ran have the old one.
Status NodeSession::Leave(uint32_t index) {
  ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
  PlaceRecord record = *shards_[index].place;
  ShardPlace mark = As(index, random[0] | 1);
  mark.before = std::exchange(record.files, mark.files);
  RETURN_IF_ERROR(WriteShardPlace(Env::Posix(), DirOf(index), mark));
  RETURN_IF_ERROR(WritePlace(index, record));
  Log(LogLevel::kInfo, "a shard is stopped: the other node copies its files",
      {{"shard", index}, {"directory", DirOf(index)}, {"to", record.to}});
  return GiveAway(index);
}

// Errors end the node, except those after which the shard is claimed anew.
Status NodeSession::OnEnd(uint32_t index) {
  Shard& shard = shards_[index];
  Result<SessionEnd> end = shard.run->TakeEnd();
  if (const auto progress = shard.run->progress()) AddProgress(*progress, past_);
  Report(index);
  {
    const std::lock_guard lock(mutex_);
    shard.run.reset();
  }
  if (end && end->progress.state == "done") {
    Log(LogLevel::kInfo, "a shard is done", {{"shard", index}, {"pages", end->progress.counts.pages()}});
    if (!end->limit.empty()) {
      control_ = {.order = ClusterOrder::kEnd, .limit = end->limit};
      static_cast<void>(cluster_.store->Put(kControlKey, EncodeControl(control_)));
    } else if (shard.place) {
      PlaceRecord record = *shard.place;
      record.done = true;
      if (const Status written = WritePlace(index, record); !written) {
        shard.not_before_ns = Now() + kAgainNs;  // it is opened again, and is done again
      }
    }
    GiveBack(index);
    return {};
  }
  if (end) {  // stopped
    const Status left = std::exchange(shard.leaving, false) && shard.place ? Leave(index) : Status();
    GiveBack(index);  // after that: who sees it free may copy it
    // Without an answer of NATS it stays where it is, and is asked to move again.
    return left || left.error().code() != ErrorCode::kClosed ? left : Status();
  }
  GiveBack(index);
  shard.leaving = false;
  if (end.error().code() == ErrorCode::kClosed || end.error().code() == ErrorCode::kNoSpace) {
    shard.not_before_ns = Now() + kAgainNs;
    if (!stopping_) {
      Log(LogLevel::kWarn, "a shard broke off: it will be claimed again",
          {{"shard", index}, {"why", end.error().message()}});
    }
    return {};
  }
  return std::unexpected(std::move(end).error().Context(fmt::format("shard {}", index)));
}

Status NodeSession::StartAndEnd() {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    if (shard.run && shard.run->ended()) RETURN_IF_ERROR(OnEnd(i));
    const std::optional<uint64_t> epoch = leases_->Held(i);
    if (shard.run) {
      if (epoch != shard.run->epoch()) shard.run->Abandon(Error(ErrorCode::kClosed, "its lease is lost"));
      continue;
    }
    if (stopping_) continue;
    if (!epoch) {
      if (!shard.looked || Now() < shard.not_before_ns) continue;
      ASSIGN_OR_RETURN(const std::optional<ShardPlace> here, Here(i));
      const ClaimWish wish = WishFor(identity_->name(), here, shard.place);
      SayWish(i, wish);
      Want(i, wish == ClaimWish::kClaim);
    } else if (*epoch == shard.used_epoch) {
      GiveBack(i);
    } else {
      RETURN_IF_ERROR(Begin(i, *epoch));
    }
  }
  return {};
}

// Does what the operator asks for, and what signals ask for.
Status NodeSession::Obey() {
  const auto stop = [this](std::string why) {
    if (std::exchange(stopping_, true)) return;
    why_ = std::move(why);
    OnStop();
  };
  if (stop_.made()) stop("stopped");
  if (control_.order == ClusterOrder::kStop) stop("the cluster was stopped");
  if (control_.order == ClusterOrder::kEnd) stop(fmt::format("a limit is reached: {}", control_.limit));
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    if (!shard.run) continue;
    shard.run->RequestPause(control_.order == ClusterOrder::kPause);
    const bool leaves = shard.place && !shard.place->to.empty() && shard.place->to != identity_->name();
    if (leaves && !std::exchange(shard.leaving, true)) {
      SayWish(i, ClaimWish::kMovesAway);
      shard.run->RequestStop();
    }
  }
  if (Now() < beat_at_ns_) return {};
  beat_at_ns_ = Now() + cluster_.settings.lease_ms * kMillisecond / 4;
  const Status beat = identity_->Beat(*cluster_.store);
  return beat || beat.error().code() != ErrorCode::kBusy ? Status() : beat;
}

// ---- what others see

void NodeSession::Report(uint32_t index) {
  Shard& shard = shards_[index];
  shard.status_at_ns = Now() + kStatusNs;
  const auto progress = shard.run->progress();
  if (!progress) return;
  const std::string text = EncodeShardStatus({.shard = index,
                                              .node = identity_->name(),
                                              .epoch = shard.run->epoch(),
                                              .unix_s = Clock::Real().UnixNs() / kSecond,
                                              .progress = *progress,
                                              .counters = shard.run->counters(),
                                              .trouble = shard.run->Trouble()});
  static_cast<void>(cluster_.store->Put(StatusKey(index), text));
}

void NodeSession::ReportDue() {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].run && Now() >= shards_[i].status_at_ns) Report(i);
  }
}

CrawlProgress NodeSession::Sum() const {
  CrawlProgress sum;
  bool any = false;
  for (const Shard& shard : shards_) {
    if (!shard.run) continue;
    if (const auto progress = shard.run->progress()) {
      AddProgress(*progress, sum);
      any = true;
    }
  }
  if (!any) AddProgress(past_, sum);
  sum.session_seconds = static_cast<double>(Now() - began_ns_) * 1e-9;
  sum.shards = static_cast<uint32_t>(Running());
  sum.state = control_.order == ClusterOrder::kPause ? "paused" : stopping_ ? "stopping" : "running";
  if (!any && !stopping_) sum.state = "waiting for shards";
  return sum;
}

Result<NodeEnd> NodeSession::Run() {
  began_ns_ = Now();
  LiveDisplay display(LiveDisplay::Choose(options_.quiet));
  Status failed;
  for (;;) {
    if (Now() >= look_at_ns_) {
      look_at_ns_ = Now() + kLookNs;
      LookAtBucket();
      ReportDue();
    }
    Status status = Obey();
    if (status) status = StartAndEnd();
    if (!status && failed) {
      failed = status;  // the first one is told; its shards are given back
      stopping_ = true;
      why_ = "an error";
      OnStop();
    }
    display.Show(Sum());
    if (AllDone() || (stopping_ && Running() == 0)) break;
    alarm_.WaitFor(kStepNs);
  }
  const bool done = AllDone();
  // Leases are given back by their own thread: it gets a moment.
  for (uint32_t i = 0; i < shards_.size(); ++i) GiveBack(i);
  const int64_t until_ns = Now() + cluster_.settings.lease_ms * kMillisecond / 4;
  while (Now() < until_ns && !AllGivenBack(*leases_, cluster_.settings.shards, identity_->process())) {
    alarm_.WaitFor(kGiveBackNs);
  }
  identity_->Leave(*cluster_.store);
  RETURN_IF_ERROR(failed);
  NodeEnd end{.progress = Sum(), .done = done, .why = why_};
  end.progress.state = done ? "done" : "stopped";
  display.End(end.progress);
  return end;
}

}  // namespace

Result<NodeEnd> RunNodeSession(const NodeSessionOptions& options) {
  MakeWritesFailQuietly();
  KeepMallocSmall();
  StopRequest stop;
  std::mutex mutex;
  NodeSession* running = nullptr;  // guarded by mutex
  const StopSignals signals([&](int /*request*/) {
    stop.Make();
    const std::lock_guard lock(mutex);
    if (running != nullptr) running->OnStop();
  });
  NodeSession session(options, stop);
  if (const Status opened = session.Open(); !opened) {
    if (!stop.made()) return std::unexpected(opened.error());
    return NodeEnd{.progress = {}, .done = false, .why = "stopped before it began"};
  }
  {
    const std::lock_guard lock(mutex);
    running = &session;
  }
  auto end = session.Run();
  const std::lock_guard lock(mutex);
  running = nullptr;
  return end;
}

}  // namespace portolan
