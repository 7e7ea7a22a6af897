// STAR against maps and sets: all its answers for URLs, in any order of events, with crashes in between.

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "base/hash.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "reputation/domain_list.h"
#include "reputation/star.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";
constexpr int64_t kSecond = 1'000'000'000;

std::string NameOf(uint64_t number) { return "d" + std::to_string(number) + ".example"; }
uint64_t PldOf(uint64_t number) { return Hash64(NameOf(number)); }

// The same rules in a simple form. From STAR it learns only the progress: how many vouches were answered, how many
// edges moved on, and when a round ended.
class Model {
 public:
  Model(size_t top, uint32_t least, uint32_t most, uint32_t vouch_base, uint32_t vouch_percent)
      : top_(top), least_(least), most_(most), vouch_base_(vouch_base), vouch_percent_(vouch_percent) {}

  void AddEdge(uint64_t source, uint64_t target) {
    if (source != target && edges_.emplace(source, target).second) new_edges_.emplace_back(source, target);
  }
  void AddUrl(const StarUrl& url) {
    tuples_.push_back({.pld = url.pld,
                       .kind = Kind::kUrl,
                       .target = 0,
                       .tick = url.tick,
                       .horizon = url.horizon,
                       .price = url.price,
                       .fresh = url.fresh,
                       .record = std::string(url.record)});
  }
  // Goes on until this many vouches were answered in all.
  void AnswerVouches(uint64_t until) {
    ASSERT_LE(vouches_answered_, until);
    while (vouches_answered_ < until) {
      ASSERT_FALSE(tuples_.empty());
      ASSERT_NE(tuples_.front().kind, Kind::kUrl) << "a vouch was answered before a URL that came first";
      Apply();
    }
  }
  // This many new edges have left the set of edges.
  void EdgesTaken(uint64_t count) {
    for (; count > 0; --count) {
      ASSERT_FALSE(new_edges_.empty());
      const auto [source, target] = new_edges_.front();
      new_edges_.pop_front();
      if (vouch_base_ == 0) {
        between_.push_back(Raise(target));
      } else {
        between_.push_back({.pld = source, .kind = Kind::kVouch, .target = target, .record = {}});
      }
    }
  }
  // This many have reached the domains, the oldest first.
  void EdgesMoved(uint64_t raises, uint64_t vouches) {
    for (uint64_t left = raises + vouches; left > 0; --left) {
      ASSERT_FALSE(between_.empty());
      uint64_t& expected = between_.front().kind == Kind::kRaise ? raises : vouches;
      ASSERT_GT(expected, 0U) << "they moved on in another order";
      --expected;
      tuples_.push_back(between_.front());
      between_.pop_front();
    }
  }

  // The next URL that must come out.
  std::pair<std::string, Standing> NextUrl() {
    while (!tuples_.empty() && tuples_.front().kind != Kind::kUrl) Apply();
    if (tuples_.empty()) return {"nothing is left", {}};
    std::string record = tuples_.front().record;
    const Standing standing = Apply();
    return {record, standing};
  }
  // A round ended; this many tuples are not part of it.
  void RoundEnded(uint64_t left) {
    while (tuples_.size() > left) {
      ASSERT_EQ(tuples_.front().kind, Kind::kRaise) << "its round ended and it did not come out";
      Apply();
    }
    std::vector<uint32_t> sorted;
    for (const auto& [pld, domain] : domains_) {
      if (domain.in_degree > 0) sorted.push_back(domain.in_degree);
    }
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    budgets_.clear();
    for (size_t begin = 0; begin < sorted.size();) {
      size_t end = begin;
      while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
      const double rank = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
      budgets_[sorted[begin]] = AtRank(rank);
      begin = end;
    }
  }
  uint32_t BudgetOf(uint32_t in_degree) const {
    const auto after = budgets_.upper_bound(in_degree);
    return after == budgets_.begin() ? least_ : std::prev(after)->second;
  }
  struct Domain {
    uint32_t in_degree = 0;
    uint32_t passed = 0;
    uint64_t used = 0;
    uint32_t tick = 0;
    uint32_t vouched = 0;
  };
  const std::map<uint64_t, Domain>& domains() const { return domains_; }
  uint64_t vouches_answered() const { return vouches_answered_; }
  uint64_t unvouched() const { return unvouched_; }
  size_t edges_between() const { return between_.size(); }
  size_t urls_inside() const {
    return static_cast<size_t>(
        std::count_if(tuples_.begin(), tuples_.end(), [](const Tuple& tuple) { return tuple.kind == Kind::kUrl; }));
  }
  size_t tuples_inside() const { return tuples_.size(); }

