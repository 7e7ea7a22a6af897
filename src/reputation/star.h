// STAR: Spam Tracking and Avoidance through Reputation (thesis ch. VI). How much of the crawl does a pay-level domain
// (PLD) deserve? As much as other domains, each of which has cost its owner money, vouch for it.
//
// Two DRUMs:
//   edges    the set of links between domains. Links within a domain do not count.
//   domains  the paper's PLDindegree: a DomainRecord for each PLD. A link that is new to the edges first asks here, as
//            a check+update of its source (a vouch), whether the source may still vouch for others (vouch_limits.h); if
//            so it comes again as an update of its target (a raise), which adds 1 to the in-degree. If not, it is known
//            and will never count. Without limits new links are raises at once. Every unique URL does a check+update
//            too, which counts it (P), charges it to the domain's bucket (domain_record.h) and brings back what was
//            known, so the URL leaves with a Standing: in-degree, budget, and the queue that BEAST gives it.
// Both DRUMs answer like a map that takes tuples one at a time. So the owner, which sees the value before each tuple,
// computes the same place as the round that charged it.
//
// Budgets come from a BudgetFunction through a BudgetTable. While a round rewrites the domains it shows all of them to
// InDegreeRanks; when its last answer is taken, the next table is made from that and from what other shards have told
// (crawl_ranks.h). So a round and its answers see one table, even if they are repeated after a crash: the table is in
// the checkpoint.
//
// Departures from the paper: the neighbours' hashes are a set of their own (an edge costs a gap-coded key of four to
// six bytes, not eight in a growing value); place comes from a bucket that leaks, not from P; a domain vouches for a
// limited number of others.
//
// Raises come from answers of the DRUM that has to take them. While it has no room they wait in a queue on disk;
// otherwise the answers could not be taken and the round that blocks would never end. Answers of the edges are taken
// only while the domains have room for the vouches and no raise waits. So the queue is never longer than the number of
// vouches that the domains had, and nothing is ever between two places.
//
// Thread: one owner; rounds run on the executor. Reads no clock: the time comes with the calls.
// Invariants: URLs taken by AddUrl = handed out + waiting(), each once, its bytes unchanged, in arrival order; edges
// offered and arrived = within a domain + recent + known + new + sent + unvouched + waiting; also after recovery.
// Memory bound: Options::memory. 736 KiB of it are for the ranks, two budget tables, a block of names, two small ones
// of raises and the latest edges (the paper's 10,000 ranks use 260 KiB); with n shards up to (n - 1) × 16 KiB, but at
// most an eighth, are for the histograms of the others. Of the rest 3/8 are for edges (a quarter of that stores recent
// ones), 5/8 for domains. Room: UrlRoom (URLs, and counts of ends) and EdgeRoom are certain; if there is none, Take
// makes some, and needs none itself. The queue of raises is in addition to that bound: about ten bytes per vouch, which
// took four times as much in domains_disk. Durability: Checkpointables(), all in one manifest.

#pragma once

#include <cstdint>
#include <functional>
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
#include "io/env.h"
#include "io/executor.h"
#include "reputation/budget_function.h"
#include "reputation/budget_table.h"
#include "reputation/crawl_ranks.h"
#include "reputation/domain_record.h"
#include "reputation/in_degree_ranks.h"
#include "reputation/names_log.h"
#include "reputation/vouch_limits.h"

