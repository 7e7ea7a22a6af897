// What the shard moves after each event: answers of merges to the next part, URLs to the fetch threads, and rounds that
// are started when a part needs more URLs. Never more than the next part has room for.

#include <algorithm>
#include <limits>

#include "crawl/shard_sinks.h"
#include "gate/robots_request.h"

namespace portolan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Bounds of the work of one pump, so that events never wait long: answers of merges moved on, and URLs dispatched.
constexpr uint64_t kMoveStep = 4096;
constexpr int kDispatchStep = 256;
constexpr int64_t kLimitAgainNs = 50'000'000;

int64_t Later(int64_t now_ns, int64_t wait_ns) { return wait_ns == kNever ? kNever : now_ns + wait_ns; }

}  // namespace

Status Shard::Pump(Moment now) {
  last_ns_ = now.now_ns;
  state_ = State::kRunning;
  only_waits_ = false;
  RETURN_IF_ERROR(late_error_);
  RETURN_IF_ERROR(ReleaseHeld(now));
  bool moved = false;
  Enter(TurnPart::kAnswers);
  RETURN_IF_ERROR(MoveResults(now, &moved));
  next_wake_ns_ = kNever;
  const bool limited = limits_->Check(running_ns(now));
  const bool ending = stopping_ || limited;
  if (!ending) RETURN_IF_ERROR(OfferArrivals(&moved, now));
  if (!ending && !inbox_waits_) RETURN_IF_ERROR(OfferSeeds(&moved));
  if (!ending && park_ != nullptr) RETURN_IF_ERROR(Unpark(now, &moved));
  if (!ending && ComesBack()) RETURN_IF_ERROR(TakeDue(now, &moved));
  if (!limited) WakeBy(Later(now.now_ns, limits_->TimeLeft(running_ns(now))));
  if (!ending && !paused_) {
    network_.AskWaiting(now.now_ns);
    const PageResult* const held = network_.first_held();
    WakeBy(network_.NextWake(held == nullptr || HasRoomFor(*held)));
  }
  Enter(TurnPart::kDispatch);
  const bool dispatching = !ending && !inbox_waits_ && !paused_;
  if (dispatching) RETURN_IF_ERROR(DispatchTasks(now));
  if (admission_ != nullptr) UpdateWindow(dispatching, now);
  Enter(TurnPart::kRounds);
  if (!ending) {
    hungry_ = HungryForNew();
    RETURN_IF_ERROR(StartRounds(now));
  }
  if (options_.give_up_quickly && dispatching && dry_ && !ComesBack()) HurryIfNothingElse(now);
  SendAddressMail(now);
  const PageResult* const held = network_.first_held();
  if (moved || (ending && held != nullptr && HasRoomFor(*held))) next_wake_ns_ = now.now_ns;

  if (in_flight_.empty()) {
    if (stopping_) {
      state_ = State::kStopped;
    } else if (limited) {
      state_ = State::kDone;
    } else if (NothingElse()) {
      if (park_ != nullptr && (park_->scanning() || park_->BeginScan(/*idle=*/true))) {
        next_wake_ns_ = now.now_ns;
      } else if ((content_ == nullptr || content_->waiting() == 0) && !(ComesBack() && refresh_->counts().pages > 0)) {
        state_ = State::kDone;
      }
    }
  }
  return {};
}

Status Shard::OfferSeeds(bool* moved) {
  const uint64_t room = std::min(kMoveStep, seen_->Room());
  for (uint64_t offered = 0; offered < room && seeds_->size() > 0; ++offered) {
    ASSIGN_OR_RETURN(const std::string* bytes, seeds_->Front());
    if (bytes == nullptr) break;
    std::optional<UrlRecord> record = DecodeUrlRecord(*bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "the queue of seeds holds bytes that are not a URL record");
    if (!HasRoomElsewhere()) break;
    SetSeedPriority(*record);
    EncodeUrlRecord(*record, encoded_);
    RETURN_IF_ERROR(Offer(options_.key.Hash(record->url), encoded_, OwnerOf(record->url)));
    seeds_->PopFront();
    ++counts_.seeds;
    *moved = true;
  }
  return {};
}

Status Shard::MoveResults(Moment now, bool* moved) {
  if (const uint64_t room = std::min(kMoveStep, RoomForNew()); room > 0 && seen_->ResultsReady()) {
    UniqueOnward unique(*this, now);
    ASSIGN_OR_RETURN(const uint64_t looked, seen_->Take(unique, room, now.now_ns));
    *moved = *moved || looked > 0;
  }
  if (content_ != nullptr && content_->ResultsReady()) RETURN_IF_ERROR(TakeLate(now, moved));
  if (admission_ != nullptr) RETURN_IF_ERROR(Admit(now, moved));
  GateToFrontier passed(*this, now);
  ASSIGN_OR_RETURN(const uint64_t pumped, gate_->Pump(passed, std::min(kMoveStep, frontier_->Room()), GateTime(now)));
  *moved = *moved || pumped > 0;
  return {};
}

