#include "crawl/shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "crawl/seed_list.h"
#include "gate/robots_request.h"

namespace portolan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Work of one pump, so that events never wait long: answers of merges that move on, and URLs that are dispatched.
constexpr uint64_t kMoveStep = 4096;
constexpr int kDispatchStep = 256;

// Steps from a page to what it needs, each to what the one before needs: a frame in a frame, its style sheet, what that
// imports, a font. Depth does not grow on the way, so this is what ends a chain that is endless.
constexpr uint8_t kRequisiteSteps = 8;
static_assert(kRequisiteSteps <= kMaxRequisiteSteps);

}  // namespace

// What the robots loop lets out.
class Shard::GateToFrontier : public GateSink {
 public:
  GateToFrontier(Shard& shard, Moment now) : shard_(shard), now_(now) {}

  Status OnAllowed(const UrlRecord& record) override { return shard_.frontier_->Add(record); }
  Status OnDenied(const UrlRecord& record, DenyReason reason) override {
    shard_.Deny(record, reason, now_);
    return {};
  }
  Status OnRobotsWanted(const UrlRecord& robots) override {
    RETURN_IF_ERROR(shard_.frontier_->Add(robots));
    ++shard_.robots_open_;
    return {};
  }

 private:
  Shard& shard_;
  const Moment now_;
};

// New URLs go on: to admission, or without budgets to the robots loop.
class Shard::UniqueOnward : public UniqueSink {
 public:
  UniqueOnward(Shard& shard, Moment now) : shard_(shard), now_(now), passed_(shard, now) {}
  Status OnUnique(std::string_view bytes) override {
    const std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "urlseen gave back bytes that are not a record");
    return shard_.AddNew(*record, passed_, now_);
  }

 private:
  Shard& shard_;
  const Moment now_;
  GateToFrontier passed_;
};

Result<std::unique_ptr<Shard>> Shard::Open(Env& env, const Manifest& manifest, Executor& executor, FetchPort& port,
                                           ArchivePort& archive, const ShardOptions& asked, Moment now) {
  ShardOptions options = asked;
  options.scope.key = options.key;
  ASSIGN_OR_RETURN(Scope scope, Scope::Create(options.scope));
  options.admission.key = options.gate.key = options.frontier.key = options.key;
  std::unique_ptr<Shard> shard(new Shard(port, archive, options, std::move(scope)));
  ASSIGN_OR_RETURN(shard->seeds_, DiskQueue::Open(env, manifest, {.name = kSeedQueue}));
  ASSIGN_OR_RETURN(shard->seen_, UrlSeen::Open(env, manifest, executor, options.seen));
  if (options.admission.enabled) {
    ASSIGN_OR_RETURN(shard->admission_, Admission::Open(env, manifest, executor, options.admission));
  }
  ASSIGN_OR_RETURN(shard->gate_, Gate::Open(env, manifest, executor, options.gate));
  const uint64_t room =
      std::min(shard->seen_->EmptyRoom(),
               shard->admission_ == nullptr ? shard->seen_->EmptyRoom() : shard->admission_->EmptyVouchRoom());
  if (room < options.max_links) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("pages of up to {} links (page.max_links) need more memory (memory.total): {} links fit",
                            options.max_links, room));
  }
  ASSIGN_OR_RETURN(shard->frontier_, Frontier::Open(env, manifest, options.frontier, now.now_ns, now.unix_ns));
  shard->opened_ns_ = shard->last_ns_ = shard->next_wake_ns_ = now.now_ns;
  shard->calendar_ns_ = now.unix_ns;
  RETURN_IF_ERROR(shard->Restore(manifest));
  return shard;
}

// ---- events

Status Shard::AddSeed(std::string_view url, Moment now) {
  UrlRecord record;
  record.url = url;
  EncodeUrlRecord(record, encoded_);
  RETURN_IF_ERROR(seeds_->Append(encoded_));
  next_wake_ns_ = now.now_ns;
  return {};
}

