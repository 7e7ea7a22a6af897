#include "crawl/driver.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/units.h"

namespace portolan {
namespace {

constexpr const char* kPausedByRequest = "paused: as it was asked to";
constexpr uint64_t kToldTroubles = 50;  // warnings about hosts that do not answer; the crawl log has all of them

}  // namespace

Driver::Driver(Owner& owner, const Parts& parts, const DriverOptions& options)
    : owner_(owner),
      env_(parts.env),
      clock_(parts.clock),
      checkpointer_(parts.checkpointer),
      outputs_(parts.outputs),
      shards_(parts.shards),
      exchange_(parts.exchange),
      others_(parts.others),
      options_(options),
      own_phase_time_({.offset_ns = clock_.UnixNs() - clock_.NowNs()}),
      seats_(shards_.size()) {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    for (const Checkpointable* part : shards_[i]->Checkpointables()) shard_of_[part] = i;
    seats_[i].shortages = shards_[i]->counts().shortages;
  }
}

// ---- a shard's turn

void Driver::OnResolved(uint32_t shard, const Resolution& resolution) {
  Seat& seat = seats_[shard];
  if (seat.status) seat.status = shards_[shard]->OnResolved(resolution, Now());
}

void Driver::Turn(uint32_t shard) {
  if (over_) return;
  Seat& seat = seats_[shard];
  if (seat.status) seat.status = TakeTurn(shard, Now());
  if (exchange_ != nullptr) exchange_->Deliver(shards_[shard]->number());
  if (HasNews(shard)) owner_.WakeDriver();
}

Status Driver::TakeTurn(uint32_t index, Moment now) {
  Shard& shard = *shards_[index];
  shard.SetPhaseClock(PhaseClock());
  if (exchange_ != nullptr) {
    const ShardExchange::Mail mail = exchange_->TakeMail(shard.number());
    for (const AddressMail& notice : mail.notices) shard.OnAddressNotice(notice, now);
    for (const uint64_t pld : mail.raises) RETURN_IF_ERROR(shard.OnRaise(pld, now));
    seats_[index].took = !mail.raises.empty();
    while (shard.HasRoomForArrival()) {
      const std::optional<std::string_view> message = exchange_->Front(shard.number());
      if (!message) break;
      RETURN_IF_ERROR(shard.OnArrival(*message, now));
      exchange_->Pop(shard.number());
      seats_[index].took = true;
    }
  }
  RETURN_IF_ERROR(seats_[index].inbox.HandOver(shard, now));
  return shard.OnTick(now);
}

PhaseTime Driver::PhaseClock() const {
  return (exchange_ == nullptr ? std::nullopt : exchange_->phase_time()).value_or(own_phase_time_);
}

// True if the driver's thread must look at the shard. Each change is reported once.
bool Driver::HasNews(uint32_t index) {
  Seat& seat = seats_[index];
  const Shard& shard = *shards_[index];
  bool news = !seat.status || shard.has_troubles() || shard.has_notes() || shard.counts().shortages != seat.shortages;
  // What the shard took had been on its way, which may have been the only reason why the crawl could not end.
  news = (seat.took && shard.only_waits()) || news;
  news = std::exchange(seat.state, shard.state()) != shard.state() || news;
  news = std::exchange(seat.only_waits, shard.only_waits()) != shard.only_waits() || news;
  news = std::exchange(seat.outage, shard.outage().what()) != shard.outage().what() || news;
  const bool limited = !shard.limit_reached().empty();
  return std::exchange(seat.limited, limited) != limited || news;
}

// ---- begin and end

Status Driver::Begin() {
  const int64_t now = clock_.NowNs();
  // If a crawl is interrupted in its first moments, its state must say that it had begun, since requests may have been
  // sent. And the outputs' files must not exist before a manifest that names their directories.
  if (shards_[0]->is_new() || outputs_.needs_commit()) {
    RETURN_IF_ERROR(CheckpointNow());
  } else {
    checkpoint_due_ = options_.checkpoint_ns > 0;
  }
  look_at_ns_ = now;
  if (options_.show_log_ns > 0) show_at_ns_ = now + options_.show_log_ns;
  if (options_.checkpoint_ns > 0) checkpoint_at_ns_ = now + options_.checkpoint_ns;
  Tick();
  return {};
}

