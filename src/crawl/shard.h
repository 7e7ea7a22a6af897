// The shard: all state of a crawl, or of one part of it. It is a deterministic state machine: events change it, and it
// acts by commands.
//
//   events     OnPage (a fetch ended), OnResolved (a name was looked up), OnRoundDone (a merge ended), OnTick (time
//              passed), OnBlockList (the block lists have changed), AddSeed, Stop
//   commands   FetchPort (fetch this, resolve that), OutputPort (write this); merges go to an Executor
//
// It reads no clock, no random source and no socket: each event brings the time, randomness comes from a seed, files
// from an Env. The same events in the same order give the same commands in the same order.
//
// The path of a URL through it:
//   link found → in scope, or needed to show a page that is? not too deep? → UrlSeen (new?) → Admission (does its
//   domain deserve it now?) → Gate (robots.txt allows?) → Frontier (when?) → in scope and allowed still? → fetch →
//   its links …
// A URL whose turn has come, but whose form gave nothing new, is parked instead of fetched (trap_park.h).
// Without budgets there is no Admission: new URLs go to the gate at once.
//
// After each event it pumps: results of merges move on, tasks are dispatched while connections are free, merges are
// started when the frontier is hungry. A pump does a bounded amount of work; NextWake() says when OnTick is due.
//
// Thread: one. Invariant: every URL that UrlSeen called new is in exactly one place: admission, gate, frontier (front
// queue, back queue, spill), parked, in flight, or done; TakeCensus() counts them. So a checkpoint is possible between
// any two events. Memory bound: that of its parts. Errors: a Status with an error means that the disk failed and the
// state may be wrong: stop and go back to the last checkpoint; with kNoSpace, do so when there is room again.
//
// Room: each part says how much it can certainly take (Room), and no more is moved to it. A result of a fetch is taken
// as a whole: the driver asks HasRoomFor first, and keeps the result if there is no room (inbox.h). Until it is taken
// it counts as in flight, and nothing more is fetched. There is always room again:
//   - a DRUM lacks room only while it has a round whose answers are not all taken (drum.h: Room), and rounds end;
//   - the answers of URLseen need room in admission (STAR's domains) or, without budgets, at the gate; those of the
//     gate's RobotsCache in RobotsRequested; those of RobotsRequested in the frontier; those of STAR's edges in its
//     domains; those of the domains in BEAST's queues. These dependencies form no circle, and BEAST's queues, the
//     gate's queues and the frontier take any number. So the last DRUM of each path can always be emptied, then the one
//     before it;
//   - an empty DRUM has room for the links of any page: Open checks that;
//   - the answers of content-seen's DRUM go to the outputs, which take everything.
//
// A crawl that comes back (Refresh, docs/freshness.md) has one more place: the calendar of pages that were visited.
// When one is due it takes the path from the gate on. It is not a new URL: it was finished at its first visit, and
// neither counts again nor is counted by limits of pages. Such a shard is done only if a limit is reached or no page is
// left.
//
// What fails is tried again after minutes, so that a host has time to recover. At the end of a crawl that is of no use:
// with give_up_quickly, when nothing is left but URLs that failed before, they are tried again after seconds
// (shard_waits.cc; the politeness delays still apply), and a robots.txt that cannot be fetched is given up after
// kQuickTries attempts. As long as there is other work it is tried kPatientTries times, over two hours.
//
// A crawl may have several shards, each with its own pay-level domains (partition.h). What belongs to another shard
// crosses through the ExchangePort: links that were found here, raises of reputations, robots.txt that a redirect led
// to and its answer, notices about addresses. What arrives (OnArrival) goes to URLseen, the frontier or the gate as if
// it had been found here. There is still always room again: arrivals need room in URLseen, STAR or the gate of this
// shard, and that room does not depend on any other shard; only results of fetches wait for room in the exchange.
//
// While the network is down (outage.h) no URL ends because of it: URLs go back to the frontier with kNetworkDown, names
// wait here to be resolved again, and single probes find out when the network is back.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "content/content_seen.h"
#include "content/mirror_table.h"
#include "content/near_seen.h"
#include "crawl/admission.h"
#include "crawl/admission_window.h"
#include "crawl/counts.h"
#include "crawl/crossing.h"
#include "crawl/exchange.h"
#include "crawl/host_tally.h"
#include "crawl/limits.h"
#include "crawl/link_filter.h"
#include "crawl/network_guard.h"
#include "crawl/page_limits.h"
#include "crawl/partition.h"
#include "crawl/pay_level.h"
#include "crawl/refresh.h"
#include "crawl/scope.h"
#include "crawl/shard_options.h"
#include "crawl/trap_park.h"
#include "crawl/trouble.h"
#include "crawl/turn_times.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "disk/recent_keys.h"
#include "flow/fetch.h"
#include "flow/fetch_line.h"
#include "flow/page_result.h"
#include "flow/url_record.h"
#include "frontier/frontier.h"
#include "gate/gate.h"
#include "io/env.h"
#include "io/executor.h"
#include "seen/url_seen.h"

