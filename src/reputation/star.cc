#include "reputation/star.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace portolan {
namespace {

// A full block of names is written between kAtATime answers, which may add 16 KB of names to it.
constexpr uint64_t kBlocksMemory = 64 << 10;
constexpr size_t kRaisesBlock = 2048;

}  // namespace

Result<StarMemoryPlan> StarMemoryPlan::Make(const StarOptions& options) {
  if (options.memory < StarOptions::kMinMemory) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of memory, at least {} are needed", options.name,
                                                         options.memory, StarOptions::kMinMemory));
  }
  StarMemoryPlan plan;
  // The largest heap, the table in use and the one being made, the blocks of names and raises.
  plan.fixed = BudgetFunction::kMaxRanks * sizeof(uint32_t) + 2 * BudgetTable::kMaxSteps * sizeof(BudgetStep) +
               kBlocksMemory + Star::kLatestEdges * sizeof(uint64_t);
  plan.histograms = std::min((options.shards - 1) * uint64_t{InDegreeHistogram::kMaxBytes}, options.memory / 8);
  plan.fixed += plan.histograms;
  const uint64_t rest = options.memory - plan.fixed;
  plan.edges = rest / 8 * 3;
  plan.recent_edges = plan.edges / 4;
  plan.domains = rest - plan.edges;
  return plan;
}

Star::Star(Env& env, const Manifest& manifest, const StarOptions& options)
    : env_(env),
      dir_(manifest.dir()),
      options_(options),
      limits_{options.vouch_base, options.vouch_percent},
      edges_pace_(options.edges_pace),
      domains_pace_(options.domains_pace),
      latest_edges_(kLatestEdges) {}

Result<std::unique_ptr<Star>> Star::Open(Env& env, const Manifest& manifest, Executor& executor,
                                         const StarOptions& options) {
  if (options.vouch_percent > VouchLimits::kMaxPercent) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: vouch_percent is {}, but must be at most {}", options.name, options.vouch_percent,
                            VouchLimits::kMaxPercent));
  }
  std::unique_ptr<Star> star(new Star(env, manifest, options));
  ASSIGN_OR_RETURN(star->function_, ParseBudgetFunction(options.budget_function));
  ASSIGN_OR_RETURN(star->plan_, StarMemoryPlan::Make(options));

  const auto view = std::make_shared<RoundsView>(star->function_->ranks());
  star->rounds_view_ = view;
  star->others_ = OtherShards(options.shards, star->plan_.histograms);
  CrawlRanks none(view->ranks, star->others_);
  view->budgets = std::make_shared<const BudgetTable>(star->function_->Make(none));
  view->ranks.Clear();
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  // Before the DRUMs: an interrupted round begins again when its DRUM opens, and needs the table that it had.
  if (section != nullptr) RETURN_IF_ERROR(star->Restore(*section));
  ASSIGN_OR_RETURN(star->names_, NamesLog::Open(env, manifest, NamesSection(options.name)));
  DiskQueue::Options raises;
  raises.name = RaisesSection(options.name);
  raises.block_size = kRaisesBlock;
  raises.codec = Codec::kNone;  // hashes do not compress
  ASSIGN_OR_RETURN(star->raise_queue_, DiskQueue::Open(env, manifest, raises));

  DrumOptions edges;
  edges.name = EdgesSection(options.name);
  edges.memory = star->plan_.edges;
  edges.recent_bytes = star->plan_.recent_edges;
  edges.disk = options.edges_disk;
  edges.only_op = DrumOp::kCheckUpdate;
  edges.emit_duplicates = false;
  edges.codec = options.codec;
  edges.on_round_done = options.on_round_done;
  ASSIGN_OR_RETURN(star->edges_, Drum::Open(env, manifest, executor, edges));

  DrumOptions domains;
  domains.name = DomainsSection(options.name);
  domains.value_size = kDomainRecordSize;
  domains.memory = star->plan_.domains;
  domains.disk = options.domains_disk;
  domains.codec = options.codec;
  domains.on_round_done = options.on_round_done;
  domains.combine = [view, limits = star->limits_](char* stored, std::string_view incoming) {
    DomainRecord record = DecodeDomainRecord(std::string_view(stored, kDomainRecordSize));
    CombineDomain(record, DecodeDomainRecord(incoming), *view->budgets, limits.Counts(record));
    EncodeDomainRecord(record, stored);
  };
  domains.on_round_begin = [view] { view->ranks.Clear(); };
  domains.visit = [view](uint64_t, std::string_view value) { view->ranks.Add(DecodeDomainRecord(value).in_degree); };
  ASSIGN_OR_RETURN(star->domains_, Drum::Open(env, manifest, executor, domains));
  return star;
}