void Driver::Tick() {
  if (over_) return;
  LookAtShards();
  LookElsewhere();
  EndIfOver();
  if (over_) return;
  HurryIfAllWait();
  const int64_t now = clock_.NowNs();
  if (now >= look_at_ns_) {
    look_at_ns_ = now + options_.retry_ns;
    LookForRoom();
  }
  if (now >= show_at_ns_) {
    show_at_ns_ = now + options_.show_log_ns;
    outputs_.Show();
  }
  if (now >= cancel_at_ns_) Cancel();
  if (now >= wanted_at_ns_) checkpoint_due_ = true;
  if (now >= checkpoint_at_ns_) {
    checkpoint_at_ns_ = now + options_.checkpoint_ns;
    checkpoint_due_ = true;
  }
  if (checkpointer_.active()) {
    if (checkpointer_.written()) {
      FinishCheckpoint();
    } else if (now >= copy_at_ns_) {
      ContinueCheckpoint();
    }
  }
  CheckpointIfDue();
}

int64_t Driver::NextTick() const {
  if (over_) return kNever;
  const int64_t look_at_ns = full_ || options_.reserve_bytes > 0 ? look_at_ns_ : kNever;
  return std::min({look_at_ns, show_at_ns_, cancel_at_ns_, checkpoint_at_ns_, copy_at_ns_, wanted_at_ns_});
}

void Driver::Fail(const Error& error) {
  if (!error_) error_ = error;
  over_ = true;
}

void Driver::WakeShards() {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) owner_.WakeShard(shard);
}

void Driver::LookAtShards() {
  std::string_view outage;
  bool limited = false;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const Held held(*this, i);
    Seat& seat = seats_[i];
    if (!seat.status) return Fail(seat.status.error());
    if (const uint64_t shortages = shards_[i]->counts().shortages; shortages != seat.shortages) {
      seat.shortages = shortages;
      if (!std::exchange(shortage_told_, true)) {
        Log(LogLevel::kWarn, "no descriptors for more connections: going on with fewer ('ulimit -n' sets the limit)",
            {{"connections", shards_[i]->connections()}});
      }
    }
    if (outage.empty()) outage = shards_[i]->outage().what();
    limited = limited || !shards_[i]->limit_reached().empty();
    NoteTroubles(*shards_[i]);
  }
  ShareOutage();
  NoteOutage(outage);
  NotePhaseClock();
  if (limited && !std::exchange(limited_, true)) WakeShards();  // the other shards end as well
}

// What this process and the others must know of each other.
void Driver::LookElsewhere() {
  if (exchange_ == nullptr || over_) return;
  if (const Status status = exchange_->status(); !status) return Fail(status.error());
  const Held held(*this);
  ShardExchange::Here here{.only_waits = true};
  for (const Shard* const shard : shards_) {
    here.pages += shard->counts().pages();
    here.bytes += shard->counts().wire_bytes;
    here.only_waits = here.only_waits && shard->only_waits();
  }
  exchange_->Note(here);
  const ShardExchange::Elsewhere elsewhere = exchange_->elsewhere();
  const bool limited = !shards_[0]->limit_reached().empty();
  shards_[0]->CountElsewhere(elsewhere.pages, elsewhere.bytes);
  if (!limited && !shards_[0]->limit_reached().empty()) WakeShards();
  wanted_at_ns_ = exchange_->WantsCheckpoint(Idle()) && !checkpointer_.active() ? wanted_after_ns_ : kNever;
}

// True if the shards have nothing left, whatever is on its way. REQUIRES: they are held.
bool Driver::Idle() const {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i]->state() != Shard::State::kDone || !seats_[i].inbox.empty()) return false;
  }
  return shards_[0]->limit_reached().empty();
}

