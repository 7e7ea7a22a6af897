#include "cli/node_session.h"

#include <fmt/core.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cli/cluster_work.h"
#include "cli/live_display.h"
#include "cli/nats_flags.h"
#include "cli/node_copies.h"
#include "cli/node_engines.h"
#include "cli/node_identity.h"
#include "cli/node_places.h"
#include "cli/node_share.h"
#include "cli/progress_sum.h"
#include "cli/stop_request.h"
#include "cluster/node_record.h"
#include "cluster/shard_leases.h"
#include "io/process.h"
#include "io/stop_signals.h"

namespace portolan {
namespace {

constexpr int64_t kStepNs = 100 * kMillisecond;     // between two looks at the engines
constexpr int64_t kGiveBackNs = 20 * kMillisecond;  // between two looks whether leases are given back
constexpr int64_t kLookNs = kSecond;                // between two looks at the bucket
constexpr int64_t kAgainNs = 2 * kSecond;           // before a shard that broke off is claimed anew

class NodeSession {
 public:
  NodeSession(const NodeSessionOptions& options, StopRequest& stop) : options_(options), stop_(stop) {}

  Status Open();
  Result<NodeEnd> Run();
  void OnStop();  // from the signals' thread

 private:
  struct Shard {
    bool wanted = false;
    Beats copy_beats;      // of the node that copies the shard
    bool leaving = false;  // its engine ends because it moves to another node
    int64_t not_before_ns = 0;
  };

  void LookAtBucket();
  void LookAtCopies(uint32_t shard);
  Status Obey();
  Status StartAndEnd();
  Status Begin(uint32_t shard, uint64_t epoch);
  Status OnEnd(uint32_t shard);
  void Want(uint32_t shard, bool wanted);
  void GiveBack(uint32_t shard);
  int64_t Now() const { return Clock::Real().NowNs(); }
  CrawlProgress Sum() const;