 private:
  enum class Kind : uint8_t { kUrl, kVouch, kRaise };
  struct Tuple {
    uint64_t pld = 0;
    Kind kind = Kind::kRaise;
    uint64_t target = 0;  // of a vouch
    uint32_t tick = 0;
    uint16_t horizon = 0;
    uint16_t price = 0;
    bool fresh = false;
    std::string record;
  };

  static Tuple Raise(uint64_t target) { return {.pld = target, .kind = Kind::kRaise, .target = 0, .record = {}}; }

  uint32_t AtRank(double rank) const {
    if (rank > static_cast<double>(top_)) return least_;
    if (top_ == 1) return most_;
    const double fallen = static_cast<double>(most_ - least_) * (rank - 1) / static_cast<double>(top_ - 1);
    return most_ - static_cast<uint32_t>(fallen + 0.5);
  }

  Standing Apply() {
    const Tuple tuple = tuples_.front();
    tuples_.pop_front();
    Domain& domain = domains_[tuple.pld];
    if (tuple.kind == Kind::kRaise) {
      ++domain.in_degree;
      return {};
    }
    if (tuple.kind == Kind::kVouch) {
      ++vouches_answered_;
      if (domain.vouched < vouch_base_ + domain.in_degree * vouch_percent_ / 100) {
        between_.push_back(Raise(tuple.target));
        ++domain.vouched;
      } else {
        ++unvouched_;
      }
      return {};
    }
    Standing standing;
    standing.in_degree = domain.in_degree;
    standing.budget = BudgetOf(domain.in_degree);
    standing.fresh = tuple.fresh;
    standing.price = tuple.price;
    for (; domain.tick < tuple.tick; ++domain.tick) {
      domain.used = domain.used > standing.budget ? domain.used - standing.budget : 0;
    }
    standing.tick = domain.tick;
    standing.place = static_cast<uint32_t>(domain.used / standing.budget);
    standing.later = standing.place >= tuple.horizon;
    if (!standing.later) domain.used += tuple.price;
    if (tuple.fresh) ++domain.passed;
    standing.passed = domain.passed;
    return standing;
  }

  size_t top_;
  uint32_t least_;
  uint32_t most_;
  uint32_t vouch_base_;
  uint32_t vouch_percent_;
  uint64_t vouches_answered_ = 0;
  uint64_t unvouched_ = 0;
  std::set<std::pair<uint64_t, uint64_t>> edges_;
  std::deque<std::pair<uint64_t, uint64_t>> new_edges_;  // in order, not yet found to be new
  std::deque<Tuple> between_;                            // vouches and raises on their way to the domains
  std::deque<Tuple> tuples_;                             // that the domains have and have not answered
  std::map<uint64_t, Domain> domains_;
  std::map<uint32_t, uint32_t> budgets_;
};

