#include "crawl/shard.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "crawl/seed_list.h"
#include "crawl/shard_sinks.h"
#include "gate/robots_request.h"

namespace portolan {
Result<std::unique_ptr<Shard>> Shard::Open(Env& env, const Manifest& manifest, MergeLanes lanes, ShardPorts ports,
                                           const ShardOptions& asked, Moment now) {
  CHECK(asked.shard < asked.shards && (ports.exchange != nullptr) == (asked.shards > 1));
  ShardOptions options = asked;
  if (!options.limits) {
    options.limits =
        std::make_shared<Limits>(Limits::Options{options.max_pages, options.max_bytes, options.max_time_ns});
  }
  for (std::string* const name :
       {&options.seen.name, &options.gate.name, &options.frontier.name, &options.admission.star.name,
        &options.admission.beast.name, &options.admission.yield.name, &options.admission.hosts.name,
        &options.admission.ends_name, &options.content.name, &options.near.name, &options.traps.table.name,
        &options.traps.idle.name, &options.traps.name, &options.traps.queue, &options.refresh.schedule.name}) {
    *name = ShardName(options.seat(), *name);
  }
  options.frontier.shards = options.admission.star.shards = options.shards;
  options.frontier.shard = options.shard;
  if (options.phases) {
    RETURN_IF_ERROR(CheckPhases(options));
    options.phases->nodes = options.shards;
    if (options.phases->phases == 0) options.phases->phases = options.shards;
    options.frontier.phases = options.phases;
    // Only one host in `phases` may be fetched from at a time.
    options.frontier.back_queues = static_cast<uint32_t>(std::min<uint64_t>(
        uint64_t{options.frontier.back_queues} * options.phases->phases, options.frontier.max_hosts));
  }
  options.scope.key = options.key;
  ASSIGN_OR_RETURN(Scope scope, Scope::Create(options.scope));
  options.admission.key = options.gate.key = options.frontier.key = options.content.key = options.traps.key =
      options.refresh.schedule.key = options.key;
  std::unique_ptr<Shard> shard(new Shard(ports, options, std::move(scope)));
  if (options.phases) shard->phases_.emplace(*options.phases);
  if (options.shards > 1) {
    ASSIGN_OR_RETURN(shard->domains_, PayLevelDomains::Create(options.key));
    options.admission.star.raise_elsewhere = [raw = shard.get()](uint64_t pld) {
      const uint32_t owner = ShardOfDomain(pld, raw->options_.shards);
      if (!raw->Here(owner)) raw->exchange_->Raise(owner, pld);
      return !raw->Here(owner);
    };
    options.admission.star.tell_ranks = [raw = shard.get()](std::string_view histogram) { raw->SendRanks(histogram); };
  }
  // With traps off, URLs that were parked before are let go.
  ASSIGN_OR_RETURN(const ManifestSection* parked, manifest.Find(options.traps.queue, DiskQueue::kKind));
  if (options.traps.enabled || parked != nullptr) {
    ASSIGN_OR_RETURN(shard->park_, TrapPark::Open(env, manifest, options.traps));
    options.admission.price_of = [park = shard->park_.get()](std::string_view url, uint64_t host_key) {
      return park->Price(url, host_key);
    };
  }
  ASSIGN_OR_RETURN(shard->seeds_, DiskQueue::Open(env, manifest, {.name = ShardName(options.seat(), kSeedQueue)}));
  ASSIGN_OR_RETURN(shard->arrivals_, DiskQueue::Open(env, manifest, {.name = ShardName(options.seat(), kArrivals)}));
  UrlSeenOptions seen = options.seen;
  if (options.shards > 1 && options.sent_share > 0) {
    shard->sent_ = std::make_unique<RecentKeys>(seen.memory / options.sent_share);
    seen.memory -= shard->sent_->bytes();
  }
  ASSIGN_OR_RETURN(shard->seen_, UrlSeen::Open(env, manifest, lanes.seen, seen));
  if (options.admission.enabled) {
    ASSIGN_OR_RETURN(shard->admission_, Admission::Open(env, manifest, lanes.others, options.admission));
  }
  if (const RuleSet* const rules = shard->scope_.rules(); rules != nullptr && rules->has(RuleAction::kLimit)) {
    ASSIGN_OR_RETURN(shard->page_limits_, PageLimits::Open(env, manifest, *rules,
                                                           {.name = ShardName(options.seat(), "limits"),
                                                            .memory = options.limits_memory,
                                                            .key = options.key}));
  }
  if (options.content_seen) {
    ASSIGN_OR_RETURN(shard->content_, ContentSeen::Open(env, manifest, lanes.others, options.content));
    ASSIGN_OR_RETURN(shard->mirrors_, MirrorTable::Open(manifest, ShardName(options.seat(), "mirrors"), options.key));
  }
  if (options.near_duplicates != NearPolicy::kKeep) {
    ASSIGN_OR_RETURN(shard->near_, NearSeen::Open(env, manifest, options.near));
  }
  ASSIGN_OR_RETURN(shard->gate_, Gate::Open(env, manifest, lanes.others, options.gate));
  const uint64_t room =
      std::min(shard->seen_->EmptyRoom(),
               shard->admission_ == nullptr ? shard->seen_->EmptyRoom() : shard->admission_->EmptyVouchRoom());
  if (room < options.max_links) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("pages of up to {} links (page.max_links) need more memory (memory.total): {} links fit",
                            options.max_links, room));
  }
  ASSIGN_OR_RETURN(shard->frontier_, Frontier::Open(env, manifest, options.frontier, now.now_ns, now.unix_ns));
  // A crawl that no longer comes back keeps its calendar, and goes on filling it.
  ASSIGN_OR_RETURN(const ManifestSection* scheduled,
                   manifest.Find(options.refresh.schedule.name, RefreshSchedule::kKind));
  if (options.refresh.enabled || scheduled != nullptr) {
    ASSIGN_OR_RETURN(shard->refresh_, Refresh::Open(env, manifest, options.refresh, options.connections,
                                                    options.frontier.politeness.host_delay_ns, now.now_ns));
  }
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
  const uint64_t payloads = (IsLookedAt(result) ? 1U : 0U) + (ForgetsPayload(result) ? 1U : 0U);
  if (payloads > 0 && !content_->HasRoom(payloads)) return false;
  if ((links > 0 || payloads > 0) && !HasRoomElsewhere()) return false;
  return result.kind != UrlKind::kRobots || gate_->Room() > 0;
}