// ---- input

Status Star::AddEdge(uint64_t source_pld, uint64_t target_pld) {
  if (source_pld == target_pld) {
    ++counts_.edges_within;
  } else {
    char both[kEdgeSize];
    StoreLe<uint64_t>(both, source_pld);
    StoreLe<uint64_t>(both + 8, target_pld);
    const std::string_view edge(both, sizeof both);
    const uint64_t key = Hash64(edge);
    uint64_t& latest = latest_edges_[key % kLatestEdges];
    if (latest == key) {
      ++counts_.edges_recent;
    } else {
      RETURN_IF_ERROR(edges_->Add({.op = DrumOp::kCheckUpdate, .key = key, .value = {}, .aux = edge}));
      latest = key;
    }
  }
  ++counts_.edges_offered;
  return {};
}

Status Star::AddUrl(const StarUrl& url) {
  CHECK(url.price >= 1, "a URL without a price would never use up a budget");
  if (url.pld_name.size() > kMaxPldName) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: the name of a domain has {} bytes; at most {} are possible", options_.name,
                            url.pld_name.size(), kMaxPldName));
  }
  const BucketUrl in_bucket{url.tick, url.horizon, url.price};
  char value[kDomainRecordSize];
  EncodeDomainRecord(UrlTuple(in_bucket, url.fresh), value);
  EncodeStarAux({.url = in_bucket,
                 .fresh = url.fresh,
                 .pld = url.fresh ? url.pld : 0,
                 .pld_name = url.fresh ? url.pld_name : std::string_view(),
                 .record = url.record},
                aux_);
  RETURN_IF_ERROR(domains_->Add(
      {.op = DrumOp::kCheckUpdate, .key = url.pld, .value = std::string_view(value, sizeof value), .aux = aux_}));
  ++counts_.urls_in;
  return {};
}

Status Star::CountEnds(uint64_t pld, uint32_t fetched, uint32_t failed) {
  char value[kDomainRecordSize];
  EncodeDomainRecord(EndsTuple(fetched, failed), value);
  return domains_->Add({.op = DrumOp::kUpdate, .key = pld, .value = std::string_view(value, sizeof value), .aux = {}});
}

// ---- output

class Star::DomainAnswers : public DrumSink {
 public:
  DomainAnswers(Star& star, StandingSink& sink) : star_(star), to_(sink) {}

  Status OnAnswer(const DrumAnswer& answer) override {
    const DomainRecord stored = answer.unique ? DomainRecord() : DecodeDomainRecord(answer.value);
    if (answer.aux.size() == kVouchAuxSize && star_.vouches_asked_ > 0) {
      return OnVouch(LoadLe<uint64_t>(answer.aux.data()), stored);
    }
    const std::optional<StarAux> aux = DecodeStarAux(answer.aux);
    if (!aux) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: the domains hold bytes that are not a URL", star_.options_.name));
    }
    return OnUrl(*aux, stored);
  }

 private:
  Status OnVouch(uint64_t target, const DomainRecord& source) {
    if (star_.limits_.Counts(source)) {
      RETURN_IF_ERROR(star_.Raise(target));
    } else {
      ++star_.counts_.edges_unvouched;
    }
    --star_.vouches_asked_;
    return {};
  }

  Status OnUrl(const StarAux& aux, const DomainRecord& stored) {
    Standing standing;
    standing.pld = aux.pld;
    standing.in_degree = stored.in_degree;
    standing.budget = star_.BudgetOf(stored.in_degree);
    const BucketPlace place = PlaceInBucket(stored, aux.url, standing.budget);
    // The same as in CombineDomain.
    standing.passed = stored.passed + (aux.fresh && stored.passed != ~uint32_t{0} ? 1 : 0);
    standing.place = place.place;
    standing.later = place.later;
    standing.tick = place.tick;
    standing.fresh = aux.fresh;
    standing.price = aux.url.price;
    RETURN_IF_ERROR(to_.OnStanding(aux.record, standing));
    if (aux.fresh && stored.passed == 0) star_.names_->Add(aux.pld, aux.pld_name);
    ++star_.counts_.urls_out;
    if (place.later) ++star_.counts_.urls_later;
    return {};
  }

  Star& star_;
  StandingSink& to_;
};

