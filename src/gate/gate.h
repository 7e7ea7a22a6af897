// Gate: may this URL be fetched? The robots loop of IRLbot (thesis ch. IV) with the rules of RFC 9309.
//
//   Add ──► RobotsCache (DRUM: origin → reference) ── fresh ──► the rules ──► OnAllowed, OnDenied
//              ▲    │ missing or stale                            │ unreachable for now
//              │    ├────► Q_R (waits for an answer) ◄─┐          ▼
//              │    └────► RobotsRequested (DRUM) ─ new ─► OnRobotsWanted     Q_U (waits until it is asked again)
//              │                                                  │
//              ├───────── a pass through Q_R, when answers came ──┤
//              └───────── OnRobots: the answer's rules ◄── fetch ─┘
//
// A reference is a position in the RulesStore and a time at which it is stale; it travels with the record, so the rules
// are tested again at the moment of fetching (AtFetch) without another look-up.
//
// Where it departs from the thesis:
//   - What RAM knows of an origin (KnownOrigins) decides at once, without a turn on disk.
//   - RobotsRequested does not forget an origin when its answer comes, but after `request_timeout`: so one whose answer
//     is on its way through RobotsCache is not asked twice, and one whose answer was lost is asked again. No origin is
//     stale sooner than that, so nobody waits for it.
//   - URLs of an unreachable origin wait in a queue of their own, which is walked only when somebody's time has come.
//     After `unreachable_tries` such answers in a row, none of them within the time of the one before, they are denied.
//
// Hunger and pace: each DRUM has its RoundPace; so has the pass through Q_R (by its records). A small crawl goes
// through all stages within milliseconds, a large one in batches.
//
// Thread: one owner; rounds run on the executor. Reads no clock. The same calls and executor give the same answers.
// Invariant: entered = allowed + denied + waiting(), always and after recovery: a record is in RobotsCache, in Q_R, in
// Q_U, or given out.
// Memory bound: GateOptions::memory and what is said there. Room: as much as RobotsCache has; the queues and, it is
// assumed, the sink take any number. Pump moves an answer of RobotsCache only while RobotsRequested has room, and a
// record of a queue only while RobotsCache has: nothing is ever between two places. Since RobotsRequested's answers
// need nothing but the sink, there is always room again once rounds are done and Pump is called. An origin of more than
// kMaxOrigin bytes has no name that could be resolved: its URLs are denied as unreachable. Durability: all
// Checkpointables() belong to one manifest. A request that was made after the last commit, or could not be put down
// before it, is made again after a crash.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "disk/round_pace.h"
#include "flow/page_result.h"
#include "flow/record_bound.h"
#include "flow/url_record.h"
#include "gate/gate_types.h"
#include "gate/known_origins.h"
#include "gate/rules_store.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan {

class Gate : public Checkpointable {
 public:
  static constexpr int64_t kNever = RoundPace::kNever;
  static constexpr size_t kMaxOrigin = 1024;