Status Shard::OnPage(PageResult&& result, Moment now) {
  const auto found = in_flight_.find(result.id);
  CHECK(found != in_flight_.end(), "a result of a fetch that the shard did not start");
  const InFlight& flight = found->second;
  if (network_.OnFetch(result, flight.host, flight.address, EnoughHosts(), now.now_ns)) {
    network_.Hold(std::move(result), now.now_ns);
  } else {
    RETURN_IF_ERROR(EndFetch(std::move(result), now));
  }
  next_wake_ns_ = now.now_ns;
  return {};
}

Status Shard::EndFetch(PageResult&& result, Moment now) {
  const auto found = in_flight_.find(result.id);
  const InFlight flight = std::move(found->second);
  in_flight_.erase(found);
  const UrlRecord record = DecodeUrlRecord(flight.record).value();

  ++counts_.fetches;
  counts_.wire_bytes += result.wire_bytes;
  limits_->AddBytes(result.wire_bytes);
  const bool page = record.kind == UrlKind::kPage && FollowOf(result.outcome, result.status).count == CountAs::kFetched;
  if (HasAnswer(result.outcome)) hosts_.Add(flight.host, HostOf(record.url), page, result.wire_bytes);
  if (result.outcome == FetchOutcome::kShortage) OnShortage(now);
  if (page_limits_ && !IsRevisit(record)) {
    page_limits_->End(flight.claim, FollowOf(result.outcome, result.status).count == CountAs::kFetched);
  }
  const uint64_t pages = counts_.pages();
  CopyLinks links = CopyLinks::kAll;
  RETURN_IF_ERROR(Finish(result, record, flight, links, now));
  if (record.kind != UrlKind::kRobots) limits_->End(counts_.pages() > pages);

  counts_.url_too_long += result.links_too_long;
  counts_.too_many_links += result.links_too_many;
  return OfferLinks(result, record, flight, links);
}