namespace portolan {

struct StarOptions {
  std::string name = "star";  // prefix of the names of its sections and files
  // At least kMinMemory, so that the longest URL (8000 bytes) fits.
  uint64_t memory = uint64_t{64} << 20;
  uint64_t edges_disk = uint64_t{4} << 30;     // for edges that wait
  uint64_t domains_disk = uint64_t{16} << 30;  // for URLs that wait
  Codec codec = Codec::kLz4;
  std::string budget_function{kDefaultBudgetFunction};  // budget_function.h
  // A domain of in-degree d vouches for vouch_base + d × vouch_percent / 100 others (vouch_limits.h). Base 0: for any
  // number. Percent at most VouchLimits::kMaxPercent. Both may change when STAR is opened again; counts stay.
  uint32_t vouch_base = 16;
  uint32_t vouch_percent = 50;
  RoundPace::Options domains_pace{.patience_ns = 30'000'000'000};
  // No part waits for edges; a reputation may be some seconds late.
  RoundPace::Options edges_pace{.patience_ns = 5'000'000'000};
  // Called on the executor's thread when a round is merged: it should post an event to the owner.
  std::function<void()> on_round_done;
  // In a crawl with several shards: how many there are.
  uint32_t shards = 1;
  // Sends an InDegreeHistogram of the domains that are here to the other shards. Called when a table is made, at most
  // once in Star::kTellRanksNs, so that the small rounds of a young crawl do not cost more messages than links. If it
  // is lost, late or repeated, ranks elsewhere are those of an earlier moment. Null: nobody wants it.
  std::function<void(std::string_view histogram)> tell_ranks;
  // Sends the raise of a domain of another shard there; false if the domain is here. Null: all are here.
  std::function<bool(uint64_t target_pld)> raise_elsewhere;

  static constexpr uint64_t kMinMemory = uint64_t{2} << 20;
};

struct StarMemoryPlan {
  uint64_t fixed = 0;       // ranks, tables, names, raises, latest edges, and this:
  uint64_t histograms = 0;  // of other shards
  uint64_t edges = 0;
  uint64_t recent_edges = 0;  // of edges
  uint64_t domains = 0;

  static Result<StarMemoryPlan> Make(const StarOptions& options);
};

// A URL that asks for its standing. The views are valid until AddUrl returns.
struct StarUrl {
  uint64_t pld = 0;           // hash of its pay-level domain
  std::string_view pld_name;  // for displays, at most kMaxPldName bytes; stored for the first URL of each domain
  std::string_view record;    // returned unchanged
  uint32_t tick = 0;          // BEAST's current queue
  uint16_t horizon = 0;       // queues after it
  uint16_t price = 1;         // at least 1
  bool fresh = true;          // new; false: it comes from Q_F and was counted before
};

// STAR's answer for a URL.
struct Standing {
  uint64_t pld = 0;        // 0 unless fresh
  uint32_t in_degree = 0;  // before this URL, like all of these
  uint32_t budget = 0;
  uint32_t passed = 0;  // unique URLs of the domain, this one included
  uint32_t place = 0;   // it belongs to queue tick + 1 + place, unless later
  bool later = false;   // place >= horizon: it belongs to Q_F
  uint32_t tick = 0;    // from which place counts: the URL's own, or a later one if its domain has seen one
  bool fresh = true;
  uint16_t price = 1;

  bool operator==(const Standing&) const = default;
};

class StandingSink {
 public:
  virtual ~StandingSink() = default;
  // The bytes are valid during the call. An error ends Take, which returns it; the record comes again.
  virtual Status OnStanding(std::string_view record, const Standing& standing) = 0;
};

struct StarCounts {
  uint64_t edges_offered = 0;    // links taken by AddEdge
  uint64_t edges_within = 0;     // of them within one domain
  uint64_t edges_recent = 0;     // dropped by the cache of recent ones
  uint64_t edges_known = 0;      // known to DRUM
  uint64_t edges_new = 0;        // that have raised an in-degree
  uint64_t edges_unvouched = 0;  // new, but beyond their source's allowance
  uint64_t edges_sent = 0;       // new, and the target belongs to another shard
  uint64_t edges_arrived = 0;    // from other shards, that raise a domain here (counted in edges_new when done)
  uint64_t urls_in = 0;          // taken by AddUrl
  uint64_t urls_out = 0;         // handed out
  uint64_t urls_later = 0;       // of them sent to Q_F
  uint64_t tables = 0;           // budget tables made

  bool operator==(const StarCounts&) const = default;
};

class Star : public Checkpointable {
 public:
  static constexpr int64_t kNever = RoundPace::kNever;
  static constexpr size_t kLatestEdges = 4096;
  static constexpr int64_t kTellRanksNs = 1'000'000'000;

  static Result<std::unique_ptr<Star>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                            const StarOptions& options);

  uint64_t UrlRoom() const { return domains_->Room(kLongestAux); }
  uint64_t EdgeRoom() const { return edges_->Room(kEdgeSize); }
  // The room while nothing waits: it is never less for long.
  uint64_t EmptyUrlRoom() const { return domains_->plan().empty_room(); }
  uint64_t EmptyEdgeRoom() const { return edges_->plan().empty_room(); }

  // kBusy: there was no room. kNoSpace, kIo: a disk error. Nothing was taken then.
  Status AddEdge(uint64_t source_pld, uint64_t target_pld);
  Status AddUrl(const StarUrl& url);
  // A domain of another shard vouches for this one. There is always room.
  Status RaiseFromElsewhere(uint64_t target_pld);
  // What another shard's tell_ranks sent. REQUIRES: shard < options.shards. Used when the next table is made.
  // kCorrupt: it is not a histogram.
  Status TakeRanks(uint32_t shard, std::string_view histogram);
  // This many URLs of a domain ended: with a page, or without. Statistics; kBusy as above.
  Status CountEnds(uint64_t pld, uint32_t fetched, uint32_t failed);
  Status CountEnd(uint64_t pld, bool fetched) { return CountEnds(pld, fetched ? 1 : 0, fetched ? 0 : 1); }

  // Hands out URLs of a finished round and passes new edges on, looking at up to `max` tuples and queued raises.
  // Returns how many it looked at. 0: no round is finished, or all of it is handed out.
  Result<uint64_t> Take(StandingSink& sink, uint64_t max, int64_t now_ns);
  // True if Take would find something.
  bool ResultsReady() const;

  // True if it is time to start a round: the caller needs URLs, or something has waited long enough.
  bool WantsRound(int64_t now_ns, bool hungry);
  // When that will be if nothing else happens: for a timer. kNever: only after an event.
  int64_t NextRoundTime(int64_t now_ns, bool hungry);
  // Starts the rounds that are due; returns whether there were any.
  Result<bool> StartRound(int64_t now_ns, bool hungry);

  uint64_t waiting() const { return counts_.urls_in - counts_.urls_out; }  // URLs inside
  uint64_t edges_waiting() const { return edges_->waiting() + vouches_asked_ + raises_waiting(); }
  // Of them: vouches that the domains have and have not answered.
  uint64_t vouches_asked() const { return vouches_asked_; }
  // Of them: edges that count and that the domains have not taken yet.
  uint64_t raises_waiting() const { return raise_queue_->size(); }
  uint64_t domains() const { return domains_->keys(); }  // PLDs, as of the last round
  uint64_t edges() const { return edges_->keys(); }
  uint32_t BudgetOf(uint32_t in_degree) const { return rounds_view_->budgets->BudgetOf(in_degree); }
  const BudgetTable& budgets() const { return *rounds_view_->budgets; }
  const OtherShards& others() const { return others_; }
  StarCounts counts() const;
  const StarMemoryPlan& memory_plan() const { return plan_; }
  const Drum& domains_drum() const { return *domains_; }
  const Drum& edges_drum() const { return *edges_; }

  // All of them go into one manifest.
  std::vector<Checkpointable*> Checkpointables() {
    return {edges_.get(), domains_.get(), names_.get(), raise_queue_.get(), this};
  }
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override;

  static constexpr std::string_view kKind = "star";
  // Names of the sections of a Star called `name`.
  static std::string EdgesSection(std::string_view name) { return std::string(name) + "_edges"; }
  static std::string DomainsSection(std::string_view name) { return std::string(name) + "_domains"; }
  static std::string NamesSection(std::string_view name) { return std::string(name) + "_names"; }
  static std::string RaisesSection(std::string_view name) { return std::string(name) + "_raises"; }

 private:
  // What rounds of the domains use. The owner touches it only while no such round is running.
  struct RoundsView {
    explicit RoundsView(size_t top) : ranks(top) {}
    std::shared_ptr<const BudgetTable> budgets;
    InDegreeRanks ranks;  // of the last round that was started
  };
  class DomainAnswers;
  class NewEdges;
  static constexpr size_t kAtATime = 64;                   // answers of the domains that are taken together
  static constexpr size_t kEdgeSize = 16;                  // source and target: the aux of an edge; its hash is the key
  static constexpr size_t kLongestAux = size_t{35} << 10;  // a URL's record and its domain's name

  Star(Env& env, const Manifest& manifest, const StarOptions& options);
  Status Restore(const ManifestSection& section);
  Result<uint64_t> TakeDomains(StandingSink& sink, uint64_t max, int64_t now_ns);
  Result<uint64_t> TakeEdges(uint64_t max);
  // Raises a target's in-degree: in another shard, in the domains, or later through the queue if the domains have no
  // room or other raises wait.
  Status Raise(uint64_t target);
  Status RaiseHere(uint64_t target);
  Status AddRaise(uint64_t target);                   // to the domains
  Status AddVouch(uint64_t source, uint64_t target);  // likewise
  Result<uint64_t> PassRaises(uint64_t max);          // from the queue to the domains; returns how many
  void MakeTable(int64_t now_ns);
  bool UrlsHungry(bool hungry) const { return hungry && waiting() > 0; }

  Env& env_;
  const std::string dir_;
  const StarOptions options_;
  std::unique_ptr<const BudgetFunction> function_;
  const VouchLimits limits_;
  StarMemoryPlan plan_;

  OtherShards others_;
  int64_t tell_ranks_ns_ = 0;                // not before
  std::shared_ptr<RoundsView> rounds_view_;  // shared with the functions that the DRUM of domains calls
  std::unique_ptr<NamesLog> names_;
  std::unique_ptr<Drum> edges_;
  std::unique_ptr<Drum> domains_;
  std::unique_ptr<DiskQueue> raise_queue_;  // targets of edges that count, in the order of the answers
  RoundPace edges_pace_;
  RoundPace domains_pace_;
  StarCounts counts_;  // edges_recent without those that DRUM dropped since Open
  // Keys of the last edges, each at its slot. A site's pages link to the same few others: most of their edges end here,
  // before DRUM's own cache, which is larger than the processor's. Not in checkpoints.
  std::vector<uint64_t> latest_edges_;
  uint64_t vouches_asked_ = 0;
  std::string aux_;

  uint64_t next_table_ = 1;  // number of the next table file
  std::string table_name_;   // the last one written; empty: none yet
  uint64_t table_length_ = 0;
  bool table_saved_ = false;  // that file holds the table in use
  std::vector<std::string> retired_;
  ManifestSection described_;
};

}  // namespace portolan