  static Result<std::unique_ptr<Gate>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                            const GateOptions& options);

  // So many records and robots answers are taken for sure. Not less than EmptyRoom() once no round is on.
  uint64_t Room() const { return cache_->Room(kMaxUrlRecord); }
  uint64_t EmptyRoom() const { return cache_->plan().empty_room(); }

  // Takes the record (its own reference is not looked at) or answers at once what RAM knows. After an error it was not
  // taken; kBusy: there was no room. REQUIRES: not of kind kRobots.
  Status Add(const UrlRecord& record, GateSink& sink, GateNow now);

  // What became of a request: `request` is the URL and `hops` the hops that OnRobotsWanted gave. Outcomes that are our
  // own fault (no descriptors, the crawl stops) are no answer: fetch it again. After an error nothing was taken. A
  // redirect is wanted from the sink at once; after five the origin counts as having no robots.txt.
  Status OnRobots(std::string_view request, uint8_t hops, const RobotsAnswer& answer, GateSink& sink, GateNow now);

  // Moves along what is ready, up to `max` records, and returns how many it looked at; less than `max`: nothing more
  // can move before a round is done.
  Result<uint64_t> Pump(GateSink& sink, uint64_t max, GateNow now);
  bool Ready() const;  // Pump has something to do

  // Rounds and passes: is one due, when will one be if nothing else happens (steady ns, for a timer), and start it.
  bool WantsRound(GateNow now, bool hungry) { return NextRoundTime(now, hungry) <= now.ns; }
  int64_t NextRoundTime(GateNow now, bool hungry);
  Result<bool> StartRounds(GateNow now, bool hungry);

  // At the moment of fetching: by the newest copy that RAM knows, else by the record's reference.
  Result<Verdict> AtFetch(const UrlRecord& record, uint32_t unix_s);
  // In milliseconds, where the rules that AtFetch goes by ask for one and are still there.
  std::optional<uint32_t> CrawlDelayMs(const UrlRecord& record, uint32_t unix_s);

  uint64_t waiting() const { return in_cache_ + waiting_on_answer() + waiting_on_host(); }
  uint64_t in_cache() const { return in_cache_; }
  uint64_t waiting_on_answer() const { return answer_queue_->size(); }  // Q_R
  uint64_t waiting_on_host() const { return host_queue_->size(); }      // Q_U
  const GateCounts& counts() const { return counts_; }
  const RulesStore& rules() const { return *rules_; }

  // This object first: all of them, in this order, for one Manifest::Commit.
  std::vector<Checkpointable*> Checkpointables();
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "gate";

 private:
  enum class Ruling : uint8_t { kAllowed, kDenied, kUnreachable, kGivenUp, kUnknown };
  class CacheSink;
  class RequestSink;
  // A walk through what a queue held when it began.
  struct Pass {
    uint64_t left = 0;
    uint64_t records = 0;
    int64_t begin_ns = 0;
    int64_t rested_ns = 0;  // the next may begin
    int64_t calm_ns = 0;    // it may begin though nobody is in a hurry
  };

  explicit Gate(const GateOptions& options) : options_(options), known_(KnownBytes(options)) {}
  static uint64_t KnownBytes(const GateOptions& options) { return options.use_known_origins ? options.memory / 8 : 0; }
  Status Restore(const ManifestSection& section);

  Result<Ruling> Rule(const UrlRecord& record, const RobotsRef& ref, uint32_t unix_s);
  RobotsRef NewestRef(const UrlRecord& record, uint32_t unix_s);
  Status Emit(UrlRecord record, Ruling ruling, const RobotsRef& ref, GateSink& sink);
  // Decides by what RAM knows. None: it must go to RobotsCache. kUnknown: it was asked for, so it waits in Q_R.
  Result<std::optional<Ruling>> FromKnown(const UrlRecord& record, uint64_t key, uint32_t unix_s, RobotsRef& ref);
  Status Check(uint64_t key, std::string_view record);
  // An answer of RobotsCache.
  Status OnCached(const DrumAnswer& answer, GateSink& sink, GateNow now);
  Status AwaitAnswer(std::string_view record, GateNow now);  // in Q_R
  Status Ask(uint64_t key, std::string_view origin, GateNow now);
  Status WalkQueue(DiskQueue& queue, Pass& pass, GateSink& sink, uint64_t max, GateNow now, uint64_t& done);
  void BeginPass(Pass& pass, const DiskQueue& queue, GateNow now);
  void Observe(GateNow now);
  int64_t NextCacheRound(bool hungry) const;
  int64_t NextAnswerPass(GateNow now, bool hungry) const;
  int64_t NextHostPass(GateNow now) const;

  const GateOptions options_;
  KnownOrigins known_;
  std::unique_ptr<RulesStore> rules_;
  std::unique_ptr<DiskQueue> answer_queue_;  // Q_R
  std::unique_ptr<DiskQueue> host_queue_;    // Q_U
  // Read by rounds: entries that were of no use at this time are expunged. Set only while no round is on.
  std::shared_ptr<std::atomic<uint32_t>> cache_horizon_ = std::make_shared<std::atomic<uint32_t>>(0);
  std::shared_ptr<std::atomic<uint32_t>> requests_horizon_ = std::make_shared<std::atomic<uint32_t>>(0);
  std::unique_ptr<Drum> cache_;     // RobotsCache
  std::unique_ptr<Drum> requests_;  // RobotsRequested
  RoundPace cache_pace_;
  RoundPace requests_pace_;

  Pass answer_pass_;
  Pass host_pass_;
  uint64_t answers_since_pass_ = 0;
  // Records that were in RobotsCache when the last pass began: they may have been checked before an answer that the
  // pass was for, and are the first to come out.
  uint64_t stragglers_ = 0;
  uint32_t retry_unix_ = 0;            // Q_R is walked then even without answers
  uint32_t asked_due_ = ~uint32_t{0};  // and then: the mark that its request is out ends for a record of Q_R
  uint32_t host_due_ = ~uint32_t{0};   // the first verdict of those in Q_U expires
  uint32_t host_rest_unix_ = 0;        // and not before this
  uint32_t clean_unix_ = 0;            // rules that expired are looked for

  uint64_t in_cache_ = 0;  // records, not updates, that wait in RobotsCache
  GateCounts counts_;
  std::string encoded_;
  ManifestSection described_;
};

}  // namespace portolan