// Results that were in doubt and no longer are.
Status Shard::ReleaseHeld(Moment now) {
  counts_.outages += network_.TakeNewOutages();
  const bool ending = stopping_ || limits_->any_reached();
  for (const PageResult* known = nullptr; (known = network_.NextKnown(ending, now.now_ns)) != nullptr;) {
    if (!HasRoomFor(*known)) break;  // it stays in flight until there is room
    RETURN_IF_ERROR(EndFetch(network_.TakeKnown(), now));
  }
  while (const Resolution* resolution = network_.NextBelieved(ending, now.now_ns)) {
    PassNameToFrontier(*resolution, now);
    network_.DropBelieved();
  }
  return {};
}

Status Shard::OnResolved(const Resolution& resolution, Moment now) {
  if (resolution.outcome == FetchOutcome::kShortage) OnShortage(now);
  if (network_.OnResolved(resolution, EnoughHosts(), now.now_ns)) PassNameToFrontier(resolution, now);
  next_wake_ns_ = now.now_ns;
  return {};
}

void Shard::PassNameToFrontier(const Resolution& resolution, Moment now) {
  const bool failed = Outage::NameFailed(resolution.outcome);
  if (failed) {
    const Failure failure{resolution.outcome, 0, FollowOf(resolution.outcome, 0).attempts};
    NoteFailure(resolution.host, failure);
    if (const std::string_view name = network_.NameOf(resolution.host); !name.empty()) {
      NoteTrouble({.what = std::string(name), .why = failure.Words()});
    }
  }
  network_.Forget(resolution.host, failed);
  frontier_->OnResolved(resolution, now.now_ns);
}

// Updates the frontier's clocks, the gate's rules and the archive: everything except the links.
Status Shard::Finish(PageResult& result, const UrlRecord& record, const InFlight& flight, CopyLinks& links,
                     Moment now) {
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
  line.visited = result.visit != nullptr && result.visit->last != nullptr;

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
    // Without give_up_quickly the gate has its own rules for robots.txt that failed: it is never retried here.
    frontier_->Finish(flight.slot, hit, now.now_ns);
    --robots_open_;
    EndUrl(record, result, std::move(line));
    return SendRobotsAnswer(record, answer, now);
  }

  const bool again =
      follow.retry == Retry::kNow || (follow.retry != Retry::kNever && record.attempts + 1 < follow.attempts);
  if (!again) {
    frontier_->Finish(flight.slot, hit, now.now_ns);
    // A visit after the first says nothing about what new URLs of its kind yield.
    if (admission_ != nullptr && !line.visited) {
      admission_->Observe(record.url, flight.host, result);
      window_.OnFetched();
    }
    if (park_ != nullptr && !line.visited) park_->Observe(record, flight.host, result);
    DropByRule(record, result, line);
    if (line.visited) RETURN_IF_ERROR(CompareWithLast(result, record, line, links));
    if (!line.dropped && line.change != PayloadChange::kSame && IsLookedAt(result)) {
      RETURN_IF_ERROR(LookAtContent(result, record, line, links));
    }
    // A page that is visited again would be found to be nearly itself.
    if (!line.dropped && !line.visited) RETURN_IF_ERROR(LookForNear(result, record, line, links));
    if (refresh_ != nullptr) RETURN_IF_ERROR(NoteVisit(result, record, flight, line));
    EndUrl(record, result, std::move(line));
    return {};
  }
  UrlRecord later = record;
  if (follow.retry != Retry::kNow) ++later.attempts;
  ++counts_.retries;
  // The second attempt comes after first_wait; the wait doubles with each further one.
  if (later.attempts > 1 && !hit.host_ill) hit.wait_ns <<= std::min<int>(later.attempts - 1, 16);
  frontier_->Retry(flight.slot, later, follow.retry == Retry::kUrlLater ? Where::kTail : Where::kHead, hit, now.now_ns);
  NoteFailure(options_.key.Hash(record.url), {result.outcome, result.status, follow.attempts});
  // Only the last answer of a URL is archived, and only its links count.
  result.archive = {};
  result.outputs.clear();
  result.links = {};
  line.again = true;
  outputs_.Write(result, std::move(line));
  return {};
}

