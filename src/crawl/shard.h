// The shard: all state of a crawl, changed by events, acting by commands (DESIGN: the deterministic state machine).
//
//   events     OnPage (a fetch ended), OnResolved (a name was looked up), OnRoundDone (a merge ended), OnTick (time
//              passed), AddSeed, Stop
//   commands   FetchPort (fetch this, resolve that), OutputPort (write this); merges go to an Executor
//
// It reads no clock, no random source and no socket: each event brings the time, randomness comes from a seed, files
// from an Env. The same events in the same order give the same commands in the same order.
//
// The way of a URL through it:
//   link found → in scope, or needed to show a page that is? not too deep? → UrlSeen (new?) → Admission (does its
//   domain deserve it now?) → Gate (robots.txt allows?) → Frontier (when?) → in scope and allowed still? → fetch →
//   its links …
// Without budgets there is no Admission: new URLs go to the gate at once.
//
// After each event it pumps: results of merges move on, tasks are dispatched while connections are free, merges are
// started when the frontier is hungry. A pump does a bounded amount of work; NextWake() says when OnTick is due.
//
// Thread: one. Invariant: every URL that UrlSeen called new is in exactly one place: admission, gate, frontier (front
// queue, back queue, spill), in flight, or done; Census() counts them. So a checkpoint is possible between any two
// events. Memory bound: that of its parts. Errors: a Status that is an error means that the disk failed and the state
// is doubtful: stop, go back to the last checkpoint; with kNoSpace, when there is room again.
//
// Room: each part says how much it takes for sure (Room), and no more is moved to it. A result of a fetch is taken as a
// whole: the driver asks HasRoomFor first and keeps it otherwise (inbox.h); it is in flight until then, and nothing
// more is fetched. There is always room again:
//   - a DRUM lacks room only while it has a round whose answers are not all taken (drum.h: Room), and rounds end;
//   - the answers of URLseen need room in admission (STAR's domains) or, without budgets, at the gate; those of the
//     gate's RobotsCache in RobotsRequested; those of RobotsRequested in the frontier; those of STAR's edges in its
//     domains; those of the domains in BEAST's queues. Along these arrows there is no circle, and BEAST's queues, the
//     gate's queues and the frontier take any number: so the last DRUM of each way can always be emptied, then the one
//     before it;
//   - an empty DRUM has room for the links of any page: Open checks that.
//
// What fails is tried again after minutes, so that a host has time to get well. That is no use at the end: with
// give_up_quickly, when nothing is left but URLs that failed before, they are tried again after seconds
// (shard_waits.cc; the clocks of politeness hold), and a robots.txt that never comes is given up after kQuickTries of
// them. As long as there is other work it is asked for kPatientTries times, over two hours.
//
// When the network is gone (outage.h) nothing ends because of it: URLs go back to the frontier with kNetworkDown, names
// wait here to be asked for again, and single probes find out when it is back.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/admission.h"
#include "crawl/admission_window.h"
#include "crawl/counts.h"
#include "crawl/host_tally.h"
#include "crawl/limits.h"
#include "crawl/link_filter.h"
#include "crawl/network_guard.h"
#include "crawl/scope.h"
#include "crawl/trouble.h"
#include "disk/manifest.h"
#include "disk/queue.h"
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

struct Moment {
  int64_t now_ns = 0;   // steady
  int64_t unix_ns = 0;  // calendar; may jump
};

// Where what came goes: the crawl's outputs (WARC, crawl log, …). Never blocks, never fails, never refuses: errors of
// the disk come back to whoever runs the shard, and who runs it gives it no pages while the outputs have no room.
class OutputPort {
 public:
  virtual ~OutputPort() = default;
  // May take everything out of the result but its links.
  virtual void Write(PageResult& result, FetchLine&& about) = 0;
};

// Where rounds of DRUMs run. URLseen's can take minutes and has a lane of its own: robots and reputations do not wait
// behind it.
struct MergeLanes {
  Executor& seen;
  Executor& others;

  MergeLanes(Executor& for_seen, Executor& for_others) : seen(for_seen), others(for_others) {}
  MergeLanes(Executor& for_all) : MergeLanes(for_all, for_all) {}  // NOLINT(google-explicit-constructor): one is both
};

struct ShardOptions {
  ScopeOptions scope;
  HashKey key;                 // the crawl's; it holds for all parts below
  uint32_t connections = 256;  // fetches in flight
  uint32_t max_links = 1000;   // of one PageResult, at most: so many must fit an empty URLseen and an empty STAR
  uint64_t max_pages = 0;      // 0: no limit, of these four
  uint64_t max_bytes = 0;      // received
  int64_t max_time_ns = 0;     // since the crawl began, pauses not counted
  uint16_t max_depth = 0;
  bool depth_limited = false;  // max_depth counts, even where it is 0
  uint8_t max_hops = 10;       // redirects in a row
  bool follow_nofollow = false;
  bool follow_embeds = true;     // those in scope; requisites (scope.requisites) are followed anyway
  bool sitemaps = true;          // fetch what Sitemap lines of robots.txt name
  bool via = true;               // URLs carry the page on which they were found first, to the log and the archive
  bool give_up_quickly = false;  // see above; false: the gate alone decides when robots.txt is asked again
  int64_t robots_retry_ns = 3600'000'000'000;  // with it: between two tries of a robots.txt, at most
  FrontierOptions frontier;
  UrlSeenOptions seen{.pace = {.patience_ns = 200'000'000}};
  GateOptions gate;
  AdmissionOptions admission;
  OutageOptions outage;
};