namespace portolan {

class Shard : public Checkpointable {
 public:
  static Result<std::unique_ptr<Shard>> Open(Env& env, const Manifest& manifest, MergeLanes lanes, ShardPorts ports,
                                             const ShardOptions& options, Moment now);

  // True if it was opened without a checkpoint.
  bool is_new() const { return is_new_; }
  // How many shards the directory has; 0: the crawl has not begun.
  static Result<uint32_t> CountIn(const Manifest& manifest);
  // Of a directory with one shard of several: which one it is. Nothing: the directory has all of the crawl.
  struct Place {
    uint32_t shard = 0;
    uint32_t shards = 1;
    bool operator==(const Place&) const = default;
  };
  static Result<std::optional<Place>> AloneIn(const Manifest& manifest);
  // Whether URLs are divided by phases, not by domains.
  static Result<bool> HasPhases(const Manifest& manifest);
  uint32_t number() const { return options_.shard; }  // in the crawl

  // `url` is canonical. Seeds are in scope by definition, unless an exclusion matches them; known ones are ignored.
  // They wait on disk (the queue "seeds", seed_list.h) until URLseen takes them, each once in a crawl's life.
  Status AddSeed(std::string_view url, Moment now);

  // True if the result and everything that follows from it can be taken now.
  bool HasRoomFor(const PageResult& result) const;
  // `waits`: results wait outside for room. Nothing new is fetched until the shard has taken them.
  void SetInboxWaits(bool waits) { inbox_waits_ = waits; }

  // These two only record the event, so that many events cost one turn: what follows from them happens in OnTick, which
  // NextWake() then asks for at once. REQUIRES: HasRoomFor(result).
  Status OnPage(PageResult&& result, Moment now);
  Status OnResolved(const Resolution& resolution, Moment now);
  // From other shards (exchange.h). OnArrival REQUIRES: HasRoomForArrival.
  bool HasRoomForArrival() const;
  Status OnArrival(std::string_view message, Moment now);
  Status OnRaise(uint64_t pld, Moment now);
  void OnAddressNotice(const AddressMail& mail, Moment now);
  // Stores a message that must not be lost and cannot be taken now: it waits on disk, in the queue "arrivals".
  Status KeepArrival(std::string_view message) { return arrivals_->Append(message); }

  // Another shard found that the network, or the name servers, do not answer.
  void OnOutageElsewhere(bool connections, bool names, Moment now) {
    network_.BelieveOutage(connections, names, now.now_ns);
    next_wake_ns_ = now.now_ns;
  }