void Shard::EndUrl(const UrlRecord& record, PageResult& result, FetchLine about) {
  if (!failures_.empty()) failures_.erase(options_.key.Hash(record.url));
  const bool there = FollowOf(result.outcome, result.status).count == CountAs::kFetched || result.status / 100 == 3;
  if (!there) BringBack(record);
  if (record.kind != UrlKind::kRobots && !IsRevisit(record)) {
    ++counts_.done[static_cast<size_t>(FollowOf(result.outcome, result.status).count)];
    ++counts_.outcomes[static_cast<size_t>(result.outcome)];
    const int status = result.status;
    if (HasAnswer(result.outcome)) ++counts_.statuses[status > 0 && status < 1000 ? static_cast<size_t>(status) : 0];
  }
  counts_.body_bytes += result.body_bytes;
  if (!result.archive.bytes.empty()) ++counts_.archived;
  outputs_.Write(result, std::move(about));
}

void Shard::Deny(const UrlRecord& record, DenyReason reason, Moment now) {
  // A URL that is now out of scope ends for that reason, not because of robots.txt, which was not fetched for it.
  if (const KeptOut why = WhatKeepsOut(record, HostKey(record.url, options_.key))) {
    return EndKeptOut(record, why, now);
  }
  const bool rules = reason == DenyReason::kRules;
  if (!IsRevisit(record)) ++(rules ? counts_.denied : counts_.unreachable);
  EndUnfetched(record, rules ? "robots_denied" : "robots_unreachable", now);
}

void Shard::EndUnfetched(const UrlRecord& record, std::string_view why, Moment now, const Rule* rule,
                         std::string_view counterpart) {
  if (IsRevisit(record)) {
    NoteUnvisited(record, why == "robots_unreachable" ? VisitEnd::kFailed : VisitEnd::kDropped);
  } else {
    if (admission_ != nullptr) admission_->OnDenied(record.url);
    if (park_ != nullptr) park_->OnUnfetched(record.url, HostKey(record.url, options_.key));
  }
  if (!failures_.empty()) failures_.erase(options_.key.Hash(record.url));
  if (why != "mirror") BringBack(record);
  PageResult none;
  none.kind = record.kind;
  none.times.begin_unix_ns = now.unix_ns;
  FetchLine line;
  line.url = record.url;
  line.depth = record.depth;
  line.via = record.via.ToString();
  line.attempt = 0;
  line.denied = why;
  line.visited = IsRevisit(record);
  if (rule != nullptr) line.rule = rule->Name();
  line.duplicate_of = counterpart;
  outputs_.Write(none, std::move(line));
}

Status Shard::AddNew(const UrlRecord& record, GateSink& sink, Moment now) {
  return admission_ == nullptr ? ParkOrAddToGate(record, sink, now) : admission_->Add(record);
}

// REQUIRES: the gate has room.
Status Shard::AddToGate(const UrlRecord& record, GateSink& sink, Moment now) {
  // Tested here so that robots.txt is not fetched for a URL that is out of scope.
  if (const KeptOut why = WhatKeepsOut(record, HostKey(record.url, options_.key))) {
    EndKeptOut(record, why, now);
    return {};
  }
  return gate_->Add(record, sink, GateTime(now));
}

// ---- links

LinkRules Shard::LinkRulesOf(const ShardOptions& options) {
  return {.sitemaps = options.sitemaps,
          .follow_nofollow = options.follow_nofollow,
          .follow_embeds = options.follow_embeds,
          .requisites = options.scope.requisites,
          .max_hops = options.max_hops,
          .depth_limited = options.depth_limited,
          .max_depth = options.max_depth,
          .priorities = options.frontier.front_queues};
}