  const NodeSessionOptions& options_;
  StopRequest& stop_;
  Alarm alarm_;  // wakes the loop
  OpenCluster cluster_;
  uint32_t capacity_ = 1;
  std::unique_ptr<NodeIdentity> identity_;
  std::unique_ptr<NatsConnection> lease_connection_;
  std::unique_ptr<ShardLeases> leases_;
  std::unique_ptr<NodePlaces> places_;
  std::unique_ptr<NodeCopies> copies_;  // asks places_
  std::unique_ptr<NodeEngines> engines_;
  std::vector<Shard> shards_;
  ControlRecord control_;
  bool stopping_ = false;
  std::string why_;
  bool away_told_ = false;
  int64_t look_at_ns_ = 0;
  int64_t beat_at_ns_ = 0;
  int64_t began_ns_ = 0;
};

Status NodeSession::Open() {
  ASSIGN_OR_RETURN(cluster_, OpenClusterOf(options_.nats, options_.cluster, options_.version, &stop_));
  ASSIGN_OR_RETURN(NodeShare share, ShareOfNode(options_, cluster_.settings));
  capacity_ = share.capacity;
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
  places_ =
      std::make_unique<NodePlaces>(NodePlacesOptions{.cluster = options_.cluster,
                                                     .shards = cluster_.settings.shards,
                                                     .node = identity_->name(),
                                                     .dir = options_.dir,
                                                     .version = options_.version,
                                                     .nats = options_.nats,
                                                     .config = std::move(share.config),
                                                     .stop_copy = [this](uint32_t shard) { copies_->Stop(shard); }},
                                   *cluster_.store);
  copies_ = std::make_unique<NodeCopies>(
      NodeCopiesOptions{.cluster = options_.cluster,
                        .cluster_id = cluster_.store->id(),
                        .shards = cluster_.settings.shards,
                        .node = identity_->name(),
                        .nats = options_.nats,
                        .most = options_.copies,
                        .takeover_ns = cluster_.settings.takeover_ms * kMillisecond,
                        .dir = [this](uint32_t shard) { return places_->DirOf(shard); },
                        .config = [this](uint32_t shard) { return places_->ConfigOf(shard); },
                        .places = [this](uint32_t shard) { return places_->CrawlPlacesOf(shard); }});
  engines_ = std::make_unique<NodeEngines>(cluster_.settings.shards, identity_->name(), *cluster_.store);
  leases_ = std::make_unique<ShardLeases>(leases, std::move(store), Clock::Real());
  Log(LogLevel::kInfo, "node",
      {{"cluster", options_.cluster},
       {"name", identity_->name()},
       {"shards", cluster_.settings.shards},
       {"capacity", capacity_}});
  return {};
}

void NodeSession::OnStop() {
  engines_->StopAll();
  alarm_.Ring();
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
    if (places_->done(i)) continue;
    places_->Look(i);
    LookAtCopies(i);
  }
}

// Whether other nodes copy what is here, and whether this node copies what is there.
void NodeSession::LookAtCopies(uint32_t index) {
  Shard& shard = shards_[index];
  const int64_t now_ns = Now();
  if (engines_->runs(index)) {
    const auto entry = cluster_.store->Read(CopyKey(index));
    const auto record = entry ? DecodeCopy(entry->value) : std::nullopt;
    const bool alive = record && record->node != identity_->name() &&
                       !shard.copy_beats.Silent(entry->revision, now_ns, kCopySilenceNs);
    engines_->run(index).WaitForCopy(alive);
  }
  places_->EndGiving(index);
  if (!places_->known(index)) return;
  const auto took =
      copies_->Look(index,
                    {.place = places_->record(index),
                     .revision = places_->revision(index),
                     .at_work = engines_->runs(index) || leases_->Held(index).has_value() || places_->gives(index),
                     .may_take = !stopping_ && engines_->running() < capacity_},
                    *cluster_.store, now_ns);
  if (!took) {
    Log(LogLevel::kWarn, "a copy of a shard", {{"shard", index}, {"why", took.error().message()}});
  } else if (*took) {
    places_->Look(index);
  }
}

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

Status NodeSession::Begin(uint32_t index, uint64_t epoch) {
  // The place may have changed since it was looked at, for example if another node begun the shard meanwhile.
  places_->Look(index);
  ASSIGN_OR_RETURN(const ClaimWish wish, places_->Wish(index));
  if (!places_->known(index) || wish != ClaimWish::kClaim) {
    GiveBack(index);
    return {};
  }
  if (const Status taken = places_->Take(index); !taken) {
    if (taken.error().code() != ErrorCode::kClosed) return taken;
    GiveBack(index);
    return {};
  }
  ShardRunOptions options{.dir = places_->DirOf(index),
                          .cluster = options_.cluster,
                          .cluster_id = cluster_.store->id(),
                          .settings = &cluster_.settings,
                          .config = places_->ConfigOf(index),
                          .engines = capacity_,
                          .version = options_.version,
                          .nats = options_.nats,
                          .shard = index,
                          .epoch = epoch,
                          .history = HistoryOf(*places_->record(index)),
                          .held = [leases = leases_.get(), index, epoch] { return leases->Held(index) == epoch; },
                          .on_end = [this] { alarm_.Ring(); }};
  options.nats.name = fmt::format("{} shard {}", identity_->name(), index);
  Log(LogLevel::kInfo, "a shard is ours", {{"shard", index}, {"epoch", epoch}});
  engines_->Start(std::move(options));
  engines_->run(index).RequestPause(control_.order == ClusterOrder::kPause);
  return {};
}

// Errors end the node, except those after which the shard is claimed anew.
Status NodeSession::OnEnd(uint32_t index) {
  Shard& shard = shards_[index];
  Result<SessionEnd> end = engines_->TakeEnd(index);
  if (end && end->progress.state == "done") {
    Log(LogLevel::kInfo, "a shard is done", {{"shard", index}, {"pages", end->progress.counts.pages()}});
    if (!end->limit.empty()) {
      control_ = {.order = ClusterOrder::kEnd, .limit = end->limit};
      static_cast<void>(cluster_.store->Put(kControlKey, EncodeControl(control_)));
    } else if (places_->record(index)) {
      if (const Status written = places_->MarkDone(index); !written) {
        shard.not_before_ns = Now() + kAgainNs;  // it is opened again, and is done again
      }
    }
    GiveBack(index);
    return {};
  }
  if (end) {  // stopped
    const Status left =
        std::exchange(shard.leaving, false) && places_->record(index) ? places_->Leave(index) : Status();
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
    if (engines_->runs(i) && engines_->run(i).ended()) RETURN_IF_ERROR(OnEnd(i));
    const std::optional<uint64_t> epoch = leases_->Held(i);
    if (engines_->runs(i)) {
      if (epoch != engines_->run(i).epoch()) engines_->run(i).Abandon(Error(ErrorCode::kClosed, "its lease is lost"));
      continue;
    }
    if (stopping_) continue;
    if (!epoch) {
      if (!places_->known(i) || Now() < shard.not_before_ns) continue;
      ASSIGN_OR_RETURN(const ClaimWish wish, places_->Wish(i));
      places_->Say(i, wish);
      Want(i, wish == ClaimWish::kClaim);
    } else if (*epoch == engines_->used_epoch(i)) {
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
    if (!engines_->runs(i)) continue;
    engines_->run(i).RequestPause(control_.order == ClusterOrder::kPause);
    if (places_->MovesAway(i) && !std::exchange(shards_[i].leaving, true)) {
      places_->Say(i, ClaimWish::kMovesAway);
      engines_->run(i).RequestStop();
    }
  }
  if (Now() < beat_at_ns_) return {};
  beat_at_ns_ = Now() + cluster_.settings.lease_ms * kMillisecond / 4;
  const Status beat = identity_->Beat(*cluster_.store);
  return beat || beat.error().code() != ErrorCode::kBusy ? Status() : beat;
}

CrawlProgress NodeSession::Sum() const {
  CrawlProgress sum;
  const std::optional<CrawlProgress> now = engines_->Sum();
  AddProgress(now ? *now : engines_->past(), sum);
  sum.session_seconds = static_cast<double>(Now() - began_ns_) * 1e-9;
  sum.shards = static_cast<uint32_t>(engines_->running());
  sum.state = control_.order == ClusterOrder::kPause ? "paused" : stopping_ ? "stopping" : "running";
  if (!now && !stopping_) sum.state = "waiting for shards";
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
      engines_->ReportDue();
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
    if (places_->AllDone() || (stopping_ && engines_->running() == 0)) break;
    alarm_.WaitFor(kStepNs);
  }
  const bool done = places_->AllDone();
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
