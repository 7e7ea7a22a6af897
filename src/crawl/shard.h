// The shard: all state of a crawl, changed by events, acting by commands (DESIGN: the deterministic state machine).
//
//   events     OnPage (a fetch ended), OnResolved (a name was looked up), OnRoundDone (a merge ended), OnTick (time
//              passed), AddSeed, Stop
//   commands   FetchPort (fetch this, resolve that), ArchivePort (keep this); merges go to an Executor
//
// It reads no clock, no random source and no socket: each event brings the time, randomness comes from a seed, files
// from an Env. The same events in the same order give the same commands in the same order.
//
// The way of a URL through it:
//   link found → in scope? not too deep? → UrlSeen (new?) → Admission (does its domain deserve it now?) →
//   → Gate (robots.txt allows?) → Frontier (when?) → fetch → its links …
// Without budgets there is no Admission: new URLs go to the gate at once.
//
// After each event it pumps: results of merges move on, tasks are dispatched while connections are free, merges are
// started when the frontier is hungry. A pump does a bounded amount of work; NextWake() says when OnTick is due.
//
// Thread: one. Invariant: every URL that UrlSeen called new is in exactly one place: admission, gate, frontier (front
// queue, back queue, spill), in flight, or done; Census() counts them. Memory bound: ShardMemory's parts; `held` links
// of pages that wait for URLseen (at most a page for each connection). Errors: a Status that is an error means that the
// disk failed and the state is doubtful: stop, go back to the last checkpoint; with kNoSpace, when there is room again.
// kBusy is handled inside.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/crawl_log.h"
#include "base/result.h"
#include "crawl/admission.h"
#include "crawl/counts.h"
#include "crawl/scope.h"
#include "disk/manifest.h"
#include "flow/fetch.h"
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
  int64_t unix_ns = 0;  // calendar

  GateNow gate() const { return {now_ns, static_cast<uint32_t>(unix_ns / 1'000'000'000)}; }
};

// Keeps what came: WARC records and the crawl log. Never blocks for long, never fails: errors of the disk come back to
// whoever runs the shard.
class ArchivePort {
 public:
  virtual ~ArchivePort() = default;
  // Takes result.archive with it and looks at the rest.
  virtual void Keep(PageResult& result, const FetchLine& about) = 0;
};

struct ShardOptions {
  ScopeOptions scope;
  uint32_t connections = 256;  // fetches in flight
  uint64_t max_pages = 0;      // 0: no limit, of these four
  uint64_t max_bytes = 0;      // received
  int64_t max_time_ns = 0;     // since the crawl began, pauses not counted
  uint16_t max_depth = 0;
  bool depth_limited = false;  // max_depth counts, even where it is 0
  uint8_t max_hops = 10;       // redirects in a row
  bool follow_nofollow = false;
  bool follow_embeds = true;
  bool sitemaps = true;  // fetch what Sitemap lines of robots.txt name
  FrontierOptions frontier;
  UrlSeenOptions seen{.pace = {.patience_ns = 200'000'000}};
  GateOptions gate;
  AdmissionOptions admission;
};

class Shard : public Checkpointable {
 public:
  static Result<std::unique_ptr<Shard>> Open(Env& env, const Manifest& manifest, Executor& executor, FetchPort& port,
                                             ArchivePort& archive, const ShardOptions& options, Moment now);

  // `url` is canonical. Seeds are in scope by definition, and known ones are ignored.
  Status AddSeed(std::string_view url, Moment now);

  Status OnPage(PageResult&& result, Moment now);
  Status OnResolved(const Resolution& resolution, Moment now);
  Status OnRoundDone(Moment now) { return Pump(now); }
  Status OnTick(Moment now) { return Pump(now); }

  // Nothing new is fetched from now on; what is in flight still counts.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // While paused nothing new is fetched: the archive is behind, or the disk is full.
  void Pause(bool paused) { paused_ = paused; }

  enum class State : uint8_t { kRunning, kDone, kStopped };
  // kDone: nothing is left to do, or a limit is reached and nothing is in flight. kStopped: likewise after Stop.
  State state() const { return state_; }

  // OnTick is wanted at this moment (steady), or as soon as possible when it is not after now.
  int64_t NextWake() const { return next_wake_ns_; }

  struct Census {
    uint64_t unanswered = 0;  // links in URLseen: new or not is not known yet
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
  const Frontier& frontier() const { return *frontier_; }
  const Gate& gate() const { return *gate_; }
  const UrlSeen& seen() const { return *seen_; }
  const Admission* admission() const { return admission_.get(); }  // null without budgets
  int64_t running_ns(Moment now) const { return ran_before_ns_ + (now.now_ns - opened_ns_); }
  // The limit that ended the crawl: "max_pages" …, empty while none did.
  std::string_view limit_reached() const { return limit_reached_; }

  // Everything is in a structure that a checkpoint holds: nothing waits here for room in another one.
  // A checkpoint REQUIRES it.
  bool Settled() const {
    return held_.empty() && new_backlog_.empty() && gate_backlog_.empty() && robots_backlog_.empty() &&
           (admission_ == nullptr || admission_->Settled());
  }

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
  };
  // Links of a page that URLseen had no room for.
  struct Held {
    PageResult page;
    size_t next = 0;
    uint16_t depth = 0;
    uint8_t hops = 0;
    uint64_t host = 0;  // of the page, as HostKey
    uint64_t pld = 0;   // and its domain; 0 where it vouches for nobody
  };
  struct LateRobots {
    std::string request;
    uint8_t hops = 0;
    RobotsAnswer answer;
  };
  class UniqueOnward;
  class GateToFrontier;

  Shard(FetchPort& port, ArchivePort& archive, const ShardOptions& options, Scope scope)
      : port_(port), archive_(archive), options_(options), scope_(std::move(scope)) {}
  Status Restore(const Manifest& manifest);

  Status Pump(Moment now);
  Status MoveResults(Moment now, bool* moved);
  Status DispatchTasks(Moment now);
  void FailUnfetched(const Dispatch& dispatch, Moment now);
  Status Start(const Dispatch& dispatch, Moment now);
  Status StartRounds(Moment now);
  Status AddNew(const UrlRecord& record, GateSink& sink, Moment now);
  Status Admit(Moment now, bool* moved);
  Status AddToGate(const UrlRecord& record, GateSink& sink, Moment now);
  Status TellGate(const UrlRecord& request, const RobotsAnswer& answer, Moment now);
  Status PlaceBacklogs(Moment now);
  Status OfferLinks(Held& held, bool* all);
  Status Finish(PageResult& result, const UrlRecord& record, const InFlight& flight, Moment now);
  void EndUrl(const UrlRecord& record, PageResult& result, const FetchLine& about);
  void Deny(const UrlRecord& record, DenyReason reason, Moment now);
  bool AtLimit(Moment now);
  uint64_t PagesInFlight() const { return in_flight_.size() - robots_in_flight_; }

  FetchPort& port_;
  ArchivePort& archive_;
  const ShardOptions options_;
  Scope scope_;
  std::unique_ptr<UrlSeen> seen_;
  std::unique_ptr<Admission> admission_;  // null without budgets
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Frontier> frontier_;

  std::unordered_map<uint64_t, InFlight> in_flight_;  // never iterated
  uint64_t next_id_ = 1;
  uint64_t robots_in_flight_ = 0;
  uint64_t robots_open_ = 0;  // those, and the ones in the frontier
  // What found no room, because a DRUM was at its disk bound. While there is any, nothing new is fetched.
  std::deque<Held> held_;                  // at most a page for each fetch that was in flight
  std::deque<std::string> new_backlog_;    // records for admission: at most kMoveStep
  std::deque<std::string> gate_backlog_;   // records: at most kMoveStep and those in flight
  std::deque<LateRobots> robots_backlog_;  // at most those in flight
  std::string encoded_;                    // scratch
  CrawlCounts counts_;
  State state_ = State::kRunning;
  bool stopping_ = false;
  bool paused_ = false;
  bool hungry_ = false;
  std::string_view limit_reached_;
  int64_t opened_ns_ = 0;
  int64_t ran_before_ns_ = 0;
  int64_t flushed_running_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t next_wake_ns_ = 0;
};

}  // namespace portolan
