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
// A reference is a position in the RulesStore and a time at which it is stale; it travels with the record, so at the
// moment of fetching (AtFetch) no look-up is needed: as long as RAM knows of no newer rules those that let the URL pass
// hold, unread; newer ones came lately, and the store keeps what came lately in RAM. KnownOrigins has the Crawl-delay.
// So when a URL's turn has come rules are read from disk only where RAM has forgotten the origin (after a restart, or
// for more origins than fit), to know its Crawl-delay, and where it has forgotten rules that are newer than the URL.
//
// Where it departs from the thesis:
//   - If an origin is known in RAM (KnownOrigins), its URLs are decided at once, without the disk.
//   - RobotsRequested does not forget an origin when its answer comes, but after `request_timeout`: so an origin whose
//     answer is still passing through RobotsCache is not asked twice, and one whose answer was lost is asked again. No
//     origin becomes stale sooner than that, so no URL has to wait for it.
//   - URLs of an unreachable origin wait in a queue of their own, which is read only when the time of one of them has
//     come. After `unreachable_tries` such answers in a row, each after the one before has expired, they are denied.
//
// Hunger and pace: each DRUM has its RoundPace; so has the pass through Q_R (by its records). A small crawl goes
// through all stages within milliseconds, a large one in batches.
//
// Thread: one owner; rounds run on the executor. Reads no clock. The same calls and executor give the same answers.
// Invariant: entered = allowed + denied + waiting(), always and after recovery: a record is in RobotsCache, in Q_R, in
// Q_U, or given out.
// Memory bound: GateOptions::memory and what is listed there. Room: as much as RobotsCache has; the queues and, it is
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

  // The number of records and robots answers that are guaranteed to be taken. At least EmptyRoom() when no round is
  // active.
  uint64_t Room() const { return cache_->Room(kMaxUrlRecord); }
  uint64_t EmptyRoom() const { return cache_->plan().empty_room(); }

  // Takes the record (its own reference is ignored), or answers at once if its origin is known in RAM. After an error
  // it was not taken; kBusy: there was no room. REQUIRES: not of kind kRobots.
  Status Add(const UrlRecord& record, GateSink& sink, GateNow now);

  // The result of a request: `request` is the URL and `hops` the hops that OnRobotsWanted gave. Outcomes that are our
  // own fault (no descriptors, the crawl stops) do not count as answers: fetch it again. After an error nothing was
  // taken. For a redirect OnRobotsWanted is called at once; after five redirects the origin counts as having no
  // robots.txt.
  Status OnRobots(std::string_view request, uint8_t hops, const RobotsAnswer& answer, GateSink& sink, GateNow now);

  // Moves up to `max` records that are ready, and returns how many it looked at; less than `max`: nothing more can move
  // before a round is done.
  Result<uint64_t> Pump(GateSink& sink, uint64_t max, GateNow now);
  bool Ready() const;  // Pump has something to do

  // Rounds and passes: whether one is due, when one will be due if nothing else happens (steady ns, for a timer), and
  // start it.
  bool WantsRound(GateNow now, bool hungry) { return NextRoundTime(now, hungry) <= now.ns; }
  int64_t NextRoundTime(GateNow now, bool hungry);
  Result<bool> StartRounds(GateNow now, bool hungry);

  // The check just before fetching: by the newest copy known in RAM, otherwise by the record's reference. REQUIRES: the
  // record's reference is the one with which OnAllowed was called for it, or none. So only rules that are newer than
  // that are looked at.
  Result<Verdict> AtFetch(const UrlRecord& record, uint32_t unix_s);
  // In milliseconds, if the rules that AtFetch uses contain one and still exist.
  std::optional<uint32_t> CrawlDelayMs(const UrlRecord& record, uint32_t unix_s);

  uint64_t waiting() const { return in_cache_ + waiting_on_answer() + waiting_on_host(); }
  uint64_t in_cache() const { return in_cache_; }
  uint64_t waiting_on_answer() const { return answer_queue_->size(); }  // Q_R
  uint64_t waiting_on_host() const { return host_queue_->size(); }      // Q_U
  const GateCounts& counts() const { return counts_; }
  // Rules that were read from disk since it was opened, because RAM had not kept them: of those by which a URL was
  // tested, and those when its turn had come (AtFetch, CrawlDelayMs).
  uint64_t rules_reads() const { return rules_->reads(); }
  uint64_t rules_reads_at_fetch() const { return reads_at_fetch_; }
  const RulesStore& rules() const { return *rules_; }

  // All of them, this object first, in this order, for one Manifest::Commit.
  std::vector<Checkpointable*> Checkpointables();
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "gate";

 private:
  enum class Ruling : uint8_t { kAllowed, kDenied, kUnreachable, kGivenUp, kUnknown };
  class CacheSink;
  class RequestSink;
  // A pass through what a queue held when the pass began.
  struct Pass {
    uint64_t left = 0;
    uint64_t records = 0;
    int64_t begin_ns = 0;
    int64_t rested_ns = 0;  // the next may begin
    int64_t calm_ns = 0;    // it may begin even if the caller is not hungry
  };

  explicit Gate(const GateOptions& options) : options_(options), known_(KnownBytes(options)) {}
  static uint64_t KnownBytes(const GateOptions& options) { return options.use_known_origins ? options.memory / 8 : 0; }
  Status Restore(const ManifestSection& section);

  Result<Ruling> Rule(const UrlRecord& record, const RobotsRef& ref, uint32_t unix_s);
  // What RAM knows of its origin; null: nothing, or no more than that it was asked for.
  const KnownOrigin* NewestKnown(const UrlRecord& record, uint32_t unix_s) const;
  void Remember(uint64_t key, const RobotsRef& ref);
  Status Emit(UrlRecord record, Ruling ruling, const RobotsRef& ref, GateSink& sink);
  // Decides by what is known in RAM. nullopt: it must go to RobotsCache. kUnknown: robots.txt was requested, so it
  // waits in Q_R.
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
  // Read by rounds: entries that are useless at this time are expunged. Set only while no round is active.
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
  uint32_t retry_unix_ = 0;            // when Q_R is read even without answers
  uint32_t asked_due_ = ~uint32_t{0};  // and also then: the mark "request outstanding" expires for a record of Q_R
  uint32_t host_due_ = ~uint32_t{0};   // when the first verdict of those in Q_U expires
  uint32_t host_rest_unix_ = 0;        // but Q_U is not read before this
  uint32_t clean_unix_ = 0;            // when expired rules are looked for

  uint64_t in_cache_ = 0;  // records, not updates, that wait in RobotsCache
  uint64_t reads_at_fetch_ = 0;
  GateCounts counts_;
  std::string encoded_;
  ManifestSection described_;
};

}  // namespace portolan
