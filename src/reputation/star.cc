#include "reputation/star.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace portolan {
namespace {

constexpr size_t kRaises = 64;         // edges taken at a time
constexpr uint64_t kUrlsAtATime = 64;  // before a full block of names is written: they may add 16 KB of names to it
constexpr uint64_t kNamesMemory = 64 << 10;

uint64_t EdgeKey(uint64_t source, uint64_t target) {
  char bytes[16];
  StoreLe<uint64_t>(bytes, source);
  StoreLe<uint64_t>(bytes + 8, target);
  return Hash64(std::string_view(bytes, sizeof bytes));
}

}  // namespace

Result<StarMemoryPlan> StarMemoryPlan::Make(const StarOptions& options) {
  if (options.memory < StarOptions::kMinMemory) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of memory, at least {} are needed", options.name,
                                                         options.memory, StarOptions::kMinMemory));
  }
  StarMemoryPlan plan;
  // The largest heap, the table in use and the one being made, the block of names.
  plan.fixed =
      BudgetFunction::kMaxRanks * sizeof(uint32_t) + 2 * BudgetTable::kMaxSteps * sizeof(BudgetStep) + kNamesMemory;
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
      edges_pace_(options.edges_pace),
      domains_pace_(options.domains_pace) {}

Result<std::unique_ptr<Star>> Star::Open(Env& env, const Manifest& manifest, Executor& executor,
                                         const StarOptions& options) {
  std::unique_ptr<Star> star(new Star(env, manifest, options));
  ASSIGN_OR_RETURN(star->function_, ParseBudgetFunction(options.budget_function));
  ASSIGN_OR_RETURN(star->plan_, StarMemoryPlan::Make(options));

  const auto view = std::make_shared<RoundsView>(star->function_->ranks());
  star->rounds_view_ = view;
  view->budgets = std::make_shared<const BudgetTable>(star->function_->Make(view->ranks));
  view->ranks.Clear();
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  // Before the DRUMs: a round that was interrupted begins again when its DRUM opens, and wants the table it had.
  if (section != nullptr) RETURN_IF_ERROR(star->Restore(*section));
  ASSIGN_OR_RETURN(star->names_, NamesLog::Open(env, manifest, NamesSection(options.name)));

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
  domains.combine = [view](char* stored, std::string_view incoming) {
    DomainRecord record = DecodeDomainRecord(std::string_view(stored, kDomainRecordSize));
    CombineDomain(record, DecodeDomainRecord(incoming), *view->budgets);
    EncodeDomainRecord(record, stored);
  };
  domains.on_round_begin = [view] { view->ranks.Clear(); };
  domains.visit = [view](uint64_t, std::string_view value) { view->ranks.Add(DecodeDomainRecord(value).in_degree); };
  ASSIGN_OR_RETURN(star->domains_, Drum::Open(env, manifest, executor, domains));
  return star;
}

// ---- in

Status Star::AddEdge(uint64_t source_pld, uint64_t target_pld) {
  if (source_pld == target_pld) {
    ++counts_.edges_within;
  } else {
    char target[8];
    StoreLe<uint64_t>(target, target_pld);
    RETURN_IF_ERROR(edges_->Add({.op = DrumOp::kCheckUpdate,
                                 .key = EdgeKey(source_pld, target_pld),
                                 .value = {},
                                 .aux = std::string_view(target, sizeof target)}));
  }
  ++counts_.edges_offered;
  return {};
}

Status Star::AddUrl(const StarUrl& url) {
  CHECK(url.price >= 1, "a URL without price would never use a budget up");
  if (url.pld_name.size() > kMaxPldName) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: a domain's name of {} bytes, at most {} are possible",
                                                         options_.name, url.pld_name.size(), kMaxPldName));
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

// ---- out

class Star::DomainAnswers : public DrumSink {
 public:
  DomainAnswers(Star& star, StandingSink& sink) : star_(star), to_(sink) {}

