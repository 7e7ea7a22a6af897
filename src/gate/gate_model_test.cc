// The gate in a random world: hosts that answer, redirect, fail, lose requests and change their minds; crashes at any
// operation of the disk. Whatever comes out is checked against the list of answers that the world gave; nothing is
// lost, nothing comes twice.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "gate/gate.h"
#include "gate/robots_request.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";
constexpr uint32_t kStart = 1'800'000'000;
constexpr uint32_t kRobotsTtl = 2000;
constexpr uint32_t kUnreachableTtl = 300;
constexpr uint32_t kTimeout = 120;
constexpr uint32_t kTries = 3;

struct Reply {
  uint32_t time = 0;
  RobotsAnswer::Kind kind = RobotsAnswer::Kind::kAllowAll;
  int forbidden = 0;  // kRules forbids "/<forbidden>"
};

struct Request {
  uint32_t due = 0;
  std::string url;
  uint8_t hops = 0;
};

// All that a shard would have in its own snapshot, and the model's memory.
struct World {
  GateNow now{.ns = 0, .unix_s = kStart};
  std::map<std::string, std::vector<Reply>> replies;  // by origin, as the gate was told them
  std::vector<Request> requests;                      // being fetched
  std::map<std::string, uint64_t> wanted;
  std::set<std::string> inside;  // URLs in the gate
  std::set<std::string> outside;
  uint64_t next_url = 0;
  uint64_t allowed = 0, denied = 0, unreachable = 0;
};

std::string Origin(uint64_t i) { return "http://h" + std::to_string(i) + ".example"; }

class Shard : public GateSink {
 public:
  explicit Shard(uint64_t seed) : rng(seed) {}

  Status OnAllowed(const UrlRecord& record) override {
    Leave(record);
    ++world.allowed;
    EXPECT_TRUE(Explains(record, true)) << record.url;
    return {};
  }
  Status OnDenied(const UrlRecord& record, DenyReason reason) override {
    Leave(record);
    if (reason == DenyReason::kRules) {
      ++world.denied;
      EXPECT_TRUE(Explains(record, false)) << record.url;
      return {};
    }
    ++world.unreachable;
    // There are `kTries` failures in a row, each after the one before has expired, and the last is still valid.
    uint32_t in_a_row = 0;
    uint32_t until = 0;
    bool found = false;
    for (const Reply& reply : world.replies[std::string(OriginOf(record.url))]) {
      if (reply.kind != RobotsAnswer::Kind::kDisallowAll) {
        in_a_row = 0;
      } else if (in_a_row == 0 || reply.time >= until) {
        ++in_a_row;
        until = reply.time + kUnreachableTtl;
      } else {
        until = reply.time + kUnreachableTtl;
      }
      found = found || (in_a_row >= kTries && until > world.now.unix_s);
    }
    EXPECT_TRUE(found) << record.url;
    return {};
  }
  Status OnRobotsWanted(const UrlRecord& request) override {
    Log("wanted " + std::string(request.url));
    if (request.hops == 0) {
      const uint64_t times = ++world.wanted[std::string(request.url)];
      EXPECT_LE(times, 1 + (world.now.unix_s - kStart) / kTimeout) << request.url;
    }
    EXPECT_LE(request.hops, 5);
    if (!orderly && rng.Chance(0.1)) return {};  // lost
    world.requests.push_back({.due = world.now.unix_s + static_cast<uint32_t>(rng.Below(orderly ? 3 : 60)),
                              .url = std::string(request.url),
                              .hops = request.hops});
    return {};
  }

  Rng rng;
  World world;
  bool orderly = false;  // every request is answered soon, and well
  std::string log;

  void Log(const std::string& line) { log += std::to_string(world.now.unix_s) + " " + line + "\n"; }

 private:
  void Leave(const UrlRecord& record) {
    const std::string url(record.url);
    Log("out " + url);
    EXPECT_EQ(world.inside.erase(url), 1U) << url;
    EXPECT_TRUE(world.outside.insert(url).second) << url << " came out twice";
    EXPECT_EQ(record.depth, url.size() % 1000);  // the rest of the record is as it went in
  }
  // Is there a reply that is still valid and agrees?
  bool Explains(const UrlRecord& record, bool allow) {
    EXPECT_GT(record.robots.expires, world.now.unix_s);
    for (const Reply& reply : world.replies[std::string(OriginOf(record.url))]) {
      if (reply.time + kRobotsTtl != record.robots.expires) continue;
      if (reply.kind == RobotsAnswer::Kind::kAllowAll && allow) return true;
      const bool forbids = PathAndQueryOf(record.url).starts_with("/" + std::to_string(reply.forbidden));
      if (reply.kind == RobotsAnswer::Kind::kRules && forbids != allow) return true;
    }
    return false;
  }
};