class Shard : public Checkpointable {
 public:
  static Result<std::unique_ptr<Shard>> Open(Env& env, const Manifest& manifest, MergeLanes lanes, FetchPort& port,
                                             OutputPort& outputs, const ShardOptions& options, Moment now);

  // `url` is canonical. Seeds are in scope by definition, unless an exclusion names them; known ones are ignored. They
  // wait on disk (the queue "seeds", seed_list.h) until URLseen takes them, and are offered once in a crawl's life.
  Status AddSeed(std::string_view url, Moment now);

  // All that follows from this result could be taken now.
  bool HasRoomFor(const PageResult& result) const;
  // Results wait outside for room: nothing new is fetched until they are in.
  void SetInboxWaits(bool waits) { inbox_waits_ = waits; }

  // These two only take note, so that many of them cost one turn: what follows from them happens in OnTick, which
  // NextWake() asks for at once. REQUIRES: HasRoomFor(result).
  Status OnPage(PageResult&& result, Moment now);
  Status OnResolved(const Resolution& resolution, Moment now);
  Status OnRoundDone(Moment now) { return Pump(now); }
  Status OnTick(Moment now) { return Pump(now); }

  // Nothing new is fetched from now on; what is in flight still counts.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // While paused nothing new is fetched: the disk is full.
  void Pause(bool paused) { paused_ = paused; }

  enum class State : uint8_t { kRunning, kDone, kStopped };
  // kDone: nothing is left to do, or a limit is reached and nothing is in flight. kStopped: likewise after Stop.
  State state() const { return state_; }

  // OnTick is wanted at this moment (steady), or as soon as possible when it is not after now.
  int64_t NextWake() const { return next_wake_ns_; }

  struct Census {
    uint64_t unanswered = 0;  // seeds, and links in URLseen: new or not is not known yet
    uint64_t admission = 0;   // in STAR, BEAST's queues or Q_F
    uint64_t gate = 0;
    uint64_t frontier = 0;
    uint64_t in_flight = 0;
    uint64_t finished = 0;
    uint64_t robots = 0;  // of frontier and in_flight: robots.txt fetches, which are no URLs of the crawl

    // URLs that URLseen called new, each in one place.
    uint64_t urls() const { return admission + gate + frontier + in_flight - robots + finished; }
  };
  Census TakeCensus() const;

  const CrawlCounts& counts() const { return counts_; }
  size_t in_flight() const { return in_flight_.size(); }
  const Frontier& frontier() const { return *frontier_; }
  const Gate& gate() const { return *gate_; }
  const UrlSeen& seen() const { return *seen_; }
  const Outage& outage() const { return network_.outage(); }
  uint32_t connections() const { return network_.connections(); }  // that it uses now
  const Admission* admission() const { return admission_.get(); }  // null without budgets
  int64_t running_ns(Moment now) const { return ran_before_ns_ + (now.now_ns - opened_ns_); }
  // The limit that ended the crawl: "max_pages" …, empty while none did.
  std::string_view limit_reached() const { return limits_.reached(); }

  // What is tried again later because it failed, the next first.
  std::vector<AwaitedUrl> Awaited(size_t max, Moment now) const;
  // Hosts that do not answer: what was noted since the last call, at most kNotes.
  std::vector<HostTrouble> TakeTroubles() { return std::exchange(troubles_, {}); }
  // Those that were given up in this run, the first kNotes of them.
  const std::vector<HostTrouble>& given_up() const { return given_up_; }
  // The `max` that have been fetched for longest, the first of them first.
  std::vector<FlyingUrl> Flying(size_t max, Moment now) const;
  const HostTally& hosts() const { return hosts_; }
  // The host whose waiting URLs will take longest, by its gap between two of them.
  Frontier::Slowest SlowestHost() const { return frontier_->SlowestHost(kShownHosts); }
  static constexpr uint32_t kShownHosts = 1 << 12;  // of the frontier, that are looked at for all these
  static constexpr size_t kNotes = 64;
  static constexpr uint8_t kQuickTries = 4;
  static constexpr uint8_t kPatientTries = 8;