  // With phases: their clock, before the first turn and whenever it is known better. While it is not good nothing is
  // fetched.
  void SetPhaseClock(const PhaseTime& time);
  struct PhaseView {
    uint32_t phases = 0;
    bool good = false;              // false: nothing is fetched, because the time is not known well enough
    std::optional<uint32_t> group;  // that is fetched from now; none in a gap
    int64_t next_ns = 0;            // until the group changes, or the gap ends
    int64_t error_ns = 0;           // of the clock
  };
  std::optional<PhaseView> Phase(Moment now) const;  // nothing: divided by domains

  // The block lists have changed: from now on these are left out, whether found, waiting or to be found.
  void OnBlockList(std::shared_ptr<const BlockList> list, Moment now);

  Status OnRoundDone(Moment now) { return Pump(now); }
  Status OnTick(Moment now) { return Pump(now); }

  // Nothing new is fetched from now on; results of fetches in flight are still taken.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // While paused nothing new is fetched, because a disk is full.
  void Pause(bool paused) { paused_ = paused; }

  enum class State : uint8_t { kRunning, kDone, kStopped };
  // kDone: nothing is left to do here, or a limit is reached and nothing is in flight. kStopped: Stop was called and
  // nothing is in flight. With several shards, one that is done runs again when something arrives: the crawl is done
  // when all are done and nothing is on its way.
  State state() const { return state_; }
  // True if nothing is left here except, perhaps, URLs that failed before and are tried again later.
  bool only_waits() const { return only_waits_ || state_ == State::kDone; }
  // True: the same holds for all other shards, and nothing is on its way. Then waits may be shortened
  // (give_up_quickly).
  void SetOthersOnlyWait(bool only_wait) { others_only_wait_ = only_wait; }

  // When OnTick is wanted (steady clock); as soon as possible if that is not after now.
  int64_t NextWake() const { return next_wake_ns_; }

  struct Census {
    uint64_t unanswered = 0;  // seeds, arrivals, and links in URLseen: not yet known whether they are new
    uint64_t admission = 0;   // in STAR, BEAST's queues or Q_F
    uint64_t gate = 0;
    uint64_t frontier = 0;
    uint64_t parked = 0;  // in the queue of those whose form gives nothing new
    uint64_t in_flight = 0;
    uint64_t finished = 0;
    uint64_t robots = 0;     // of frontier and in_flight: fetches of robots.txt, which are not URLs of the crawl
    uint64_t scheduled = 0;  // of finished: pages in the calendar of visits
    uint64_t visiting =
        0;  // of finished: their next visit is under way, so they are in gate, frontier or in_flight, too

    // URLs that URLseen called new, each counted once.
    uint64_t urls() const { return admission + gate + frontier + parked + in_flight - robots - visiting + finished; }
  };
  Census TakeCensus() const;

  const CrawlCounts& counts() const { return counts_; }
  size_t in_flight() const { return in_flight_.size(); }
  const Frontier& frontier() const { return *frontier_; }
  const Gate& gate() const { return *gate_; }
  const UrlSeen& seen() const { return *seen_; }
  const Outage& outage() const { return network_.outage(); }
  uint32_t connections() const { return network_.connections(); }  // that may be used now
  const Admission* admission() const { return admission_.get(); }  // null without budgets
  const ContentSeen* content() const { return content_.get(); }    // null without content-seen
  const MirrorTable* mirrors() const { return mirrors_.get(); }    // likewise
  const NearSeen* near() const { return near_.get(); }             // null without near duplicates
  const TrapPark* traps() const { return park_.get(); }            // null without traps
  const Refresh* refresh() const { return refresh_.get(); }        // null if no page is visited again
  int64_t running_ns(Moment now) const { return ran_before_ns_ + (now.now_ns - opened_ns_); }
  bool ComesBack() const { return refresh_ != nullptr && options_.refresh.enabled; }
  // The limit that ended the crawl: "max_pages" …; empty if none is reached.
  std::string_view limit_reached() const { return limits_->reached(); }
  // Pages and bytes of shards in other processes.
  void CountElsewhere(uint64_t pages, uint64_t bytes) { limits_->SetElsewhere(pages, bytes); }