struct Taken : StandingSink {
  explicit Taken(Model& checked_by) : model(checked_by) {}
  Status OnStanding(std::string_view record, const Standing& standing) override {
    const auto [expected_record, expected] = model.NextUrl();
    if (wrong) return {};
    wrong = expected_record != record || expected != standing;
    EXPECT_EQ(expected_record, record);
    EXPECT_EQ(expected.in_degree, standing.in_degree) << record;
    EXPECT_EQ(expected.budget, standing.budget) << record;
    EXPECT_EQ(expected.passed, standing.passed) << record;
    EXPECT_EQ(expected.place, standing.place) << record;
    EXPECT_EQ(expected.later, standing.later) << record;
    EXPECT_EQ(expected.tick, standing.tick) << record;
    EXPECT_EQ(expected.fresh, standing.fresh) << record;
    EXPECT_EQ(expected.price, standing.price) << record;
    if (standing.later) later.emplace_back(record);
    return {};
  }
  Model& model;
  bool wrong = false;
  std::vector<std::string> later;  // Q_F
};

enum class Where : uint8_t { kAtOnce, kLater, kOtherThreads };  // where rounds run

struct Course {
  uint64_t seed = 1;
  Where where = Where::kAtOnce;
  bool crashes = false;
  int steps = 300;
  uint64_t memory = StarOptions::kMinMemory;
  uint64_t disk = uint64_t{1} << 30;
  uint64_t batch = 60;  // edges and URLs per step, at most
  uint64_t domains = 40;
  uint64_t few = 40;  // taken at a time, if not all
  uint32_t vouch_base = 0;
  uint32_t vouch_percent = 0;
};

class Machine {
 public:
  Machine(const Course& run, size_t top)
      : run_(run), rng_(run.seed), model_(top, 3, 40, run.vouch_base, run.vouch_percent) {
    options_.memory = run.memory;
    options_.edges_disk = options_.domains_disk = run.disk;
    options_.budget_function = "ranked least=3 most=40 top=" + std::to_string(top);
    options_.vouch_base = run.vouch_base;
    options_.vouch_percent = run.vouch_percent;
    options_.on_round_done = [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    };
    if (run.where == Where::kOtherThreads) pool_.emplace(2);
    Reopen();
  }
  ~Machine() { deferred_.RunAll(); }