  // Everything that a manifest must hold, this included.
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
  };
  class UniqueOnward;
  class GateToFrontier;

  Shard(FetchPort& port, OutputPort& outputs, const ShardOptions& options, Scope scope)
      : port_(port),
        outputs_(outputs),
        options_(options),
        scope_(std::move(scope)),
        filter_(LinkRulesOf(options)),
        limits_({options.max_pages, options.max_bytes, options.max_time_ns}),
        network_(options.outage, options.connections, port),
        window_(HostTable::kNear * options.frontier.back_queues) {}
  static LinkRules LinkRulesOf(const ShardOptions& options);
  Status Restore(const Manifest& manifest);

  // What became of a fetch, for good.
  Status Settle(PageResult&& result, Moment now);
  Status SettleKnown(Moment now);
  void TellName(const Resolution& resolution, Moment now);
  void OnShortage(Moment now) { counts_.shortages += network_.OnShortage(in_flight_.size(), now.now_ns) ? 1 : 0; }
  bool EnoughHosts() const { return frontier_->counts().active_hosts >= options_.outage.hosts; }

  // Of what failed (shard_waits.cc):
  bool AskRobotsAgain(PageResult& result, const UrlRecord& record, const InFlight& flight, Hit hit, FetchLine line,
                      Moment now);
  void NoteFailure(uint64_t key, const Failure& failure);
  void NoteTrouble(HostTrouble&& trouble);
  void HurryIfNothingElse(Moment now);

  void WakeBy(int64_t time_ns) { next_wake_ns_ = std::min(next_wake_ns_, time_ns); }

  // What moves (shard_pump.cc):
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
  // Admitted and not fetched, but for those of hosts that do not answer and those far back in the queue of a giant.
  uint64_t Pending() const { return frontier_->counts().near() + AtGate(); }
  // Nobody wants new URLs while queues hold some that may go on; with budgets those in the window, too, go first.
  bool HungryForNew() const {
    return admission_ == nullptr ? frontier_->Hungry() : !admission_->HasQueued() && window_.Room(Pending()) > 0;
  }
  // With budgets also when it has hosts enough but none that may be hit, and the gate holds much of what was admitted.
  bool FrontierHungry() const {
    constexpr uint64_t kMuch = 4;
    return frontier_->Hungry() || (admission_ != nullptr && dry_ && kMuch * AtGate() >= Pending());
  }
  uint64_t AtGate() const { return gate_->in_cache() + gate_->waiting_on_answer(); }
  void TellWindow(bool dispatching, Moment now);
  Status AddToGate(const UrlRecord& record, GateSink& sink, Moment now);
  Status TellGate(const UrlRecord& request, const RobotsAnswer& answer, Moment now);
  Status OfferLinks(const PageResult& result, const UrlRecord& record, const InFlight& flight);
  Status OfferSeeds(bool* moved);
  Status Finish(PageResult& result, const UrlRecord& record, const InFlight& flight, Moment now);
  void EndUrl(const UrlRecord& record, PageResult& result, FetchLine about);
  void Deny(const UrlRecord& record, DenyReason reason, Moment now);
  // The scope may be another one than when the URL was found: a crawl was stopped, something excluded, and it goes on.
  bool InScope(const UrlRecord& record, uint64_t host) {
    const bool seed = record.depth == 0 && record.hops == 0 && record.requisite == 0;
    return seed ? !scope_.Excludes(record.url) : scope_.Admits(record, host);
  }
  void EndUnfetched(const UrlRecord& record, std::string_view why, Moment now);
  Status LeaveOut(const Dispatch& dispatch, Moment now);
  GateNow GateTime(Moment now) const {
    return {now.now_ns, static_cast<uint32_t>((calendar_ns_ + now.now_ns - opened_ns_) / 1'000'000'000)};
  }
  uint64_t PagesInFlight() const { return in_flight_.size() - robots_in_flight_; }

  FetchPort& port_;
  OutputPort& outputs_;
  const ShardOptions options_;
  Scope scope_;
  const LinkFilter filter_;
  Limits limits_;
  NetworkGuard network_;
  std::unique_ptr<DiskQueue> seeds_;
  std::unique_ptr<UrlSeen> seen_;
  std::unique_ptr<Admission> admission_;  // null without budgets
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Frontier> frontier_;

  std::unordered_map<uint64_t, InFlight> in_flight_;  // iterated for people alone
  uint64_t next_id_ = 1;
  uint64_t robots_in_flight_ = 0;
  uint64_t robots_open_ = 0;  // those, and the ones in the frontier
  bool inbox_waits_ = false;
  std::string encoded_;  // scratch

  // For people alone, nothing is decided by these; each at most kFailures or kNotes.
  static constexpr size_t kFailures = 1024;
  std::unordered_map<uint64_t, Failure> failures_;  // by the URL's hash, or HostKey of a name; never iterated
  std::vector<HostTrouble> troubles_;
  std::vector<HostTrouble> given_up_;
  HostTally hosts_;
  bool hurried_ = false;  // since nothing else was left, only further attempts were fetched
  int64_t hurry_look_ns_ = std::numeric_limits<int64_t>::min();  // when that was looked for last

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
  // The crawl's own calendar when it was opened: the world's, or the last checkpoint's if that is later. From then on
  // it goes with the steady clock. So no robots.txt expires, or lives for ever, because somebody has set the clock.
  int64_t calendar_ns_ = 0;
  int64_t flushed_calendar_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t next_wake_ns_ = 0;
};

}  // namespace portolan