  // URLs that failed and are tried again later, the earliest first.
  std::vector<AwaitedUrl> Awaited(size_t max, Moment now) const;
  // Hosts that do not answer: what was noted since the last call, at most kNotes.
  bool has_troubles() const { return !troubles_.empty(); }
  std::vector<HostTrouble> TakeTroubles() { return std::exchange(troubles_, {}); }
  // What was learnt about parameters since the last call, in sentences.
  bool has_notes() const { return park_ != nullptr && park_->has_notes(); }
  std::vector<std::string> TakeNotes() { return park_->TakeNotes(); }
  // The first kNotes hosts that were given up in this run.
  const std::vector<HostTrouble>& given_up() const { return given_up_; }
  // The `max` fetches that have been running longest, the oldest first.
  std::vector<FlyingUrl> Flying(size_t max, Moment now) const;
  const HostTally& hosts() const { return hosts_; }
  // Hosts and domains whose pages were counted for a limit, and the count was dropped for lack of memory, in this run.
  uint64_t limits_forgotten() const { return page_limits_ ? page_limits_->forgotten() : 0; }
  // The host whose waiting URLs will take longest, given the delay between two of them.
  Frontier::Slowest SlowestHost() const { return frontier_->SlowestHost(kShownHosts); }
  static constexpr uint32_t kShownHosts = 1 << 12;  // how many of the frontier's hosts are examined for all these
  static constexpr size_t kNotes = 64;
  static constexpr uint8_t kQuickTries = 4;
  static constexpr uint8_t kPatientTries = 8;

  // Everything that a manifest must describe, including this object.
  std::vector<Checkpointable*> Checkpointables();
  Status Flush() override;
  ManifestSection Describe() const override;
  Status Committed() override { return {}; }

 private:
  struct InFlight {
    SlotId slot;
    std::string record;  // encoded
    Address address;
    uint64_t host = 0;  // HostKey
    int64_t since_ns = 0;
    PageLimits::Claim claim = {};
  };
  class UniqueOnward;
  class GateToFrontier;

  Shard(ShardPorts ports, const ShardOptions& options, Scope scope)
      : port_(ports.fetch),
        outputs_(ports.outputs),
        exchange_(ports.exchange),
        watch_(ports.watch),
        options_(options),
        scope_(std::move(scope)),
        filter_(LinkRulesOf(options)),
        limits_(options.limits),
        next_id_(FirstFetchId(options.seat())),
        others_only_wait_(options.shards == 1),
        network_(options.outage, options.connections, ports.fetch),
        window_(HostTable::kNear * options.frontier.back_queues) {}
  static LinkRules LinkRulesOf(const ShardOptions& options);
  Status Restore(const Manifest& manifest);

  // Takes the result of a fetch that is not held by the network guard.
  Status EndFetch(PageResult&& result, Moment now);
  // Takes held results, and names, about which the network guard has decided.
  Status ReleaseHeld(Moment now);
  // Hands the result of a look-up to the frontier.
  void PassNameToFrontier(const Resolution& resolution, Moment now);
  void OnShortage(Moment now) { counts_.shortages += network_.OnShortage(in_flight_.size(), now.now_ns) ? 1 : 0; }
  bool EnoughHosts() const { return frontier_->counts().active_hosts >= options_.outage.hosts; }

  // Failures (shard_waits.cc):
  bool AskRobotsAgain(PageResult& result, const UrlRecord& record, const InFlight& flight, Hit hit, FetchLine line,
                      Moment now);
  void NoteFailure(uint64_t key, const Failure& failure);
  void NoteTrouble(HostTrouble&& trouble);
  void HurryIfNothingElse(Moment now);