  void OnAnswer(const DrumAnswer& answer) override {
    const std::optional<StarAux> aux = DecodeStarAux(answer.aux);
    if (!aux) {
      ++broken_;
      return;
    }
    const DomainRecord stored = answer.unique ? DomainRecord() : DecodeDomainRecord(answer.value);
    Standing standing;
    standing.in_degree = stored.in_degree;
    standing.budget = star_.BudgetOf(stored.in_degree);
    const BucketPlace place = PlaceInBucket(stored, aux->url, standing.budget);
    // As CombineDomain counted it.
    standing.passed = stored.passed + (aux->fresh && stored.passed != ~uint32_t{0} ? 1 : 0);
    standing.place = place.place;
    standing.later = place.later;
    standing.tick = place.tick;
    standing.fresh = aux->fresh;
    standing.price = aux->url.price;
    if (aux->fresh && stored.passed == 0) star_.names_->Add(aux->pld, aux->pld_name);
    ++star_.counts_.urls_out;
    if (place.later) ++star_.counts_.urls_later;
    to_.OnStanding(aux->record, standing);
  }
  uint64_t broken() const { return broken_; }

 private:
  Star& star_;
  StandingSink& to_;
  uint64_t broken_ = 0;
};

Result<uint64_t> Star::Take(StandingSink& sink, uint64_t max, int64_t now_ns) {
  edges_pace_.Observe(*edges_, now_ns);
  domains_pace_.Observe(*domains_, now_ns);
  ASSIGN_OR_RETURN(const uint64_t urls, TakeDomains(sink, max));
  ASSIGN_OR_RETURN(const uint64_t edges, TakeEdges(max - urls));
  edges_pace_.Observe(*edges_, now_ns);
  domains_pace_.Observe(*domains_, now_ns);
  return urls + edges;
}

Result<uint64_t> Star::TakeDomains(StandingSink& sink, uint64_t max) {
  DomainAnswers answers(*this, sink);
  uint64_t taken = 0;
  while (taken < max && domains_->ResultsReady()) {
    RETURN_IF_ERROR(names_->MakeRoom());
    const uint64_t rounds = domains_->rounds();
    ASSIGN_OR_RETURN(const uint64_t some, domains_->TakeResults(answers, std::min(max - taken, kUrlsAtATime)));
    taken += some;
    if (domains_->rounds() != rounds) MakeTable();
    if (answers.broken() > 0) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} URLs came back broken", options_.name, answers.broken()));
    }
    if (some == 0) break;
  }
  return taken;
}

void Star::MakeTable() {
  CHECK(!domains_->RoundActive());
  BudgetTable made = function_->Make(rounds_view_->ranks);
  ++counts_.tables;
  if (made == *rounds_view_->budgets) return;
  rounds_view_->budgets = std::make_shared<const BudgetTable>(std::move(made));
  table_saved_ = false;
}

Result<uint64_t> Star::TakeEdges(uint64_t max) {
  struct Targets : DrumSink {
    explicit Targets(std::vector<uint64_t>& targets) : to(targets) {}
    void OnAnswer(const DrumAnswer& answer) override {
      if (answer.aux.size() == 8) {
        to.push_back(LoadLe<uint64_t>(answer.aux.data()));
      } else {
        broken = true;
      }
    }
    std::vector<uint64_t>& to;
    bool broken = false;
  } targets(raises_);
  uint64_t taken = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool passed, PassRaises());
    if (!passed || taken == max || !edges_->ResultsReady()) return taken;
    ASSIGN_OR_RETURN(const uint64_t some, edges_->TakeResults(targets, std::min<uint64_t>(max - taken, kRaises)));
    if (targets.broken) return Fail(ErrorCode::kCorrupt, fmt::format("{}: an edge came back broken", options_.name));
    counts_.edges_known += some - raises_.size();
    taken += some;
  }
}