bool Shard::HasRoomFor(const PageResult& result) const {
  const uint64_t links = result.links.links.size();
  if (links > 0 && (seen_->Room() < links || (admission_ != nullptr && admission_->VouchRoom() < links))) return false;
  return result.kind != UrlKind::kRobots || gate_->Room() > 0;
}

Status Shard::OnPage(PageResult&& result, Moment now) {
  const auto found = in_flight_.find(result.id);
  CHECK(found != in_flight_.end(), "an answer to a task that was not given");
  if (result.id == probe_id_) outage_.fetch_probes().Ended(options_.outage, now.now_ns);
  outage_.OnFetch(found->second.host, found->second.address, result.outcome, result.times.end_ns, now.now_ns);
  if (MayBeOutage(result)) {
    doubtful_.push_back({std::move(result), now.now_ns + options_.outage.hold_ns});
  } else {
    RETURN_IF_ERROR(Settle(std::move(result), now));
  }
  next_wake_ns_ = now.now_ns;
  return {};
}

Status Shard::Settle(PageResult&& result, Moment now) {
  const auto found = in_flight_.find(result.id);
  const InFlight flight = std::move(found->second);
  in_flight_.erase(found);
  const UrlRecord record = DecodeUrlRecord(flight.record).value();
  if (record.kind == UrlKind::kRobots) --robots_in_flight_;

  ++counts_.fetches;
  counts_.wire_bytes += result.wire_bytes;
  const bool page = record.kind == UrlKind::kPage && FollowOf(result.outcome, result.status).count == CountAs::kFetched;
  if (HasAnswer(result.outcome)) hosts_.Add(flight.host, HostOf(record.url), page, result.wire_bytes);
  if (result.outcome == FetchOutcome::kShortage) OnShortage(now);
  RETURN_IF_ERROR(Finish(result, record, flight, now));

  counts_.url_too_long += result.links_too_long;
  counts_.too_many_links += result.links_too_many;
  if (result.links.links.empty()) return {};
  // Only pages vouch: a line in robots.txt or a redirect costs nothing.
  const bool vouches = admission_ != nullptr && record.kind == UrlKind::kPage;
  LinkSource from{.kind = result.kind, .depth = record.depth, .hops = record.hops, .requisite = record.requisite};
  from.host = vouches ? flight.host : 0;
  from.pld = vouches ? admission_->PayLevelKey(record.url, from.host) : 0;
  from.beyond = record.requisite > 0 && !scope_.Contains(record.url, flight.host);
  if (options_.via) from.url = record.kind == UrlKind::kRobots ? RobotsTarget(record.url) : record.url;
  return OfferLinks(result.links, from);
}