  // Other shards (shard_crossing.cc):
  uint32_t OwnerOf(std::string_view url, uint64_t host_key) {
    if (phases_) return phases_->NodeOf(options_.key.Hash(url));
    return domains_ ? ShardOfDomain(domains_->Key(url, host_key), options_.shards) : 0;
  }
  uint32_t OwnerOf(std::string_view url) { return domains_ ? OwnerOf(url, HostKey(url, options_.key)) : 0; }
  // With phases each shard has the rules of all hosts of which it has URLs.
  uint32_t OwnerOfRobots(std::string_view url) { return phases_ ? options_.shard : OwnerOf(url); }
  static Status CheckPhases(const ShardOptions& options);
  bool Here(uint32_t owner) const { return owner == options_.shard; }
  bool HasRoomElsewhere() const;
  // Offers a link to URLseen, here or in the shard `owner`. REQUIRES: it has room.
  Status Offer(uint64_t hash, std::string_view record, uint32_t owner);
  Status OfferArrivals(bool* moved, Moment now);
  Status WantRobots(const UrlRecord& request);
  Status OnRobotsAnswer(std::string_view url, uint8_t hops, const RobotsAnswer& answer, Moment now);
  void SendAddressMail(Moment now);
  void SendRanks(std::string_view histogram);

  void WakeBy(int64_t time_ns) { next_wake_ns_ = std::min(next_wake_ns_, time_ns); }

  // Payloads that were captured before (shard_content.cc):
  enum class CopyLinks : uint8_t { kAll, kOwnOrigin, kElsewhere, kGuides };  // which links of a page are followed
  class LateToLog;
  Status TakeLate(Moment now, bool* moved);
  bool IsLookedAt(const PageResult& result) const;
  // Whether the payload that the page had at its last visit has to be forgotten.
  bool ForgetsPayload(const PageResult& result) const;
  // A visit after the first: tells the line what has changed, and forgets the payload that is no longer there.
  Status CompareWithLast(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links);
  // Tells the line what the page is a copy of.
  Status LookAtContent(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links);
  CopyLinks LinksOfCopy(const PageResult& result, const UrlRecord& record, const ContentSeen::Known& first);
  // The same for a page whose text is nearly that of another page.
  Status LookForNear(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links);
  bool IsFollowed(CopyLinks links, const FoundLink& link, uint64_t host) const;
  Status OnPayload(const Crossing& crossing);
  void NoteLate(std::string_view url, int64_t unix_ms, std::string_view first, int64_t first_unix_ms, bool page);
  uint32_t OwnerOfPayload(const PayloadKey& payload) const { return ShardOfDomain(payload.key, options_.shards); }
  // The page that is fetched instead of one of a mirror; empty: none, it is fetched itself.
  std::string CounterpartOf(const UrlRecord& record);
  // `record` failed. If it stood in for a page of a mirror, that page is fetched after all.
  void BringBack(const UrlRecord& record);
  Status TakeBack(const UrlRecord& again);
  Status LeaveToCounterpart(const Dispatch& dispatch, const std::string& counterpart, Moment now);

  // Visits after the first (shard_refresh.cc):
  bool IsRevisit(const UrlRecord& record) const { return refresh_ != nullptr && !record.last.empty(); }
  Status TakeDue(Moment now, bool* moved);
  Status NoteVisit(const PageResult& result, const UrlRecord& record, const InFlight& flight, const FetchLine& line);
  // A page was due and is not fetched. Cannot fail here: the next Pump returns the error.
  void NoteUnvisited(const UrlRecord& record, VisitEnd end);
  uint64_t visiting() const { return refresh_ == nullptr ? 0 : refresh_->counts().out; }