Result<bool> Star::PassRaises() {
  if (raises_.empty()) return true;
  char value[kDomainRecordSize];
  EncodeDomainRecord(InDegreeTuple(), value);
  size_t passed = 0;
  Status status;
  for (; passed < raises_.size(); ++passed) {
    status = domains_->Add(
        {.op = DrumOp::kUpdate, .key = raises_[passed], .value = std::string_view(value, sizeof value), .aux = {}});
    if (!status) break;
  }
  counts_.edges_new += passed;
  raises_.erase(raises_.begin(), raises_.begin() + static_cast<ptrdiff_t>(passed));
  if (raises_.empty()) return true;
  if (status.error().code() == ErrorCode::kBusy) return false;
  return std::unexpected(status.error());
}

bool Star::ResultsReady() const {
  if (domains_->ResultsReady()) return true;
  // Edges that the domains refused go on when their round is done.
  return raises_.empty() ? edges_->ResultsReady() : !domains_->RoundActive();
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

// ---- checkpoints

Status Star::Flush() {
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  const StarCounts now = counts();
  section.numbers = {{"edges_offered", now.edges_offered},
                     {"edges_within", now.edges_within},
                     {"edges_recent", now.edges_recent},
                     {"edges_known", now.edges_known},
                     {"edges_new", now.edges_new},
                     {"urls_in", now.urls_in},
                     {"urls_out", now.urls_out},
                     {"urls_later", now.urls_later},
                     {"tables", now.tables},
                     {"raises", raises_.size()}};
  for (size_t i = 0; i < raises_.size(); ++i) section.numbers[fmt::format("raise.{}", i)] = raises_[i];
  if (!table_saved_) {
    const std::string name = fmt::format("{}-{:06}.budgets", options_.name, next_table_);
    const auto length = WriteBudgetTable(env_, JoinPath(dir_, name), *rounds_view_->budgets);
    if (!length) {
      static_cast<void>(env_.Remove(JoinPath(dir_, name)));
      return std::unexpected(length.error());
    }
    ++next_table_;
    if (!table_name_.empty()) retired_.push_back(table_name_);
    table_name_ = name;
    table_length_ = *length;
    table_saved_ = true;
  }
  section.numbers["next_table"] = next_table_;
  section.files.push_back({table_name_, table_length_});
  described_ = std::move(section);
  return {};
}

Status Star::Committed() { return RemoveUnnamed(env_, dir_, described_, retired_); }

Status Star::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(counts_.edges_offered, section.Number("edges_offered"));
  ASSIGN_OR_RETURN(counts_.edges_within, section.Number("edges_within"));
  ASSIGN_OR_RETURN(counts_.edges_recent, section.Number("edges_recent"));
  ASSIGN_OR_RETURN(counts_.edges_known, section.Number("edges_known"));
  ASSIGN_OR_RETURN(counts_.edges_new, section.Number("edges_new"));
  ASSIGN_OR_RETURN(counts_.urls_in, section.Number("urls_in"));
  ASSIGN_OR_RETURN(counts_.urls_out, section.Number("urls_out"));
  ASSIGN_OR_RETURN(counts_.urls_later, section.Number("urls_later"));
  ASSIGN_OR_RETURN(counts_.tables, section.Number("tables"));
  ASSIGN_OR_RETURN(next_table_, section.Number("next_table"));
  ASSIGN_OR_RETURN(const uint64_t raises, section.Number("raises"));
  if (raises > kRaises || section.files.size() != 1) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: its section of the manifest makes no sense", options_.name));
  }
  for (uint64_t i = 0; i < raises; ++i) {
    ASSIGN_OR_RETURN(const uint64_t target, section.Number(fmt::format("raise.{}", i)));
    raises_.push_back(target);
  }
  table_name_ = section.files[0].name;
  table_length_ = section.files[0].length;
  ASSIGN_OR_RETURN(BudgetTable table, ReadBudgetTable(env_, JoinPath(dir_, table_name_), table_length_));
  rounds_view_->budgets = std::make_shared<const BudgetTable>(std::move(table));
  table_saved_ = true;
  described_ = section;
  return {};
}

}  // namespace portolan