Result<uint64_t> Star::Take(StandingSink& sink, uint64_t max, int64_t now_ns) {
  edges_pace_.Observe(*edges_, now_ns);
  domains_pace_.Observe(*domains_, now_ns);
  ASSIGN_OR_RETURN(const uint64_t urls, TakeDomains(sink, max, now_ns));
  ASSIGN_OR_RETURN(const uint64_t edges, TakeEdges(max - urls));
  edges_pace_.Observe(*edges_, now_ns);
  domains_pace_.Observe(*domains_, now_ns);
  return urls + edges;
}

Result<uint64_t> Star::TakeDomains(StandingSink& sink, uint64_t max, int64_t now_ns) {
  DomainAnswers answers(*this, sink);
  uint64_t taken = 0;
  while (taken < max && domains_->ResultsReady()) {
    RETURN_IF_ERROR(names_->MakeRoom());
    const uint64_t rounds = domains_->rounds();
    ASSIGN_OR_RETURN(const uint64_t some, domains_->TakeResults(answers, std::min<uint64_t>(max - taken, kAtATime)));
    taken += some;
    if (domains_->rounds() != rounds) MakeTable(now_ns);
    if (some == 0) break;
  }
  return taken;
}

void Star::MakeTable(int64_t now_ns) {
  CHECK(!domains_->RoundActive());
  if (options_.tell_ranks && function_->ranks() > 0 && now_ns >= tell_ranks_ns_) {
    options_.tell_ranks(InDegreeHistogram::Of(rounds_view_->ranks).bytes());
    tell_ranks_ns_ = now_ns + kTellRanksNs;
  }
  CrawlRanks ranks(rounds_view_->ranks, others_);
  BudgetTable made = function_->Make(ranks);
  ++counts_.tables;
  if (made == *rounds_view_->budgets) return;
  rounds_view_->budgets = std::make_shared<const BudgetTable>(std::move(made));
  table_saved_ = false;
}

class Star::NewEdges : public DrumSink {
 public:
  explicit NewEdges(Star& star) : star_(star) {}

  Status OnAnswer(const DrumAnswer& answer) override {
    if (answer.aux.size() != kEdgeSize) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: the edges hold bytes that are not an edge", star_.options_.name));
    }
    const auto source = LoadLe<uint64_t>(answer.aux.data());
    const auto target = LoadLe<uint64_t>(answer.aux.data() + 8);
    RETURN_IF_ERROR(star_.limits_.unlimited() ? star_.Raise(target) : star_.AddVouch(source, target));
    ++count_;
    return {};
  }
  uint64_t count() const { return count_; }

 private:
  Star& star_;
  uint64_t count_ = 0;
};

Result<uint64_t> Star::TakeEdges(uint64_t max) {
  ASSIGN_OR_RETURN(uint64_t taken, PassRaises(max));
  if (raise_queue_->size() > 0) return taken;
  while (taken < max && edges_->ResultsReady()) {
    const uint64_t room = domains_->Room(kVouchAuxSize);
    if (room == 0) break;
    NewEdges found(*this);
    const uint64_t before = edges_->waiting();
    const auto result = edges_->TakeResults(found, std::min(max - taken, room));
    const uint64_t some = before - edges_->waiting();  // also if it ended with an error
    counts_.edges_known += some - found.count();
    RETURN_IF_ERROR(result);
    taken += some;
  }
  return taken;
}