// URLs whose turn has come go to the robots loop, as far as the window allows (admission_window.h): as fast as pages
// are fetched, and faster only while connections idle. The rest waits in BEAST's queues, where URLs of domains with a
// better reputation can still overtake them.
Status Shard::Admit(Moment now, bool* moved) {
  constexpr uint64_t kBatch = 256;
  ASSIGN_OR_RETURN(const uint64_t looked, admission_->Pump(kMoveStep, now.now_ns));
  *moved = *moved || looked > 0;
  GateToFrontier passed(*this, now);
  for (uint64_t admitted = 0; admitted < kMoveStep;) {
    const uint64_t room = std::min(window_.Room(Pending()), gate_->Room());
    if (room == 0) break;
    ASSIGN_OR_RETURN(const std::vector<std::string> records, admission_->Pop(std::min(room, kBatch)));
    if (records.empty()) break;
    for (const std::string& bytes : records) {
      const std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
      if (!record) return Fail(ErrorCode::kCorrupt, "a budget queue (beast) holds bytes that are not a URL record");
      RETURN_IF_ERROR(ParkOrAddToGate(*record, passed, now));
    }
    admitted += records.size();
    *moved = true;
  }
  return {};
}

// Parked URLs that a scan lets through go to the robots loop: their rules may have become too old.
Status Shard::Unpark(Moment now, bool* moved) {
  if (!park_->scanning() && !park_->BeginScan(/*idle=*/false)) return {};
  GateToFrontier passed(*this, now);
  for (uint64_t step = 0; step < kMoveStep / 16 && park_->scanning() && gate_->Room() > 0; ++step) {
    ASSIGN_OR_RETURN(const std::optional<std::string> bytes, park_->NextReleased(/*max=*/16));
    *moved = true;
    if (!bytes) continue;
    RETURN_IF_ERROR(AddToGate(DecodeUrlRecord(*bytes).value(), passed, now));
  }
  return {};
}

Status Shard::ParkOrAddToGate(const UrlRecord& record, GateSink& sink, Moment now) {
  if (park_ == nullptr) return AddToGate(record, sink, now);
  UrlRecord passed = record;
  switch (park_->Hold(record, HostKey(record.url, options_.key))) {
    case TrapPark::Turn::kPark:
      ++counts_.held;
      EncodeUrlRecord(record, encoded_);
      return park_->Park(encoded_);
    case TrapPark::Turn::kProbe:
      passed.probe = true;
      break;
    case TrapPark::Turn::kFetch:
      break;
  }
  return AddToGate(passed, sink, now);
}

Result<bool> Shard::Divert(const Dispatch& dispatch, Moment now) {
  const UrlRecord& record = dispatch.record;
  if (park_ == nullptr || record.kind != UrlKind::kPage || record.requisite > 0) return false;
  if (!record.last.empty()) return false;  // it was fetched before, and comes back because it was worth it
  const bool seed = record.depth == 0 && record.hops == 0;
  if (!seed && record.attempts == 0 && seen_->Room() > 0 && park_->Without(record.url, dispatch.host, shorter_)) {
    const std::string copy = EncodeUrlRecord(record);  // Skip frees the slot's copy
    frontier_->Skip(dispatch.slot);
    UrlRecord renamed = DecodeUrlRecord(copy).value();
    const UrlRecord old = renamed;
    renamed.url = shorter_;
    renamed.robots = {};
    renamed.budget = 0;
    EncodeUrlRecord(renamed, encoded_);
    RETURN_IF_ERROR(seen_->Add(options_.key.Hash(shorter_), encoded_));
    ++counts_.renamed;
    EndUnfetched(old, "renamed", now);
    return true;
  }
  if (park_->Hold(record, dispatch.host) != TrapPark::Turn::kPark) return false;
  ++counts_.held;
  const std::string copy = EncodeUrlRecord(record);
  frontier_->Skip(dispatch.slot);
  RETURN_IF_ERROR(park_->Park(copy));
  return true;
}