// While a gate is being opened jobs run at once: a failing Open would wait for them for ever.
class ModelExecutor : public DeferredExecutor {
 public:
  void Submit(Job job) override {
    if (at_once) return job();
    DeferredExecutor::Submit(std::move(job));
  }
  bool at_once = false;
};

class Crawl {
 public:
  Crawl(uint64_t seed, bool known, uint64_t power_cut) : shard_(seed), known_(known), mem_(std::make_unique<MemEnv>()) {
    Cut(power_cut);
    saved_.push_back(shard_.world);
  }
  ~Crawl() {
    executor_.RunAll();
    gate_.reset();
  }

  void Go(int steps) {
    while (!Open()) Crash();
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) Guard(Step());
    shard_.orderly = true;
    for (int i = 0; i < 30'000 && !testing::Test::HasFailure(); ++i) {
      if (shard_.world.inside.empty() && shard_.world.requests.empty()) return;
      Guard(Step());
    }
    ADD_FAILURE() << shard_.world.inside.size() << " URLs never came out, the first " << *shard_.world.inside.begin()
                  << ": " << gate_->in_cache() << " " << gate_->waiting_on_answer() << " " << gate_->waiting_on_host();
  }

  const World& world() const { return shard_.world; }
  const std::string& log() const { return shard_.log; }
  uint64_t crashes() const { return crashes_; }

 private:
  void Cut(uint64_t at) {
    env_ = std::make_unique<FaultyEnv>(*mem_, at == 0 ? FaultPlan{} : FaultPlan{.power_cut_at = at});
  }

  bool Open() {
    auto manifest = Manifest::Open(*env_, kDir);
    if (!manifest) return false;
    manifest_ = std::make_unique<Manifest>(std::move(*manifest));
    GateOptions options;
    options.memory = GateOptions::kMinMemory;
    options.robots_ttl_s = kRobotsTtl;
    options.unreachable_ttl_s = kUnreachableTtl;
    options.request_timeout_s = kTimeout;
    options.unreachable_tries = kTries;
    options.use_known_origins = known_;
    options.rules_segment = 3000;
    executor_.at_once = true;
    auto gate = Gate::Open(*env_, *manifest_, executor_, options);
    executor_.at_once = false;
    if (!gate) {
      EXPECT_TRUE(env_->power_is_cut()) << gate.error().ToString();
      return false;
    }
    gate_ = std::move(*gate);
    EXPECT_EQ(gate_->waiting(), shard_.world.inside.size());
    return true;
  }

  void Guard(const Status& status) {
    if (status) return;
    ASSERT_TRUE(env_->power_is_cut()) << status.error().ToString();
    do {
      Crash();
    } while (!Open());
  }

  void Crash() {
    ++crashes_;
    executor_.RunAll();
    gate_.reset();
    mem_ = mem_->CrashedCopy(static_cast<CrashMode>(shard_.rng.Below(3)), shard_.rng.Next());
    Cut(shard_.orderly ? 0 : 1 + shard_.rng.Below(600));
    MemEnv& mem = *mem_;
    const uint64_t sequence = Manifest::Open(mem, kDir).value().sequence();
    ASSERT_LT(sequence, saved_.size());
    saved_.resize(sequence + 1);
    const GateNow now = shard_.world.now;
    shard_.world = saved_[sequence];
    shard_.world.now = now;  // time does not go back
    shard_.Log("crash");
  }

  RobotsAnswer AnswerFor(const Request& request, Reply& reply) {
    Rng& rng = shard_.rng;
    RobotsAnswer answer;
    const uint64_t dice = shard_.orderly ? 60 + rng.Below(40) : rng.Below(100);
    if (dice < 15) {
      answer.kind = RobotsAnswer::Kind::kFollow;
      answer.follow = RobotsUrl(Origin(rng.Below(kOrigins)));
      if (request.hops == 5) reply.kind = RobotsAnswer::Kind::kAllowAll;
    } else if (dice < 40) {
      answer.kind = reply.kind = RobotsAnswer::Kind::kDisallowAll;
    } else if (dice < 60) {
      answer.kind = reply.kind = RobotsAnswer::Kind::kAllowAll;
    } else {
      answer.kind = reply.kind = RobotsAnswer::Kind::kRules;
      reply.forbidden = static_cast<int>(rng.Below(4));
      RobotsRulesBuilder builder;
      builder.Add("/" + std::to_string(reply.forbidden), false);
      answer.rules = std::move(builder).Build();
    }
    return answer;
  }

  Status Step() {
    Rng& rng = shard_.rng;
    World& world = shard_.world;
    const auto seconds = static_cast<uint32_t>(rng.Chance(0.3) ? rng.Below(20) : 0);
    world.now.unix_s += seconds;
    world.now.ns += int64_t{seconds} * 1'000'000'000 + static_cast<int64_t>(rng.Below(3'000'000));
    for (uint64_t n = shard_.orderly ? 0 : rng.Below(6); n > 0; --n) {
      const std::string url =
          Origin(rng.Below(kOrigins)) + "/" + std::to_string(rng.Below(4)) + "/" + std::to_string(world.next_url++);
      UrlRecord record;
      record.url = url;
      record.depth = static_cast<uint16_t>(url.size() % 1000);
      world.inside.insert(url);
      RETURN_IF_ERROR(gate_->Add(record, shard_, world.now));
    }
    for (size_t i = 0; i < world.requests.size(); ++i) {
      if (world.requests[i].due > world.now.unix_s) continue;
      const Request request = world.requests[i];
      world.requests.erase(world.requests.begin() + static_cast<ptrdiff_t>(i));
      Reply reply{.time = world.now.unix_s};
      const RobotsAnswer answer = AnswerFor(request, reply);
      if (answer.kind != RobotsAnswer::Kind::kFollow || request.hops == 5) {
        world.replies[std::string(RobotsOrigin(request.url))].push_back(reply);
      }
      RETURN_IF_ERROR(gate_->OnRobots(request.url, request.hops, answer, shard_, world.now));
      break;
    }
    if (rng.Chance(0.6)) RETURN_IF_ERROR(gate_->Pump(shard_, 1 + rng.Below(60), world.now));
    if (rng.Chance(0.6)) {
      const bool hungry = rng.Chance(0.7);
      const bool wants = gate_->WantsRound(world.now, hungry);
      ASSIGN_OR_RETURN(const bool started, gate_->StartRounds(world.now, hungry));
      EXPECT_EQ(wants, started);
    }
    if (executor_.waiting() > 0 && rng.Chance(0.5)) executor_.Run(rng.Below(executor_.waiting()));
    EXPECT_EQ(gate_->waiting(), world.inside.size());
    const GateCounts& counts = gate_->counts();
    EXPECT_EQ(counts.entered, counts.allowed + counts.denied_rules + counts.denied_unreachable + gate_->waiting());
    if (rng.Chance(0.03)) {
      saved_.resize(manifest_->sequence() + 1);
      saved_.push_back(world);
      const auto all = gate_->Checkpointables();
      RETURN_IF_ERROR(manifest_->Commit(all));
    }
    return {};
  }

  static constexpr uint64_t kOrigins = 25;
  Shard shard_;
  const bool known_;
  std::unique_ptr<MemEnv> mem_;
  std::unique_ptr<FaultyEnv> env_;
  ModelExecutor executor_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<Gate> gate_;
  std::vector<World> saved_;  // by the manifest's sequence
  uint64_t crashes_ = 0;
};

class GateModelTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RamAndDisk, GateModelTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "KnownOrigins" : "DiskOnly"; });

TEST_P(GateModelTest, EveryUrlComesOutOnceAndForAReason) {
  uint64_t allowed = 0, denied = 0, unreachable = 0;
  for (uint64_t seed = 1; seed <= 8 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Crawl run(seed, GetParam(), 0);
    run.Go(4000);
    allowed += run.world().allowed;
    denied += run.world().denied;
    unreachable += run.world().unreachable;
  }
  EXPECT_GT(allowed, 4'000U);
  EXPECT_GT(denied, 500U);
  EXPECT_GT(unreachable, 100U);
}

TEST_P(GateModelTest, PowerCutsAtAnyMomentLoseNothing) {
  uint64_t crashes = 0;
  for (uint64_t seed = 1; seed <= 8 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Crawl run(seed + 1000, GetParam(), 1 + seed * 7);
    run.Go(1500);
    crashes += run.crashes();
  }
  EXPECT_GT(crashes, 40U);
}

TEST_P(GateModelTest, TheSameCallsGiveTheSameAnswers) {
  Crawl first(77, GetParam(), 0);
  Crawl second(77, GetParam(), 0);
  first.Go(1500);
  second.Go(1500);
  EXPECT_GT(first.log().size(), 10'000U);
  EXPECT_EQ(first.log(), second.log());
}

class GateModelSlowTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RamAndDisk, GateModelSlowTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "KnownOrigins" : "DiskOnly"; });

TEST_P(GateModelSlowTest, ManyWorldsWithAndWithoutPowerCuts) {
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed + 5000, GetParam(), seed % 3 == 0 ? 0 : 1 + seed * 11);
    crawl.Go(3000);
  }
}

}  // namespace
}  // namespace portolan