// A shard with few hosts would learn of an outage by losing attempts. What one has found, all believe, once: each finds
// out for itself when it is over.
void Driver::ShareOutage() {
  if (shards_.size() == 1) return;
  bool connections = false;
  bool names = false;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const Held held(*this, i);
    const Outage& outage = shards_[i]->outage();
    if (std::exchange(seats_[i].down, outage.down()) || !outage.down()) continue;
    connections = connections || outage.connections_down();
    names = names || outage.names_down();
  }
  if (!connections && !names) return;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    {
      const Held held(*this, i);
      shards_[i]->OnOutageElsewhere(connections, names, Now());
      seats_[i].down = true;
    }
    owner_.WakeShard(i);
  }
}

void Driver::NoteOutage(std::string_view what) {
  if (what == outage_) return;
  const int64_t now = clock_.NowNs();
  if (outage_.empty()) outage_ns_ = now;
  if (!what.empty()) {
    Log(LogLevel::kWarn, "paused until the network is back", {{"why", what}});
  } else {
    Log(LogLevel::kInfo, "the network is back: going on", {{"paused_s", (now - outage_ns_) / 1'000'000'000}});
  }
  outage_ = what;
}

void Driver::NotePhaseClock() {
  const int64_t now = clock_.NowNs();
  const PhaseTime time = PhaseClock();
  const bool good = time.IsGood(now);
  if (good == phase_clock_good_) return;
  phase_clock_good_ = good;
  if (good) {
    Log(LogLevel::kInfo, "the phases' clock is known: going on",
        {{"waited_s", (now - phase_clock_ns_) / 1'000'000'000}, {"error_ms", time.error_ns / 1'000'000}});
    return;
  }
  if (std::exchange(phase_clock_ns_, now) == 0) {
    Log(LogLevel::kInfo, "nothing is fetched until the phases' clock is known well enough", {});
  } else {
    Log(LogLevel::kWarn, "nothing is fetched: the phases' clock is not known well enough any more", {});
  }
}

// On the open web dead hosts are normal and not worth a message.
void Driver::NoteTroubles(Shard& shard) {
  if (shard.has_notes()) {
    for (const std::string& note : shard.TakeNotes()) Log(LogLevel::kInfo, note, {});
  }
  const LogLevel level = options_.tell_troubles ? LogLevel::kWarn : LogLevel::kDebug;
  for (const HostTrouble& trouble : shard.TakeTroubles()) {
    if (troubles_told_ > kToldTroubles) return;
    if (troubles_told_++ == kToldTroubles) {
      Log(level, "more hosts do not answer: the crawl log has them all", {});
    } else if (trouble.given_up) {
      Log(level, "a host is given up", {{"what", trouble.what}, {"why", trouble.why}, {"attempts", trouble.attempt}});
    } else {
      Log(level, "a host does not answer: it will be tried again",
          {{"what", trouble.what}, {"why", trouble.why}, {"attempt", trouble.attempt}});
    }
  }
}

void Driver::EndIfOver() {
  if (over_) return;
  const Held held(*this);
  bool stopped = false;
  bool nothing_left = true;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i]->state() == Shard::State::kRunning || !seats_[i].inbox.empty()) return;
    stopped = stopped || shards_[i]->state() == Shard::State::kStopped;
    nothing_left = nothing_left && shards_[i]->limit_reached().empty();
  }
  if (!stopped && nothing_left && exchange_ != nullptr && (!exchange_->Empty() || !exchange_->elsewhere().done)) return;
  over_ = true;
  done_ = !stopped;
  state_ = stopped ? "stopped" : "done";
}

// With several shards, none knows whether the others have work.
void Driver::HurryIfAllWait() {
  if (exchange_ == nullptr) return;
  const Held held(*this);
  bool all = exchange_->Empty() && exchange_->elsewhere().only_waits;
  for (const Shard* const shard : shards_) all = all && shard->only_waits();
  if (all == all_wait_) return;
  all_wait_ = all;
  for (Shard* const shard : shards_) shard->SetOthersOnlyWait(all);
  if (all) WakeShards();
}

Status Driver::End(const std::function<Status()>& when_done) {
  if (error_) return std::unexpected(*error_);
  RETURN_IF_ERROR(EndCheckpoint());  // before the outputs flush again, because they must know which state was committed
  RETURN_IF_ERROR(CheckpointNow());
  AnswerAsked(answering_, {});
  AnswerAsked(asked_, {});
  if (done_) {
    // The manifest that says that all WARC files are finished also promises the files made from them: it is last.
    RETURN_IF_ERROR(outputs_.Finish());
    if (when_done) RETURN_IF_ERROR(when_done());
    RETURN_IF_ERROR(CheckpointNow());
  }
  return outputs_.FinishPacking();
}

CrawlCounts Driver::counts() const {
  CrawlCounts sum;
  for (const Shard* const shard : shards_) sum += shard->counts();
  return sum;
}

// ---- stop, pause

void Driver::RequestStop() {
  if (over_) return;
  ++stop_requests_;
  if (outputs_.stalled()) {  // there may never be room for what they still hold
    return Fail(Error(ErrorCode::kNoSpace, state_ + "; what came after the last checkpoint will be fetched again"));
  }
  full_ = pause_asked_ = false;  // the reserve is for what is in flight and a last checkpoint
  state_ = "stopping";
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const Held held(*this, i);
    shards_[i]->Pause(false);
    shards_[i]->Stop();
  }
  WakeShards();
  if (stop_requests_ == 1) {
    cancel_at_ns_ = clock_.NowNs() + options_.stop_grace_ns;
    owner_.WakeDriver();
  } else {
    Cancel();
  }
}

void Driver::RequestPause(bool paused) {
  if (over_ || stop_requests_ > 0 || paused == pause_asked_) return;
  pause_asked_ = paused;
  if (full_) return;
  state_ = paused ? kPausedByRequest : "running";
  SetPause();
}

void Driver::Abandon(const Error& why) {
  if (over_) return;
  Fail(why);
  owner_.WakeDriver();
}

void Driver::SetBlockList(const std::shared_ptr<const BlockList>& list) {
  if (over_) return;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const Held held(*this, i);
    shards_[i]->OnBlockList(list, Now());
  }
  WakeShards();
}

void Driver::Cancel() {
  cancel_at_ns_ = kNever;
  owner_.CancelFetches();
}

void Driver::OnDiskError(const Error& error) {
  if (over_) return;
  if (error.code() != ErrorCode::kNoSpace) return Fail(error);
  PauseFull(error.message());
}

void Driver::PauseFull(const std::string& why) {
  if (full_ || over_) return;
  if (stop_requests_ > 0) {
    return Fail(Error(ErrorCode::kNoSpace, why + "; what came after the last checkpoint will be fetched again"));
  }
  full_ = true;
  paused_ns_ = clock_.NowNs();
  state_ = "paused: disk full: " + why;
  Log(LogLevel::kWarn, "the disk is full: paused until there is room", {{"why", why}});
  SetPause();
}

void Driver::SetPause() {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const Held held(*this, i);
    shards_[i]->Pause(full_ || pause_asked_);
  }
  WakeShards();
}

void Driver::LookForRoom() {
  if (over_ || stop_requests_ > 0) return;
  for (const std::string& dir : options_.directories) {
    const auto room = env_.FreeSpace(dir);
    // To continue, half as much again must be free, so that the next page does not cause another pause.
    const uint64_t wanted = options_.reserve_bytes + (full_ ? options_.reserve_bytes / 2 : 0);
    if (!room || *room >= wanted) continue;
    return PauseFull(fmt::format("{} has {} free, {} are wanted", dir, FormatBytes(*room), FormatBytes(wanted)));
  }
  if (!full_) return;
  full_ = false;
  state_ = pause_asked_ ? kPausedByRequest : "running";
  Log(LogLevel::kInfo, "there is room again: going on", {{"paused_s", (clock_.NowNs() - paused_ns_) / 1'000'000'000}});
  outputs_.Resume();
  SetPause();
}

}  // namespace portolan