  // Moving things on (shard_pump.cc):
  void Enter(TurnPart part) {
    if (watch_ != nullptr) watch_->Enter(part);
  }
  Status Pump(Moment now);
  Status MoveResults(Moment now, bool* moved);
  Status DispatchTasks(Moment now);
  void FailUnfetched(const Dispatch& dispatch, Moment now);
  Status Start(const Dispatch& dispatch, Moment now);
  Status StartRounds(Moment now);
  // How many new URLs may leave URLseen.
  uint64_t RoomForNew() const { return admission_ == nullptr ? gate_->Room() : admission_->Room(); }
  Status AddNew(const UrlRecord& record, GateSink& sink, Moment now);
  Status Admit(Moment now, bool* moved);
  Status Unpark(Moment now, bool* moved);
  // Parks a URL whose turn has come, or offers it under a shorter name; true if it is not to be fetched.
  Result<bool> Divert(const Dispatch& dispatch, Moment now);
  // To the robots loop, or to the parked URLs: so that no robots.txt is fetched for one host after the other of a
  // wildcard. REQUIRES: the gate has room.
  Status ParkOrAddToGate(const UrlRecord& record, GateSink& sink, Moment now);
  // Admitted URLs that are not fetched, except those of hosts that do not answer and those far back in a giant's queue.
  uint64_t Pending() const {
    const uint64_t all = frontier_->counts().near() + AtGate();
    return all - std::min(all, visiting());
  }
  // New URLs are not wanted while queues hold some that may go on; with budgets also while the window is full.
  bool HungryForNew() const {
    return admission_ == nullptr ? frontier_->Hungry() : !admission_->HasQueued() && window_.Room(Pending()) > 0;
  }
  // With budgets also if the frontier has enough hosts but none that may be contacted, and the gate holds much of what
  // was admitted.
  bool FrontierHungry() const {
    constexpr uint64_t kMuch = 4;
    return frontier_->Hungry() || (admission_ != nullptr && dry_ && kMuch * AtGate() >= Pending());
  }
  uint64_t AtGate() const { return gate_->in_cache() + gate_->waiting_on_answer(); }
  // Tells the window how many connections idle.
  void UpdateWindow(bool dispatching, Moment now);
  Status AddToGate(const UrlRecord& record, GateSink& sink, Moment now);
  // To the gate of the shard that owns the origin. REQUIRES: the gate has room.
  Status SendRobotsAnswer(const UrlRecord& request, const RobotsAnswer& answer, Moment now);
  Status OfferLinks(const PageResult& result, const UrlRecord& record, const InFlight& flight, CopyLinks which);
  Status OfferSeeds(bool* moved);
  Status Finish(PageResult& result, const UrlRecord& record, const InFlight& flight, CopyLinks& links, Moment now);
  void EndUrl(const UrlRecord& record, PageResult& result, FetchLine about);
  void Deny(const UrlRecord& record, DenyReason reason, Moment now);
  void EndUnfetched(const UrlRecord& record, std::string_view why, Moment now, const Rule* rule = nullptr,
                    std::string_view counterpart = {});