  void Go() {
    for (int step = 0; step < run_.steps && !testing::Test::HasFailure(); ++step) {
      now_ += static_cast<int64_t>(rng_.Below(3 * kSecond));
      if (rng_.Chance(0.2)) tick_ += static_cast<uint32_t>(rng_.Below(3));
      AddSome();
      if (rng_.Chance(0.5)) {
        ASSERT_TRUE(star_->StartRound(now_, rng_.Chance(0.5)));
      }
      if (rng_.Chance(0.6)) RunJobs();
      if (rng_.Chance(0.7)) Take(rng_.Chance(0.5) ? rng_.Below(run_.few) : 100'000);
      Check();
      if (run_.crashes && rng_.Chance(0.15)) Commit();
      if (run_.crashes && rng_.Chance(0.07)) Crash();
    }
    Finish();
  }
  uint64_t busy() const { return busy_; }
  const Star& star() const { return *star_; }
  uint64_t crashes() const { return crashes_; }
  uint64_t most_raises() const { return most_raises_; }  // the most that waited at one time

 private:
  struct Saved {
    Model model;
    std::vector<std::string> later;
    uint32_t tick;
    uint64_t next_url;
    StarCounts counts;
    BudgetTable budgets;
  };

  Executor& executor() {
    if (pool_) return *pool_;
    return run_.where == Where::kLater ? static_cast<Executor&>(deferred_) : inline_;
  }

  void Reopen() {
    manifest_.emplace(Manifest::Open(*env_, kDir).value());
    auto star = Star::Open(*env_, *manifest_, executor(), options_);
    ASSERT_TRUE(star) << star.error().ToString();
    star_ = *std::move(star);
  }

  // Domains of low number are linked to often.
  uint64_t SomeDomain() { return std::min(rng_.Below(run_.domains), rng_.Below(run_.domains)); }

  void AddSome() {
    for (uint64_t n = rng_.Below(run_.batch); n > 0; --n) {
      const uint64_t source = PldOf(rng_.Below(run_.domains));
      const uint64_t target = PldOf(SomeDomain());
      const Status added = star_->AddEdge(source, target);
      if (!added) {
        ASSERT_EQ(added.error().code(), ErrorCode::kBusy);
        ++busy_;
        break;
      }
      model_.AddEdge(source, target);
    }
    for (uint64_t n = rng_.Below(run_.batch); n > 0; --n) {
      StarUrl url;
      const uint64_t domain = SomeDomain();
      const std::string name = NameOf(domain);
      std::string record =
          std::to_string(next_url_) + " of " + std::to_string(domain) + " " + std::string(rng_.Below(30), 'x');
      const bool again = !taken_.later.empty() && rng_.Chance(0.3);
      std::string again_name;
      url.pld = PldOf(domain);
      url.pld_name = name;
      if (again) {
        record = taken_.later.back();
        again_name = NameOf(std::stoull(record.substr(record.find(" of ") + 4)));
        url.pld = Hash64(again_name);
        url.pld_name = again_name;
        url.fresh = false;
      }
      url.record = record;
      // Some are late: they carry an older tick than others that came before them.
      url.tick = tick_ > 3 && rng_.Chance(0.1) ? tick_ - 3 : tick_;
      url.horizon = static_cast<uint16_t>(rng_.Below(6));
      url.price = static_cast<uint16_t>(1 + (rng_.Chance(0.1) ? rng_.Below(30) : 0));
      const Status added = star_->AddUrl(url);
      if (!added) {
        ASSERT_EQ(added.error().code(), ErrorCode::kBusy);
        ++busy_;
        break;
      }
      model_.AddUrl(url);
      if (again) taken_.later.pop_back();
      ++next_url_;
    }
  }

  void RunJobs() {
    while (deferred_.waiting() > 0) deferred_.Run(rng_.Below(deferred_.waiting()));
    if (!pool_) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      const auto idle = [](const Drum& drum) { return !drum.RoundActive() || drum.ResultsReady(); };
      return idle(star_->domains_drum()) && idle(star_->edges_drum());
    });
  }

  // New edges that left the set of edges.
  uint64_t NewEdges() const {
    const StarCounts counts = star_->counts();
    return counts.edges_offered - counts.edges_within - counts.edges_recent - counts.edges_known -
           star_->edges_drum().waiting();
  }

  void Take(uint64_t max) {
    const StarCounts before = star_->counts();
    const uint64_t edges_before = NewEdges();
    const uint64_t raises_before = before.edges_new + star_->raises_waiting();
    const uint64_t asked_before = star_->vouches_asked();
    const uint64_t answered_before = model_.vouches_answered();
    const bool ready = star_->ResultsReady();
    const auto took = star_->Take(taken_, max, now_);
    ASSERT_TRUE(took) << took.error().ToString();
    ASSERT_LE(*took, max);
    const StarCounts after = star_->counts();
    // A caller that relies on ResultsReady misses nothing and does not loop for ever.
    if (ready && max > 0) {
      ASSERT_TRUE(*took > 0 || after.edges_new > before.edges_new || star_->vouches_asked() > asked_before);
    }
    if (run_.where == Where::kLater && *took < max) {
      ASSERT_FALSE(star_->ResultsReady());
    }
    const uint64_t edges = NewEdges() - edges_before;
    uint64_t answered = after.edges_new + star_->raises_waiting() - raises_before;  // those that count
    if (run_.vouch_base == 0) answered -= edges;
    answered += after.edges_unvouched - before.edges_unvouched;
    ASSERT_NO_FATAL_FAILURE(model_.AnswerVouches(answered_before + answered));
    ASSERT_NO_FATAL_FAILURE(model_.EdgesTaken(edges));
    ASSERT_NO_FATAL_FAILURE(
        model_.EdgesMoved(after.edges_new - before.edges_new, star_->vouches_asked() + answered - asked_before));
    most_raises_ = std::max(most_raises_, star_->raises_waiting());
    if (after.tables != before.tables) {
      ASSERT_EQ(after.tables, before.tables + 1);
      model_.RoundEnded(star_->domains_drum().waiting());
      for (uint32_t in_degree = 0; in_degree < run_.domains + 5; ++in_degree) {
        ASSERT_EQ(star_->BudgetOf(in_degree), model_.BudgetOf(in_degree)) << in_degree;
      }
    }
  }

  void Check() {
    const StarCounts counts = star_->counts();
    ASSERT_EQ(counts.urls_in, counts.urls_out + star_->waiting());
    ASSERT_EQ(star_->waiting(), model_.urls_inside());
    ASSERT_LE(star_->domains_drum().waiting(), model_.tuples_inside());
    ASSERT_EQ(counts.edges_offered, counts.edges_within + counts.edges_recent + counts.edges_known + counts.edges_new +
                                        counts.edges_unvouched + star_->edges_waiting());
    ASSERT_EQ(counts.edges_unvouched, model_.unvouched());
    ASSERT_EQ(star_->edges_waiting() - star_->edges_drum().waiting() - star_->vouches_asked(), model_.edges_between());
  }

  void Commit() {
    ASSERT_TRUE(manifest_->Commit(star_->Checkpointables()));
    saved_ = Saved{model_, taken_.later, tick_, next_url_, star_->counts(), star_->budgets()};
  }

  void Crash() {
    if (!saved_) return;
    ++crashes_;
    if (rng_.Chance(0.5)) RunJobs();
    const auto mode = static_cast<CrashMode>(rng_.Below(3));
    auto survived = env_->CrashedCopy(mode, rng_.Next());
    deferred_.RunAll();
    star_.reset();
    env_ = std::move(survived);
    Reopen();
    model_ = saved_->model;
    taken_.later = saved_->later;
    tick_ = saved_->tick;
    next_url_ = saved_->next_url;
    ASSERT_EQ(star_->counts(), saved_->counts);
    ASSERT_EQ(star_->budgets(), saved_->budgets);
    Check();
  }

  void Finish() {
    for (int i = 0; (star_->waiting() > 0 || star_->edges_waiting() > 0 || star_->domains_drum().waiting() > 0) &&
                    !testing::Test::HasFailure();
         ++i) {
      ASSERT_LT(i, 10'000);
      now_ += 100'000 * kSecond;
      ASSERT_TRUE(star_->StartRound(now_, true));
      RunJobs();
      ASSERT_EQ(star_->ResultsReady(), star_->domains_drum().RoundActive() || star_->edges_drum().RoundActive());
      Take(~uint64_t{0});
      Check();
    }
    ASSERT_TRUE(manifest_->Commit(star_->Checkpointables()));
    // All of them, as the listing shows them.
    std::map<uint64_t, DomainLine> listed;
    DomainListOptions all;
    all.count = 1'000'000;
    const auto totals = ForEachDomain(*env_, *manifest_, all, [&](const DomainLine& line) { listed[line.pld] = line; });
    ASSERT_TRUE(totals) << totals.error().ToString();
    ASSERT_EQ(totals->domains, model_.domains().size());
    ASSERT_EQ(listed.size(), model_.domains().size());
    uint64_t named = 0;
    for (uint64_t number = 0; number < run_.domains; ++number) {
      const auto expected = model_.domains().find(PldOf(number));
      if (expected == model_.domains().end()) continue;
      const DomainLine& line = listed.at(expected->first);
      ASSERT_EQ(line.record.in_degree, expected->second.in_degree);
      ASSERT_EQ(line.record.passed, expected->second.passed);
      ASSERT_EQ(line.record.used, expected->second.used);
      ASSERT_EQ(line.record.tick, expected->second.tick);
      ASSERT_EQ(line.record.vouched, expected->second.vouched);
      ASSERT_EQ(line.budget, model_.BudgetOf(line.record.in_degree));
      ASSERT_EQ(line.name, expected->second.passed > 0 ? NameOf(number) : "");
      if (expected->second.passed > 0) ++named;
    }
    ASSERT_EQ(totals->names, named) << "each name once";
  }

  Course run_;
  Rng rng_;
  Model model_;
  Taken taken_{model_};
  StarOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  InlineExecutor inline_;
  DeferredExecutor deferred_;
  std::optional<WorkerPool> pool_;
  std::unique_ptr<MemEnv> env_ = std::make_unique<MemEnv>();
  std::optional<Manifest> manifest_;
  std::unique_ptr<Star> star_;
  std::optional<Saved> saved_;
  int64_t now_ = 0;
  uint32_t tick_ = 0;
  uint64_t next_url_ = 0;
  uint64_t busy_ = 0;
  uint64_t crashes_ = 0;
  uint64_t most_raises_ = 0;
};