// The frontier's clocks, the gate's rules, the archive: everything but the links.
Status Shard::Finish(PageResult& result, const UrlRecord& record, const InFlight& flight, Moment now) {
  const Follow follow = FollowOf(result.outcome, result.status);
  Hit hit;
  hit.duration_ns = std::max<int64_t>(0, result.times.end_ns - result.times.begin_ns);
  hit.retry_after_ns = result.retry_after_ns.value_or(0);
  hit.ok = follow.retry == Retry::kNever && HasAnswer(result.outcome);
  hit.host_ill = follow.retry == Retry::kHostLater;
  hit.wait_ns = follow.retry == Retry::kNever ? 0 : int64_t{follow.first_wait_ms} * 1'000'000;
  hit.outcome = result.outcome;
  FetchLine line;
  line.url = record.kind == UrlKind::kRobots ? RobotsTarget(record.url) : record.url;
  line.address = flight.address;
  line.depth = record.depth;
  line.via = record.via.ToString();
  line.attempt = static_cast<uint8_t>(record.attempts + 1);

  if (record.kind == UrlKind::kRobots) {
    ++counts_.robots;
    if (follow.retry == Retry::kNow) {
      frontier_->Retry(flight.slot, record, Where::kHead, hit, now.now_ns);
      return {};
    }
    RobotsAnswer answer = result.robots.value_or(RobotsAnswer{});
    answer.hopeless = follow.retry == Retry::kNever && !HasAnswer(result.outcome);
    const bool failed = answer.kind == RobotsAnswer::Kind::kDisallowAll;
    if (failed && !answer.hopeless && AskRobotsAgain(result, record, flight, hit, line, now)) return {};
    if (failed) {
      answer.hopeless = answer.hopeless || options_.give_up_quickly;
      const Failure failure{result.outcome, result.status};
      NoteTrouble({std::string(line.url), failure.Words(), line.attempt, answer.hopeless});
    }
    // Without give_up_quickly robots.txt has its own rules for failures (the gate's): it is never retried here.
    frontier_->Finish(flight.slot, hit, now.now_ns);
    --robots_open_;
    EndUrl(record, result, line);
    // Known from now on, so it holds for the first page already.
    if (answer.crawl_delay_ms) {
      frontier_->SetCrawlDelay(HostKey(RobotsOrigin(record.url), options_.key),
                               int64_t{*answer.crawl_delay_ms} * 1'000'000);
    }
    return TellGate(record, answer, now);
  }

  const bool again =
      follow.retry == Retry::kNow || (follow.retry != Retry::kNever && record.attempts + 1 < follow.attempts);
  if (!again) {
    frontier_->Finish(flight.slot, hit, now.now_ns);
    if (admission_ != nullptr) {
      admission_->Observe(record.url, flight.host, result);
      window_.OnFetched();
    }
    EndUrl(record, result, line);
    return {};
  }
  UrlRecord later = record;
  if (follow.retry != Retry::kNow) ++later.attempts;
  ++counts_.retries;
  // The second attempt after first_wait, each further one after twice as long.
  if (later.attempts > 1 && !hit.host_ill) hit.wait_ns <<= std::min<int>(later.attempts - 1, 16);
  frontier_->Retry(flight.slot, later, follow.retry == Retry::kUrlLater ? Where::kTail : Where::kHead, hit, now.now_ns);
  NoteFailure(options_.key.Hash(record.url), {result.outcome, result.status, follow.attempts});
  // Only the last answer of a URL is archived, and only its links count.
  result.archive = {};
  result.links = {};
  line.again = true;
  archive_.Keep(result, line);
  return {};
}

void Shard::EndUrl(const UrlRecord& record, PageResult& result, const FetchLine& about) {
  if (!failures_.empty()) failures_.erase(options_.key.Hash(record.url));
  if (record.kind != UrlKind::kRobots) {
    ++counts_.done[static_cast<size_t>(FollowOf(result.outcome, result.status).count)];
    ++counts_.outcomes[static_cast<size_t>(result.outcome)];
    const int status = result.status;
    if (HasAnswer(result.outcome)) ++counts_.statuses[status > 0 && status < 1000 ? static_cast<size_t>(status) : 0];
  }
  counts_.body_bytes += result.body_bytes;
  if (!result.archive.bytes.empty()) ++counts_.archived;
  archive_.Keep(result, about);
}

void Shard::Deny(const UrlRecord& record, DenyReason reason, Moment now) {
  // What the scope leaves out now is not robots.txt's doing: it was not even asked for.
  if (!InScope(record, HostKey(record.url, options_.key))) {
    ++counts_.excluded;
    return EndUnfetched(record, "out_of_scope", now);
  }
  const bool rules = reason == DenyReason::kRules;
  ++(rules ? counts_.denied : counts_.unreachable);
  EndUnfetched(record, rules ? "robots_denied" : "robots_unreachable", now);
}

void Shard::EndUnfetched(const UrlRecord& record, std::string_view why, Moment now) {
  if (admission_ != nullptr) admission_->OnDenied(record.url);
  if (!failures_.empty()) failures_.erase(options_.key.Hash(record.url));
  PageResult none;
  none.kind = record.kind;
  none.times.begin_unix_ns = now.unix_ns;
  FetchLine line;
  line.url = record.url;
  line.depth = record.depth;
  line.via = record.via.ToString();
  line.attempt = 0;
  line.denied = why;
  archive_.Keep(none, line);
}