// Called after each dispatch. When the frontier's memory is full, URLs wait in its front queues: more would not help.
void Shard::UpdateWindow(bool dispatching, Moment now) {
  const bool idle = dispatching && dry_ && frontier_->counts().front == 0;
  const bool full = admission_->HasQueued() && window_.Room(Pending()) == 0;
  const uint64_t idle_connections = connections() - std::min<uint64_t>(connections(), in_flight_.size());
  window_.SetIdle(idle ? idle_connections : 0, full, now.now_ns);
  if (window_.growing()) WakeBy(now.now_ns + AdmissionWindow::kAsk);
}

Status Shard::DispatchTasks(Moment now) {
  dry_ = false;
  if (phases_ && !phase_time_.IsGood(now.now_ns)) {
    if (now.now_ns < phase_time_.from_ns && phase_time_.from_ns < phase_time_.until_ns) WakeBy(phase_time_.from_ns);
    return {};
  }
  const NetworkGuard::Permit permit = network_.MayFetch(now.now_ns);
  if (!permit.fetch) {
    WakeBy(permit.again_ns);
    return {};
  }
  for (int step = 0; step < kDispatchStep; ++step) {
    if (in_flight_.size() >= network_.connections()) return {};
    // A URL whose rules are too old, and a robots.txt that fails here, go to the gate.
    if (gate_->Room() == 0) return {};
    // Reserves a page in case the next fetch is one. If that is refused, a fetch of another shard may free one later.
    if (!limits_->Begin()) {
      if (exchange_ != nullptr) WakeBy(now.now_ns + kLimitAgainNs);
      return {};
    }
    ASSIGN_OR_RETURN(const Dispatch dispatch, frontier_->Next(now.now_ns, now.unix_ns));
    const bool page = dispatch.kind == Dispatch::Kind::kFetch && dispatch.record.kind != UrlKind::kRobots;
    if (!page) limits_->End(false);
    switch (dispatch.kind) {
      case Dispatch::Kind::kWait:
        WakeBy(dispatch.until_ns);
        dry_ = true;
        return {};
      case Dispatch::Kind::kMoreWork:
        break;
      case Dispatch::Kind::kResolve:
        network_.AskName(dispatch.host, dispatch.name);
        break;
      case Dispatch::Kind::kFail:
        FailUnfetched(dispatch, now);
        if (dispatch.record.kind == UrlKind::kRobots) {
          // The frontier has made all attempts that it makes.
          --robots_open_;
          NoteTrouble({std::string(HostOf(dispatch.record.url)), Failure{dispatch.outcome}.Words(),
                       static_cast<uint32_t>(dispatch.record.attempts + 1), true});
          RobotsAnswer none;
          none.hopeless = true;
          RETURN_IF_ERROR(SendRobotsAnswer(dispatch.record, none, now));
        }
        break;
      case Dispatch::Kind::kFetch: {
        const uint64_t before = next_id_;
        RETURN_IF_ERROR(Start(dispatch, now));
        if (page && next_id_ == before) limits_->End(false);
        if (!permit.probe_only || next_id_ == before) break;
        network_.ProbeBegan(before);
        return {};
      }
    }
  }
  next_wake_ns_ = now.now_ns;
  return {};
}

void Shard::FailUnfetched(const Dispatch& dispatch, Moment now) {
  PageResult result;
  result.kind = dispatch.record.kind;
  result.outcome = dispatch.outcome;
  result.times.begin_unix_ns = now.unix_ns;
  FetchLine line;
  line.url = dispatch.record.kind == UrlKind::kRobots ? RobotsTarget(dispatch.record.url) : dispatch.record.url;
  line.depth = dispatch.record.depth;
  line.via = dispatch.record.via.ToString();
  line.attempt = 0;
  if (IsRevisit(dispatch.record)) {
    line.visited = true;
    NoteUnvisited(dispatch.record, VisitEnd::kFailed);
  } else if (dispatch.record.kind != UrlKind::kRobots) {
    if (admission_ != nullptr) admission_->OnDenied(dispatch.record.url);
    if (park_ != nullptr) park_->OnUnfetched(line.url, dispatch.host);
  }
  EndUrl(dispatch.record, result, line);
}

// The URL's turn has come, but it is no longer in scope. If nothing of an origin may be fetched, its robots.txt is not
// fetched either, and its URLs end at the gate.
Status Shard::LeaveOut(const Dispatch& dispatch, const KeptOut& why, Moment now) {
  const std::string copy = EncodeUrlRecord(dispatch.record);  // Skip frees the slot's copy
  frontier_->Skip(dispatch.slot);
  const UrlRecord record = DecodeUrlRecord(copy).value();
  if (record.kind == UrlKind::kRobots) {
    --robots_open_;
    RobotsAnswer none;
    none.hopeless = true;
    return SendRobotsAnswer(record, none, now);
  }
  EndKeptOut(record, why, now);
  return {};
}