Status Star::Raise(uint64_t target) {
  if (options_.raise_elsewhere && options_.raise_elsewhere(target)) {
    ++counts_.edges_sent;
    return {};
  }
  return RaiseHere(target);
}

Status Star::RaiseFromElsewhere(uint64_t target_pld) {
  RETURN_IF_ERROR(RaiseHere(target_pld));
  ++counts_.edges_arrived;
  return {};
}

Status Star::TakeRanks(uint32_t shard, std::string_view histogram) {
  CHECK(shard < options_.shards);
  std::optional<InDegreeHistogram> read = InDegreeHistogram::Decode(histogram);
  if (!read) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the in-degrees of shard {} are not valid", options_.name, shard));
  }
  others_.Take(shard, *std::move(read));
  return {};
}

Status Star::RaiseHere(uint64_t target) {
  if (raise_queue_->size() == 0 && domains_->Room(kVouchAuxSize) > 0) return AddRaise(target);
  char bytes[8];
  StoreLe<uint64_t>(bytes, target);
  return raise_queue_->Append(std::string_view(bytes, sizeof bytes));
}

Status Star::AddRaise(uint64_t target) {
  char bytes[kDomainRecordSize];
  EncodeDomainRecord(InDegreeTuple(), bytes);
  RETURN_IF_ERROR(
      domains_->Add({.op = DrumOp::kUpdate, .key = target, .value = std::string_view(bytes, sizeof bytes), .aux = {}}));
  ++counts_.edges_new;
  return {};
}

Status Star::AddVouch(uint64_t source, uint64_t target) {
  char bytes[kDomainRecordSize];
  EncodeDomainRecord(VouchTuple(), bytes);
  char aux[kVouchAuxSize];
  StoreLe<uint64_t>(aux, target);
  RETURN_IF_ERROR(domains_->Add({.op = DrumOp::kCheckUpdate,
                                 .key = source,
                                 .value = std::string_view(bytes, sizeof bytes),
                                 .aux = std::string_view(aux, sizeof aux)}));
  ++vouches_asked_;
  return {};
}

Result<uint64_t> Star::PassRaises(uint64_t max) {
  for (uint64_t passed = 0;; ++passed) {
    if (passed == max || raise_queue_->size() == 0 || domains_->Room(kVouchAuxSize) == 0) return passed;
    ASSIGN_OR_RETURN(const std::string* target, raise_queue_->Front());
    if (target == nullptr || target->size() != 8) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: the queue of raises holds bytes that are not a hash", options_.name));
    }
    RETURN_IF_ERROR(AddRaise(LoadLe<uint64_t>(target->data())));
    raise_queue_->PopFront();
  }
}

bool Star::ResultsReady() const {
  if (domains_->ResultsReady()) return true;
  return (raise_queue_->size() > 0 || edges_->ResultsReady()) && domains_->Room(kVouchAuxSize) > 0;
}

// ---- rounds

bool Star::WantsRound(int64_t now_ns, bool hungry) {
  const bool domains = domains_pace_.Wants(*domains_, now_ns, UrlsHungry(hungry));
  return edges_pace_.Wants(*edges_, now_ns, false) || domains;
}

int64_t Star::NextRoundTime(int64_t now_ns, bool hungry) {
  edges_pace_.Observe(*edges_, now_ns);
  domains_pace_.Observe(*domains_, now_ns);
  return std::min(edges_pace_.NextStart(*edges_, false), domains_pace_.NextStart(*domains_, UrlsHungry(hungry)));
}

Result<bool> Star::StartRound(int64_t now_ns, bool hungry) {
  bool started = false;
  if (edges_pace_.Wants(*edges_, now_ns, false)) {
    ASSIGN_OR_RETURN(started, edges_->StartRound());
    edges_pace_.Observe(*edges_, now_ns);
  }
  if (domains_pace_.Wants(*domains_, now_ns, UrlsHungry(hungry))) {
    ASSIGN_OR_RETURN(const bool also, domains_->StartRound());
    domains_pace_.Observe(*domains_, now_ns);
    started = started || also;
  }
  return started;
}

StarCounts Star::counts() const {
  StarCounts counts = counts_;
  counts.edges_recent += edges_->known();
  return counts;
}

}  // namespace portolan