Status Shard::AddNew(const UrlRecord& record, GateSink& sink, Moment now) {
  return admission_ == nullptr ? AddToGate(record, sink, now) : admission_->Add(record);
}

// REQUIRES: the gate has room.
Status Shard::AddToGate(const UrlRecord& record, GateSink& sink, Moment now) {
  // Before robots.txt is asked for on its behalf.
  if (!InScope(record, HostKey(record.url, options_.key))) {
    ++counts_.excluded;
    EndUnfetched(record, "out_of_scope", now);
    return {};
  }
  return gate_->Add(record, sink, GateTime(now));
}

// REQUIRES: the gate has room.
Status Shard::TellGate(const UrlRecord& request, const RobotsAnswer& answer, Moment now) {
  GateToFrontier passed(*this, now);
  return gate_->OnRobots(request.url, request.hops, answer, passed, GateTime(now));
}

// ---- links

Status Shard::OfferLinks(const LinkList& list, const LinkSource& from) {
  for (const FoundLink& link : list.links) {
    const std::string_view url = list.UrlOf(link);
    UrlRecord record;
    record.url = url;
    const bool redirect = (link.flags & kFoundRedirect) != 0;
    const bool embed = (link.flags & kFoundEmbed) != 0;
    ++counts_.links;
    if (from.kind == UrlKind::kRobots && !options_.sitemaps) {
      ++counts_.sitemaps_off;
      continue;
    }
    if ((link.flags & kFoundNofollow) != 0 && !options_.follow_nofollow && !redirect) {
      ++counts_.nofollow;
      continue;
    }
    const bool needed =
        options_.scope.requisites && (link.flags & kFoundRequisite) != 0 && from.requisite < kRequisiteSteps;
    if (embed && !needed && !options_.follow_embeds) continue;
    if (from.beyond && !needed && !redirect) {
      ++counts_.out_of_scope;
      continue;
    }
    if (redirect) {
      if (from.hops >= options_.max_hops) {
        ++counts_.too_many_hops;
        continue;
      }
      record.hops = static_cast<uint8_t>(from.hops + 1);
      record.depth = from.depth;
      record.requisite = from.requisite;
    } else if (needed) {
      // As near as its page: no page is kept without what it needs because it is the last one of its depth.
      record.depth = from.depth;
      record.requisite = static_cast<uint8_t>(from.requisite + 1);
    } else {
      // Sitemaps lead to pages as near as a home page's links.
      record.depth = static_cast<uint16_t>(std::min<uint32_t>(from.depth + 1U, 0xffff));
    }
    const bool sitemap = (link.flags & kFoundSitemapFile) != 0 || (redirect && from.kind == UrlKind::kSitemap);
    if (sitemap) record.kind = UrlKind::kSitemap;
    if (options_.depth_limited && record.depth > options_.max_depth) {
      ++counts_.too_deep;
      continue;
    }
    if (!scope_.Admits(record, link.host_hash)) {
      ++counts_.out_of_scope;
      continue;
    }
    record.priority = static_cast<uint8_t>(std::min<uint32_t>(record.depth, options_.frontier.front_queues - 1));
    record.via = ViaOf(from.url, url);
    if (from.pld != 0 && link.host_hash != from.host && !redirect) {
      const uint64_t target = admission_->PayLevelKey(url, link.host_hash);
      if (target != from.pld) RETURN_IF_ERROR(admission_->Vouch(from.pld, target));
    }
    EncodeUrlRecord(record, encoded_);
    RETURN_IF_ERROR(seen_->Add(link.hash, encoded_));
    ++counts_.offered;
  }
  return {};
}