// Every fourth without limits.
void SetLimits(Course& run) {
  constexpr uint32_t kBases[] = {0, 1, 3, 16};
  run.vouch_base = kBases[run.seed % 4];
  run.vouch_percent = static_cast<uint32_t>(run.seed * 37 % (VouchLimits::kMaxPercent + 1));
}

TEST(StarModelTest, StandingsAreThoseOfMapsAndSets) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Course run;
    run.seed = seed;
    run.where = static_cast<Where>(seed % 3);
    SetLimits(run);
    Machine machine(run, seed % 5 == 0 ? 1 : 1 + seed * 2);
    machine.Go();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_GT(machine.star().counts().tables, 10U);
    EXPECT_GT(machine.star().counts().urls_later, 500U);
    if (run.vouch_base == 0) {
      EXPECT_GT(machine.star().counts().edges_new, 500U);
      EXPECT_EQ(machine.star().counts().edges_unvouched, 0U);
    } else {
      EXPECT_GE(machine.star().counts().edges_new, run.domains * run.vouch_base * 9 / 10);
      EXPECT_GT(machine.star().counts().edges_unvouched, 100U);
    }
  }
}

TEST(StarModelTest, CrashesChangeNothing) {
  uint64_t crashes = 0;
  for (uint64_t seed = 101; seed <= 115; ++seed) {
    Course run;
    run.seed = seed;
    run.where = static_cast<Where>(seed % 3);
    run.crashes = true;
    run.steps = 200;
    SetLimits(run);
    Machine machine(run, 1 + seed % 20);
    machine.Go();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    crashes += machine.crashes();
  }
  EXPECT_GT(crashes, 100U);
}

// Memory is full at every other step, and the disk's bound is so near that much is refused, even edges that STAR itself
// passes on as vouches and raises.
TEST(StarModelTest, NothingIsLostAtTheBounds) {
  uint64_t busy = 0;
  uint64_t queued = 0;
  for (uint64_t seed = 201; seed <= 203; ++seed) {
    Course run;
    run.seed = seed;
    run.where = seed % 3 == 2 ? Where::kOtherThreads : Where::kLater;
    run.vouch_base = seed % 3 == 0 ? 0 : 16;
    run.vouch_percent = 50;
    run.crashes = seed % 2 == 0;
    run.steps = 30;
    run.disk = 20'000;
    run.batch = 5'000;
    run.domains = 3'000;
    run.few = 10'000;
    Machine machine(run, 500);
    machine.Go();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    busy += machine.busy();
    if (run.vouch_base != 0 && machine.most_raises() > 1000) ++queued;
  }
  EXPECT_GT(busy, 5U);
  EXPECT_GT(queued, 0U) << "the queue of raises is to be tried too";
}

}  // namespace
}  // namespace portolan