  // Scope, rules, block lists and page limits (shard_rules.cc):
  struct KeptOut {
    std::string_view outcome;    // for the log; empty: nothing keeps it out
    const Rule* rule = nullptr;  // that keeps it out; null: not a rule
    explicit operator bool() const { return !outcome.empty(); }
  };
  // What keeps a URL from being fetched. `rules`, if not null, gets the rules that hold for it.
  KeptOut WhatKeepsOut(const UrlRecord& record, uint64_t host, RuleVerdict* rules = nullptr);
  bool AwaitsLimit(const Dispatch& dispatch, const PageLimits::Claim& claim, const Rule& limit, Moment now);
  void EndKeptOut(const UrlRecord& record, const KeptOut& why, Moment now);
  bool OverLimit(const Rule* limit, std::string_view url, uint64_t host, uint32_t owner);
  void DropByRule(const UrlRecord& record, PageResult& result, FetchLine& line);
  void SetSeedPriority(UrlRecord& record);
  Status LeaveOut(const Dispatch& dispatch, const KeptOut& why, Moment now);
  // Nothing is left here but, perhaps, payloads about which DRUM has not answered yet.
  bool NothingElse() const {
    return in_flight_.empty() && seeds_->size() == 0 && arrivals_->size() == 0 && seen_->waiting() == 0 &&
           (admission_ == nullptr || admission_->waiting() == 0) && gate_->waiting() == 0 &&
           frontier_->counts().urls() == 0;
  }
  int64_t CalendarNs(Moment now) const { return calendar_ns_ + now.now_ns - opened_ns_; }
  GateNow GateTime(Moment now) const { return {now.now_ns, static_cast<uint32_t>(CalendarNs(now) / 1'000'000'000)}; }

  FetchPort& port_;
  OutputPort& outputs_;
  ExchangePort* const exchange_;  // null: this is the only shard
  TurnWatch* const watch_;        // may be null
  const ShardOptions options_;
  Scope scope_;
  const LinkFilter filter_;
  const std::shared_ptr<Limits> limits_;
  uint64_t next_id_;
  bool others_only_wait_;
  NetworkGuard network_;
  std::optional<PayLevelDomains> domains_;  // none: this is the only shard
  std::optional<PhasePartition> phases_;    // then URLs are divided by it, not by domains
  PhaseTime phase_time_ = PhaseTime::Unknown();
  std::unique_ptr<DiskQueue> seeds_;
  std::unique_ptr<DiskQueue> arrivals_;
  std::unique_ptr<UrlSeen> seen_;
  std::unique_ptr<RecentKeys> sent_;      // links that went to other shards lately; null if there are none
  std::unique_ptr<Admission> admission_;  // null without budgets
  std::unique_ptr<TrapPark> park_;        // null if traps are off, and always were
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Frontier> frontier_;
  std::unique_ptr<PageLimits> page_limits_;  // null: no rule limits pages
  std::unique_ptr<ContentSeen> content_;     // null without it
  std::unique_ptr<NearSeen> near_;           // null without it
  std::unique_ptr<MirrorTable> mirrors_;     // likewise
  std::unique_ptr<Refresh> refresh_;         // null if no page is visited again, and none ever was to be

  std::unordered_map<uint64_t, InFlight> in_flight_;  // iterated for displays only
  bool is_new_ = true;
  uint64_t robots_open_ = 0;  // robots.txt in flight and in the frontier
  bool inbox_waits_ = false;
  std::string encoded_;  // scratch
  std::string message_;  // scratch
  Status late_error_;    // of BringBack or NoteUnvisited, returned by the next Pump
  std::string shorter_;  // scratch

  // For displays only: no decision depends on these. Each has at most kFailures or kNotes entries.
  static constexpr size_t kFailures = 1024;
  std::unordered_map<uint64_t, Failure> failures_;  // by the URL's hash, or by the HostKey of a name; never iterated
  std::vector<HostTrouble> troubles_;
  std::vector<HostTrouble> given_up_;
  HostTally hosts_;
  bool only_waits_ = false;
  bool hurried_ = false;  // since nothing else was left, only repeated attempts were fetched
  int64_t hurry_look_ns_ = std::numeric_limits<int64_t>::min();  // when that was last checked

  CrawlCounts counts_;
  State state_ = State::kRunning;
  bool stopping_ = false;
  bool paused_ = false;
  bool hungry_ = false;
  bool dry_ = false;        // the last dispatch left connections free because no host was ready
  AdmissionWindow window_;  // of admission_
  int64_t opened_ns_ = 0;
  int64_t ran_before_ns_ = 0;
  int64_t flushed_running_ns_ = 0;
  // The crawl's own calendar when it was opened: the system's, or the last checkpoint's if that is later. From then on
  // it advances with the steady clock. So changing the system's clock makes no robots.txt expire, or live for ever.
  int64_t calendar_ns_ = 0;
  int64_t flushed_calendar_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t next_wake_ns_ = 0;
};

}  // namespace portolan