Status Shard::OfferSeeds(bool* moved) {
  const uint64_t room = std::min(kMoveStep, seen_->Room());
  for (uint64_t offered = 0; offered < room && seeds_->size() > 0; ++offered) {
    ASSIGN_OR_RETURN(const std::string* bytes, seeds_->Front());
    if (bytes == nullptr) break;
    const std::optional<UrlRecord> record = DecodeUrlRecord(*bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "not a record in the queue of seeds");
    RETURN_IF_ERROR(seen_->Add(options_.key.Hash(record->url), *bytes));
    seeds_->PopFront();
    ++counts_.seeds;
    *moved = true;
  }
  return {};
}

// ---- the pump

Status Shard::Pump(Moment now) {
  last_ns_ = now.now_ns;
  if (state_ != State::kRunning) return {};
  RETURN_IF_ERROR(SettleDoubtful(now));
  bool moved = false;
  RETURN_IF_ERROR(MoveResults(now, &moved));
  next_wake_ns_ = kNever;
  const bool limited = AtLimit(now);
  const bool ending = stopping_ || limited;
  if (!ending && !inbox_waits_) RETURN_IF_ERROR(OfferSeeds(&moved));
  if (!ending && !paused_) AskWaitingNames(now);
  const bool dispatching = !ending && !inbox_waits_ && !paused_;
  if (dispatching) RETURN_IF_ERROR(DispatchTasks(now));
  if (admission_ != nullptr) TellWindow(dispatching, now);
  if (!ending) {
    hungry_ = HungryForNew();
    RETURN_IF_ERROR(StartRounds(now));
  }
  if (options_.give_up_quickly && dispatching && dry_) HurryIfNothingElse(now);
  if (moved || (ending && !doubtful_.empty() && HasRoomFor(doubtful_.front().result))) next_wake_ns_ = now.now_ns;

  if (in_flight_.empty()) {
    if (stopping_) {
      state_ = State::kStopped;
    } else if (limited) {
      state_ = State::kDone;
    } else if (seeds_->size() == 0 && seen_->waiting() == 0 && (admission_ == nullptr || admission_->waiting() == 0) &&
               gate_->waiting() == 0 && frontier_->counts().urls() == 0) {
      state_ = State::kDone;
    }
  }
  return {};
}

Status Shard::MoveResults(Moment now, bool* moved) {
  if (const uint64_t room = std::min(kMoveStep, RoomForNew()); room > 0 && seen_->ResultsReady()) {
    UniqueOnward unique(*this, now);
    ASSIGN_OR_RETURN(const uint64_t looked, seen_->Take(unique, room, now.now_ns));
    *moved = *moved || looked > 0;
  }
  if (admission_ != nullptr) RETURN_IF_ERROR(Admit(now, moved));
  GateToFrontier passed(*this, now);
  ASSIGN_OR_RETURN(const uint64_t pumped, gate_->Pump(passed, std::min(kMoveStep, frontier_->Room()), GateTime(now)));
  *moved = *moved || pumped > 0;
  return {};
}

// URLs whose turn has come go to the robots loop, as far as the window allows (admission_window.h): as fast as pages
// are fetched, and faster only while connections idle. The rest waits in BEAST's queues, where a better reputation can
// still overtake it.
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
      if (!record) return Fail(ErrorCode::kCorrupt, "beast gave back bytes that are not a record");
      RETURN_IF_ERROR(AddToGate(*record, passed, now));
    }
    admitted += records.size();
    *moved = true;
  }
  return {};
}

// After each dispatch. When the frontier's memory is full its front queues hold what came: more would not help.
void Shard::TellWindow(bool dispatching, Moment now) {
  const bool idle = dispatching && dry_ && frontier_->counts().front == 0;
  const bool full = admission_->HasQueued() && window_.Room(Pending()) == 0;
  const uint64_t idle_connections = connections_ - std::min<uint64_t>(connections_, in_flight_.size());
  window_.SetIdle(idle ? idle_connections : 0, full, now.now_ns);
  if (window_.growing()) next_wake_ns_ = std::min(next_wake_ns_, now.now_ns + AdmissionWindow::kAsk);
}