// REQUIRES: HasRoomFor.
Status Shard::OfferLinks(const PageResult& result, const UrlRecord& record, const InFlight& flight, CopyLinks which) {
  const LinkList& list = result.links;
  if (list.links.empty()) return {};
  LinkSource from{.kind = result.kind, .depth = record.depth, .hops = record.hops, .requisite = record.requisite};
  if (record.requisite > 0) {
    UrlRecord as_page = record;
    as_page.requisite = 0;
    from.beyond = !scope_.Judge(as_page, flight.host).inside();
  }
  if (options_.via) from.url = record.kind == UrlKind::kRobots ? RobotsTarget(record.url) : record.url;
  // Only pages vouch: a line in robots.txt or a redirect is too cheap.
  const bool vouches = admission_ != nullptr && record.kind == UrlKind::kPage;
  const uint64_t pld = vouches ? admission_->PayLevelKey(record.url, flight.host) : 0;  // 0: it vouches for no domain
  for (const FoundLink& link : list.links) {
    if (!IsFollowed(which, link, flight.host)) {
      ++counts_.links;
      ++counts_.copied_links;
      continue;
    }
    const std::string_view url = list.UrlOf(link);
    UrlRecord found;
    const Rule* limit = nullptr;
    LinkFate fate = filter_.Judge(from, link, url, scope_, found, limit);
    const uint32_t owner = fate == LinkFate::kFollowed ? OwnerOf(url, link.host_hash) : 0;
    if (fate == LinkFate::kFollowed && OverLimit(limit, url, link.host_hash, owner)) fate = LinkFate::kOverLimit;
    ++counts_.links;
    ++CountOf(counts_, fate);
    if (fate != LinkFate::kFollowed) continue;
    if (pld != 0 && link.host_hash != flight.host && (link.flags & kFoundRedirect) == 0) {
      const uint64_t target = admission_->PayLevelKey(url, link.host_hash);
      if (target != pld) RETURN_IF_ERROR(admission_->Vouch(pld, target));
    }
    uint64_t hash = link.hash;
    if (park_ != nullptr && Here(owner) && park_->Without(url, link.host_hash, shorter_)) {
      found.url = shorter_;
      hash = options_.key.Hash(shorter_);
      ++counts_.shortened;
    }
    EncodeUrlRecord(found, encoded_);
    RETURN_IF_ERROR(Offer(hash, encoded_, owner));
  }
  return {};
}

// ---- for displays

Shard::Census Shard::TakeCensus() const {
  Census census;
  census.unanswered = seeds_->size() + arrivals_->size() + seen_->waiting();
  census.admission = admission_ == nullptr ? 0 : admission_->waiting();
  census.gate = gate_->waiting();
  census.frontier = frontier_->counts().waiting();
  census.parked = park_ == nullptr ? 0 : park_->parked();
  census.in_flight = in_flight_.size();
  census.finished = counts_.finished();
  census.robots = robots_open_;
  if (refresh_ != nullptr) {
    census.scheduled = refresh_->counts().pages;
    census.visiting = refresh_->counts().out;
  }
  return census;
}

// ---- checkpoint

std::vector<Checkpointable*> Shard::Checkpointables() {
  std::vector<Checkpointable*> all = {this, seeds_.get(), arrivals_.get()};
  for (const auto& part : {seen_->Checkpointables(), gate_->Checkpointables(), frontier_->Checkpointables()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  if (page_limits_) {
    for (Checkpointable* part : page_limits_->Checkpointables()) all.push_back(part);
  }
  if (admission_ != nullptr) {
    for (Checkpointable* part : admission_->Checkpointables()) all.push_back(part);
  }
  if (content_ != nullptr) {
    for (Checkpointable* part : content_->Checkpointables()) all.push_back(part);
    all.push_back(mirrors_.get());
  }
  if (near_ != nullptr) {
    for (Checkpointable* part : near_->Checkpointables()) all.push_back(part);
  }
  if (park_ != nullptr) {
    for (Checkpointable* part : park_->Checkpointables()) all.push_back(part);
  }
  if (refresh_ != nullptr) {
    for (Checkpointable* part : refresh_->Checkpointables()) all.push_back(part);
  }
  return all;
}

Status Shard::Flush() {
  flushed_running_ns_ = ran_before_ns_ + last_ns_ - opened_ns_;
  flushed_calendar_ns_ = calendar_ns_ + last_ns_ - opened_ns_;
  return {};
}

}  // namespace portolan