Status Shard::Start(const Dispatch& dispatch, Moment now) {
  const UrlRecord& record = dispatch.record;
  const bool robots = record.kind == UrlKind::kRobots;
  if (robots && scope_.ExcludesOrigin(RobotsOrigin(record.url))) return LeaveOut(dispatch, {}, now);
  RuleVerdict rules;
  PageLimits::Claim claim;
  if (!robots) {
    if (const KeptOut why = WhatKeepsOut(record, dispatch.host, &rules)) {
      return LeaveOut(dispatch, why, now);
    }
    ASSIGN_OR_RETURN(const bool diverted, Divert(dispatch, now));
    if (diverted) return {};
    if (const std::string counterpart = CounterpartOf(record); !counterpart.empty()) {
      return LeaveToCounterpart(dispatch, counterpart, now);
    }
    if (rules.limit != nullptr && page_limits_ && !IsRevisit(record)) {
      claim = page_limits_->ClaimOf(*rules.limit, record.url, dispatch.host);
      if (AwaitsLimit(dispatch, claim, *rules.limit, now)) return {};
    }
    GateToFrontier passed(*this, now);
    ASSIGN_OR_RETURN(const Verdict verdict, gate_->AtFetch(record, GateTime(now).unix_s));
    if (verdict != Verdict::kAllowed) {
      const std::string copy = EncodeUrlRecord(record);  // Skip frees the slot's copy
      frontier_->Skip(dispatch.slot);
      const UrlRecord mine = DecodeUrlRecord(copy).value();
      if (verdict == Verdict::kDenied) return passed.OnDenied(mine, DenyReason::kRules);
      // Its rules are too old, so it goes through the robots loop again.
      return AddToGate(mine, passed, now);
    }
    const auto delay = gate_->CrawlDelayMs(record, GateTime(now).unix_s);
    if (delay || (scope_.rules() != nullptr && scope_.rules()->has(RuleAction::kRate))) {
      frontier_->SetCrawlDelay(dispatch.host, int64_t{delay.value_or(0)} * 1'000'000,
                               rules.rate == nullptr ? 0 : rules.rate->delay_ns);
    }
    if (page_limits_ && !IsRevisit(record)) page_limits_->Begin(claim);
  }
  if (record.attempts == 0) hurried_ = false;
  const uint64_t id = next_id_++;
  in_flight_.emplace(
      id, InFlight{dispatch.slot, EncodeUrlRecord(record), dispatch.address, dispatch.host, now.now_ns, claim});
  FetchTask task;
  task.id = id;
  task.kind = record.kind;
  task.url = record.kind == UrlKind::kRobots ? RobotsTarget(record.url) : record.url;
  task.address = dispatch.address;
  task.host = dispatch.host;
  task.via = record.via.ToString();
  task.depth = record.depth;
  if (!record.last.empty()) {
    // What cannot be read is a first visit.
    if (auto last = DecodeLastVisit(record.last)) task.last = std::make_shared<const LastVisit>(*std::move(last));
  }
  port_.Fetch(std::move(task));
  return {};
}

Status Shard::StartRounds(Moment now) {
  ASSIGN_OR_RETURN(const bool seen_began, seen_->StartRound(now.now_ns, hungry_));
  // URLs at the gate are nearer to a fetch than those in BEAST's queues, and keep those from going on. With a full gate
  // and full queues nothing else would start a round.
  const bool gate_hungry = hungry_ || FrontierHungry();
  ASSIGN_OR_RETURN(const bool gate_began, gate_->StartRounds(GateTime(now), gate_hungry));
  bool star_began = false;
  if (admission_ != nullptr) {
    ASSIGN_OR_RETURN(star_began, admission_->StartRound(now.now_ns, hungry_));
    WakeBy(admission_->NextRoundTime(now.now_ns, hungry_));
  }
  if (content_ != nullptr) {
    const bool last = NothingElse();
    ASSIGN_OR_RETURN(const bool content_began, content_->StartRound(now.now_ns, last));
    WakeBy(content_began && content_->ResultsReady() ? now.now_ns : content_->NextRoundTime(now.now_ns, last));
  }
  if (seen_began || gate_began || star_began) {
    // An executor that runs jobs at once has the answers already.
    if (seen_->ResultsReady() || gate_->Ready() || (star_began && admission_->Ready())) next_wake_ns_ = now.now_ns;
  }
  next_wake_ns_ = std::min(
      {next_wake_ns_, seen_->NextRoundTime(now.now_ns, hungry_), gate_->NextRoundTime(GateTime(now), gate_hungry)});
  return {};
}

}  // namespace portolan