Status Shard::DispatchTasks(Moment now) {
  dry_ = false;
  AllowMoreConnections(now);
  if (now.now_ns < short_until_ns_) {
    next_wake_ns_ = std::min(next_wake_ns_, short_until_ns_);
    return {};
  }
  const bool probe = outage_.connections_down();
  if (probe && !outage_.fetch_probes().MayProbe(now.now_ns)) {
    if (!outage_.fetch_probes().out()) next_wake_ns_ = std::min(next_wake_ns_, outage_.fetch_probes().next_ns());
    return {};
  }
  for (int step = 0; step < kDispatchStep; ++step) {
    if (in_flight_.size() >= connections_) return {};
    // A URL whose rules are too old, or a robots.txt that fails here, goes to the gate.
    if (gate_->Room() == 0) return {};
    if (options_.max_pages > 0 && counts_.pages() + PagesInFlight() >= options_.max_pages) return {};
    ASSIGN_OR_RETURN(const Dispatch dispatch, frontier_->Next(now.now_ns, now.unix_ns));
    switch (dispatch.kind) {
      case Dispatch::Kind::kWait:
        next_wake_ns_ = std::min(next_wake_ns_, dispatch.until_ns);
        dry_ = true;
        return {};
      case Dispatch::Kind::kMoreWork:
        break;
      case Dispatch::Kind::kResolve:
        AskName(dispatch.host, dispatch.name);
        break;
      case Dispatch::Kind::kFail:
        FailUnfetched(dispatch, now);
        if (dispatch.record.kind == UrlKind::kRobots) {
          // The frontier has tried as often as there is hope.
          --robots_open_;
          NoteTrouble({std::string(HostOf(dispatch.record.url)), Failure{dispatch.outcome}.Words(),
                       static_cast<uint32_t>(dispatch.record.attempts + 1), true});
          RobotsAnswer none;
          none.hopeless = true;
          RETURN_IF_ERROR(TellGate(dispatch.record, none, now));
        }
        break;
      case Dispatch::Kind::kFetch: {
        const uint64_t before = next_id_;
        RETURN_IF_ERROR(Start(dispatch, now));
        if (!probe || next_id_ == before) break;
        probe_id_ = before;
        outage_.fetch_probes().Began();
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
  if (admission_ != nullptr && dispatch.record.kind != UrlKind::kRobots) admission_->OnDenied(dispatch.record.url);
  EndUrl(dispatch.record, result, line);
}

// Its turn has come, and the scope does not have it any more. Of an origin of which nothing may be fetched not even
// robots.txt is: its URLs end at the gate.
Status Shard::LeaveOut(const Dispatch& dispatch, Moment now) {
  const std::string copy = EncodeUrlRecord(dispatch.record);  // the slot's own dies with it
  frontier_->Skip(dispatch.slot);
  const UrlRecord record = DecodeUrlRecord(copy).value();
  if (record.kind == UrlKind::kRobots) {
    --robots_open_;
    RobotsAnswer none;
    none.hopeless = true;
    return TellGate(record, none, now);
  }
  ++counts_.excluded;
  EndUnfetched(record, "out_of_scope", now);
  return {};
}

Status Shard::Start(const Dispatch& dispatch, Moment now) {
  const UrlRecord& record = dispatch.record;
  const bool robots = record.kind == UrlKind::kRobots;
  if (robots ? scope_.ExcludesOrigin(RobotsOrigin(record.url)) : !InScope(record, dispatch.host)) {
    return LeaveOut(dispatch, now);
  }
  if (!robots) {
    GateToFrontier passed(*this, now);
    ASSIGN_OR_RETURN(const Verdict verdict, gate_->AtFetch(record, GateTime(now).unix_s));
    if (verdict != Verdict::kAllowed) {
      const std::string copy = EncodeUrlRecord(record);  // the slot's own dies with it
      frontier_->Skip(dispatch.slot);
      const UrlRecord mine = DecodeUrlRecord(copy).value();
      if (verdict == Verdict::kDenied) return passed.OnDenied(mine, DenyReason::kRules);
      // Its rules are too old: through the robots loop again.
      return AddToGate(mine, passed, now);
    }
    if (const auto delay = gate_->CrawlDelayMs(record, GateTime(now).unix_s)) {
      frontier_->SetCrawlDelay(dispatch.host, int64_t{*delay} * 1'000'000);
    }
  } else {
    ++robots_in_flight_;
  }
  if (record.attempts == 0) hurried_ = false;
  const uint64_t id = next_id_++;
  in_flight_.emplace(id, InFlight{dispatch.slot, EncodeUrlRecord(record), dispatch.address, dispatch.host, now.now_ns});
  FetchTask task;
  task.id = id;
  task.kind = record.kind;
  task.url = record.kind == UrlKind::kRobots ? RobotsTarget(record.url) : record.url;
  task.address = dispatch.address;
  task.host = dispatch.host;
  task.via = record.via.ToString();
  task.depth = record.depth;
  port_.Fetch(std::move(task));
  return {};
}

Status Shard::StartRounds(Moment now) {
  ASSIGN_OR_RETURN(const bool seen_began, seen_->StartRound(now.now_ns, hungry_));
  // What is at the gate is nearer than what is in BEAST's queues, and keeps that from going on: with a full gate and
  // full queues nobody else would ask.
  const bool gate_hungry = hungry_ || FrontierHungry();
  ASSIGN_OR_RETURN(const bool gate_began, gate_->StartRounds(GateTime(now), gate_hungry));
  bool star_began = false;
  if (admission_ != nullptr) {
    ASSIGN_OR_RETURN(star_began, admission_->StartRound(now.now_ns, hungry_));
    next_wake_ns_ = std::min(next_wake_ns_, admission_->NextRoundTime(now.now_ns, hungry_));
  }
  if (seen_began || gate_began || star_began) {
    // An executor that works at once has the answers already.
    if (seen_->ResultsReady() || gate_->Ready() || (star_began && admission_->Ready())) next_wake_ns_ = now.now_ns;
  }
  next_wake_ns_ = std::min(
      {next_wake_ns_, seen_->NextRoundTime(now.now_ns, hungry_), gate_->NextRoundTime(GateTime(now), gate_hungry)});
  return {};
}

bool Shard::AtLimit(Moment now) {
  if (!limit_reached_.empty()) return true;
  if (options_.max_pages > 0 && counts_.pages() >= options_.max_pages) {
    limit_reached_ = "max_pages";
  } else if (options_.max_bytes > 0 && counts_.wire_bytes >= options_.max_bytes) {
    limit_reached_ = "max_bytes";
  } else if (options_.max_time_ns > 0 && running_ns(now) >= options_.max_time_ns) {
    limit_reached_ = "max_time";
  } else if (options_.max_time_ns > 0) {
    next_wake_ns_ = std::min(next_wake_ns_, now.now_ns + options_.max_time_ns - running_ns(now));
  }
  return !limit_reached_.empty();
}

Shard::Census Shard::TakeCensus() const {
  Census census;
  census.unanswered = seeds_->size() + seen_->waiting();
  census.admission = admission_ == nullptr ? 0 : admission_->waiting();
  census.gate = gate_->waiting();
  census.frontier = frontier_->counts().waiting();
  census.in_flight = in_flight_.size();
  census.finished = counts_.finished();
  census.robots = robots_open_;
  return census;
}

// ---- checkpoint

std::vector<Checkpointable*> Shard::Checkpointables() {
  std::vector<Checkpointable*> all = {this, seeds_.get()};
  for (const auto& part : {seen_->Checkpointables(), gate_->Checkpointables(), frontier_->Checkpointables()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  if (admission_ != nullptr) {
    for (Checkpointable* part : admission_->Checkpointables()) all.push_back(part);
  }
  return all;
}

Status Shard::Flush() {
  flushed_running_ns_ = ran_before_ns_ + last_ns_ - opened_ns_;
  flushed_calendar_ns_ = calendar_ns_ + last_ns_ - opened_ns_;
  return {};
}

}  // namespace portolan
