// A random web against the frontier, in virtual time, with everything checked by an independent model: each URL comes
// out exactly once, no host has two hits at a time, no host or address is hit too early; with restarts and power cuts.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontier/frontier.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using Kind = Dispatch::Kind;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kLong = int64_t{1} << 60;

struct Fetching {
  SlotId slot = 0;
  std::string url;
  std::string host;
  std::string ip;
  int64_t begun = 0;
};

// What must be true, kept apart from the frontier. Times are calendar times.
struct Model {
  struct HostRule {
    int64_t not_before = -kLong;
  };
  struct IpRule {
    int64_t last_begun = -kLong;
    int64_t last_ended = -kLong;
    bool outstanding = false;
    int64_t at_least = -kLong;  // after a restart
  };
  std::set<std::string> inside;
  std::map<std::string, int64_t> url_not_before;
  std::map<std::string, HostRule> hosts;
  std::map<std::string, IpRule> ips;
  uint64_t fetched = 0;
  uint64_t failed = 0;
};

struct Profile {
  int hosts = 30;
  int ips = 12;
  FrontierOptions options;
};

class Driver {
 public:
  Driver(const Profile& profile, uint64_t seed) : profile_(profile), rng_(seed) {}

  void Open() {
    frontier_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    auto opened = Frontier::Open(env_, *manifest_, profile_.options, Steady(), unix_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    frontier_ = *std::move(opened);
  }

  void Step() {
    const uint64_t dice = rng_.Below(100);
    if (dice < add_share_) {
      AddSome();
    } else if (dice < 70) {
      Next();
    } else if (dice < 90) {
      EndOne();
    } else if (dice < 97) {
      AnswerName();
    } else {
      unix_ += static_cast<int64_t>(rng_.Below(3000)) * kMs;
    }
    Check();
  }

  void Commit() {
    const Status status = manifest_->Commit(frontier_->Checkpointables());
    ASSERT_TRUE(status) << status.error().ToString();
    saved_ = model_;
    for (const Fetching& flight : flights_) saved_.inside.insert(flight.url);
  }

  void CrashAndOpen() {
    env_.Crash(rng_.Chance(0.5) ? CrashMode::kLoseUnsynced : CrashMode::kTorn, rng_.Next());
    Restart();
  }

  void Restart() {
    unix_ += static_cast<int64_t>(rng_.Below(5000)) * kMs;
    steady_offset_ = static_cast<int64_t>(rng_.Below(1000)) * kSecond - unix_;
    model_ = saved_;
    flights_.clear();
    asked_.clear();
    // Hits after the commit are forgotten, but no host is hit within a delay of the restart.
    for (auto& [name, host] : model_.hosts) {
      host.not_before = std::max(host.not_before, unix_ + Politeness().host_delay_ns);
    }
    for (int i = 0; i < profile_.hosts; ++i) {
      auto& host = model_.hosts[HostName(i)];
      host.not_before = std::max(host.not_before, unix_ + Politeness().host_delay_ns);
    }
    for (auto& [name, ip] : model_.ips) {
      ip.outstanding = false;
      ip.at_least = unix_ + Politeness().ip_delay_ns;
    }
    Open();
    Check();
  }

  // Everything that is inside must come out.
  void Finish() {
    add_share_ = 0;
    for (uint64_t step = 0; frontier_->counts().urls() > 0 && !testing::Test::HasFatalFailure(); ++step) {
      ASSERT_LT(step, 3'000'000U) << frontier_->counts().urls() << " URLs do not come out";
      if (step % 4 == 3) {
        if (!flights_.empty()) {
          EndOne();
        } else if (!asked_.empty()) {
          AnswerName();
        } else if (waiting_until_ != Frontier::kNever) {
          unix_ = std::max(unix_, waiting_until_ - steady_offset_);
        }
      } else {
        Next();
      }
      if (step % 16 == 0) Check();
    }
    Check();
    EXPECT_TRUE(model_.inside.empty());
  }

  const Model& model() const { return model_; }
  const Frontier& frontier() const { return *frontier_; }
  uint64_t trace() const { return trace_; }
  int64_t most_beside() const { return most_beside_; }  // requests to one host at the same time

 private:
  int64_t Connections() const { return profile_.options.connections_per_host; }
  const PolitenessOptions& Politeness() const { return profile_.options.politeness; }
  int64_t Steady() const { return unix_ + steady_offset_; }
  static std::string HostName(int i) { return "h" + std::to_string(i) + ".example"; }

  void AddSome() {
    const uint64_t count = 1 + rng_.Below(8);
    for (uint64_t i = 0; i < count; ++i) {
      // A few hosts have most of the URLs.
      const auto host = static_cast<int>(static_cast<double>(profile_.hosts) * rng_.Uniform() * rng_.Uniform());
      const std::string url = "http://" + HostName(host) + "/" + std::to_string(next_url_++) +
                              std::string(rng_.Below(40), static_cast<char>('a' + host % 26));
      ASSERT_TRUE(frontier_->Add({.priority = static_cast<uint8_t>(rng_.Below(10)), .url = url}));
      model_.inside.insert(url);
    }
  }

  void Next() {
    auto next = frontier_->Next(Steady(), unix_);
    ASSERT_TRUE(next) << next.error().ToString();
    waiting_until_ = next->kind == Kind::kWait ? next->until_ns : Frontier::kNever;
    trace_ = Mix64(trace_ ^ Hash64(next->record.url) ^ static_cast<uint64_t>(next->kind) ^ next->host);
    switch (next->kind) {
      case Kind::kWait:
        ASSERT_GT(next->until_ns, Steady());
        break;
      case Kind::kMoreWork:
        break;
      case Kind::kResolve:
        ASSERT_TRUE(next->name.starts_with("h"));
        asked_.emplace_back(std::string(next->name));
        ASSERT_LE(asked_.size(), profile_.options.max_resolving);
        break;
      case Kind::kFail:
        ASSERT_EQ(model_.inside.erase(std::string(next->record.url)), 1U) << next->record.url;
        ++model_.failed;
        break;
      case Kind::kFetch:
        OnFetch(*next);
        break;
    }
  }

  void OnFetch(const Dispatch& dispatch) {
    Fetching flight{dispatch.slot, std::string(dispatch.record.url), std::string(HostOf(dispatch.record.url)),
                    dispatch.address.ToString(), unix_};
    ASSERT_EQ(model_.inside.erase(flight.url), 1U) << flight.url << " comes out twice";
    const auto beside = std::ranges::count(flights_, flight.host, &Fetching::host);
    ASSERT_LT(beside, Connections()) << "too many at a time";
    auto& host = model_.hosts[flight.host];
    ASSERT_GE(unix_, host.not_before) << flight.host << " " << (host.not_before - unix_) / kMs << " ms too early";
    ASSERT_GE(unix_, model_.url_not_before[flight.url]) << flight.url << " before its wait has passed";
    auto& ip = model_.ips[flight.ip];
    ASSERT_GE(unix_, ip.at_least) << flight.ip << " after a restart";
    if (Connections() > 1) {
      const auto held = std::ranges::count_if(flights_, [&](const Fetching& other) {
        return other.ip == flight.ip && unix_ - other.begun < Politeness().ip_hold_max_ns;
      });
      ASSERT_LT(held, Connections()) << flight.ip;
      host.not_before = unix_ + Politeness().host_delay_ns;
    } else if (ip.outstanding) {
      ASSERT_GE(unix_, ip.last_begun + std::max(Politeness().ip_hold_max_ns, Politeness().ip_delay_ns)) << flight.ip;
    } else {
      ASSERT_GE(unix_, ip.last_ended + Politeness().ip_delay_ns) << flight.ip;
    }
    before_[flight.ip] = ip;
    ip.last_begun = unix_;
    ip.outstanding = true;
    flights_.push_back(flight);
    most_beside_ = std::max(most_beside_, beside + 1);
  }

  void EndOne() {
    if (flights_.empty()) return;
    const size_t at = rng_.Below(flights_.size());
    const Fetching flight = flights_[at];
    flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(at));
    auto& host = model_.hosts[flight.host];
    auto& ip = model_.ips[flight.ip];
    if (rng_.Below(10) == 0) {
      frontier_->Skip(flight.slot);
      if (ip.outstanding && ip.last_begun == flight.begun) ip = before_[flight.ip];
      return;
    }
    unix_ += static_cast<int64_t>(rng_.Below(200)) * kMs;
    Hit hit;
    hit.duration_ns = static_cast<int64_t>(rng_.Below(400)) * kMs;
    if (rng_.Below(30) == 0) hit.retry_after_ns = static_cast<int64_t>(rng_.Below(100)) * kSecond;
    hit.ok = rng_.Below(4) != 0;
    hit.host_ill = !hit.ok && rng_.Below(2) == 0;
    int64_t gap = std::max(Politeness().host_delay_ns, 10 * hit.duration_ns);
    gap = std::max(std::min(gap, Politeness().max_delay_ns), hit.retry_after_ns);
    if (hit.host_ill) {
      hit.wait_ns = 2 * kSecond;
      gap = std::max(gap, hit.wait_ns);  // at least: a host that is removed between its URLs begins anew
    }
    host.not_before = std::max(host.not_before, unix_ + gap);
    // The request that was dispatched last starts the address's clock.
    if (ip.outstanding && ip.last_begun == flight.begun) {
      ip.outstanding = false;
      ip.last_ended = unix_;
    }
    const UrlRecord record{.attempts = 1, .url = flight.url};
    if (hit.ok && rng_.Below(20) != 0) {
      frontier_->Finish(flight.slot, hit, Steady());
      ++model_.fetched;
    } else if (hit.host_ill || rng_.Below(2) == 0) {
      frontier_->Retry(flight.slot, record, Where::kHead, hit, Steady());
      model_.inside.insert(flight.url);
    } else {
      hit.wait_ns = static_cast<int64_t>(rng_.Below(20)) * kSecond;
      frontier_->Retry(flight.slot, record, Where::kTail, hit, Steady());
      model_.inside.insert(flight.url);
      model_.url_not_before[flight.url] = unix_ + hit.wait_ns;
    }
    if (rng_.Below(10) == 0) {
      // It must hold for the gap that runs now; later the host, and its delay with it, may have been removed.
      const auto delay = static_cast<int64_t>(rng_.Below(4)) * kSecond;
      frontier_->SetCrawlDelay(Hash64(flight.host), delay);
      host.not_before = std::max(host.not_before, unix_ + delay);
    }
  }

  void AnswerName() {
    if (asked_.empty()) return;
    const size_t at = rng_.Below(asked_.size());
    const std::string name = asked_[at];
    asked_.erase(asked_.begin() + static_cast<ptrdiff_t>(at));
    const uint64_t hash = Hash64(name);
    Resolution resolution;
    resolution.host = hash;
    resolution.ttl_s = static_cast<uint32_t>(rng_.Below(300));
    const uint64_t dice = rng_.Below(100);
    if (hash % 11 == 0) {
      resolution.outcome = FetchOutcome::kDnsNotFound;
    } else if (dice < 5) {
      resolution.outcome = FetchOutcome::kDnsFailed;
    } else if (dice < 10) {
      resolution.outcome = FetchOutcome::kLocal;
    } else {
      for (uint64_t i = 0; i <= hash % 3; ++i) {
        resolution.addresses.push_back(
            Address::V4(static_cast<uint32_t>(1 + (hash / 7 + i) % static_cast<uint64_t>(profile_.ips))));
      }
    }
    frontier_->OnResolved(resolution, Steady());
  }

  void Check() {
    const Status status = frontier_->CheckInvariants();
    ASSERT_TRUE(status) << status.error().ToString();
    const Frontier::Counts counts = frontier_->counts();
    ASSERT_EQ(counts.urls(), model_.inside.size() + flights_.size());
    ASSERT_EQ(counts.in_flight, flights_.size());
    ASSERT_LE(counts.hosts, profile_.options.max_hosts);
    ASSERT_LE(counts.ram_bytes, profile_.options.memory + 6 * profile_.options.block_bytes);
  }

  const Profile profile_;
  MemEnv env_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<Frontier> frontier_;
  Rng rng_;
  Model model_;
  Model saved_;
  std::vector<Fetching> flights_;
  std::map<std::string, Model::IpRule> before_;  // of the address, before its last dispatch
  std::vector<std::string> asked_;
  uint64_t next_url_ = 0;
  uint64_t add_share_ = 10;
  uint64_t trace_ = 0;
  int64_t most_beside_ = 0;
  int64_t unix_ = 1'700'000'000 * kSecond;
  int64_t steady_offset_ = 77 * kSecond - 1'700'000'000 * kSecond;
  int64_t waiting_until_ = Frontier::kNever;
};

Profile Small() {
  Profile profile;
  profile.options.back_queues = 12;
  profile.options.max_hosts = 40;
  profile.options.max_resolving = 3;
  profile.options.pull_step = 16;
  profile.options.head_bytes = 400;
  profile.options.block_bytes = 600;
  profile.options.segment_size = 5000;
  profile.options.give_up_after = 6;
  profile.options.politeness.host_delay_ns = kSecond;
  profile.options.politeness.ip_delay_ns = 300 * kMs;
  profile.options.politeness.ip_hold_max_ns = 3 * kSecond;
  profile.options.politeness.max_delay_ns = 5 * kSecond;
  profile.options.politeness.max_back_off_ns = 20 * kSecond;
  return profile;
}

class FrontierPropertyTest : public testing::TestWithParam<int> {};

TEST_P(FrontierPropertyTest, EveryUrlComesOutOnceAndNobodyIsHitTooEarly) {
  Driver driver(Small(), static_cast<uint64_t>(GetParam()));
  driver.Open();
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) driver.Step();
  driver.Finish();
  EXPECT_GT(driver.model().fetched, 300U);
  EXPECT_GT(driver.model().failed, 0U);
}

TEST_P(FrontierPropertyTest, ThroughRestartsAndPowerCuts) {
  Driver driver(Small(), static_cast<uint64_t>(GetParam()) + 1000);
  driver.Open();
  driver.Commit();
  Rng rng(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    driver.Step();
    if (rng.Below(60) == 0) driver.Commit();
    if (rng.Below(200) == 0) {
      driver.CrashAndOpen();
    } else if (rng.Below(200) == 0) {
      driver.Commit();
      driver.Restart();
    }
  }
  driver.Finish();
}

TEST_P(FrontierPropertyTest, WithinLittleMemory) {
  Profile profile = Small();
  profile.hosts = 300;
  profile.options.max_hosts = 400;
  profile.options.back_queues = 200;
  profile.options.memory = 60'000;
  profile.options.head_bytes = 20'000;
  profile.options.block_bytes = 4000;
  Driver driver(profile, static_cast<uint64_t>(GetParam()) + 2000);
  driver.Open();
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) driver.Step();
  driver.Finish();
}

TEST_P(FrontierPropertyTest, WithSeveralConnectionsPerHost) {
  Profile profile = Small();
  profile.hosts = 12;
  profile.options.connections_per_host = 3;
  profile.options.politeness.host_delay_ns = 20 * kMs;
  profile.options.politeness.ip_delay_ns = 10 * kMs;
  Driver driver(profile, static_cast<uint64_t>(GetParam()) + 3000);
  driver.Open();
  driver.Commit();
  Rng rng(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) {
    driver.Step();
    if (rng.Below(60) == 0) driver.Commit();
    if (rng.Below(400) == 0) driver.CrashAndOpen();
  }
  driver.Finish();
  EXPECT_EQ(driver.most_beside(), 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FrontierPropertyTest, testing::Range(0, 6));

TEST(FrontierDeterminismTest, TheSameCallsGiveTheSameDispatches) {
  std::vector<uint64_t> traces;
  for (int run = 0; run < 2; ++run) {
    Driver driver(Small(), 7);
    driver.Open();
    for (int i = 0; i < 3000; ++i) driver.Step();
    traces.push_back(driver.trace());
  }
  EXPECT_EQ(traces[0], traces[1]);
}

// The power fails at every single operation of a run that uses everything; what comes back is the last commit, or the
// one that was being written.
TEST(FrontierCrashTest, PowerCutAtEveryOperation) {
  const auto script = [](Env& env, std::vector<uint64_t>& commits) -> Status {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, "store"));
    FrontierOptions options = Small().options;
    options.back_queues = 3;
    options.politeness.ip_delay_ns = 0;
    int64_t now = 0;
    ASSIGN_OR_RETURN(auto frontier, Frontier::Open(env, manifest, options, now, now));
    int url = 0;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 250; ++i, ++url) {
        const std::string text = "http://h" + std::to_string(url % 7) + ".example/" + std::to_string(url);
        RETURN_IF_ERROR(frontier->Add({.priority = static_cast<uint8_t>(url % 3), .url = text}));
      }
      std::vector<SlotId> slots;
      for (int i = 0; i < 60; ++i) {
        ASSIGN_OR_RETURN(const Dispatch next, frontier->Next(now, now));
        if (next.kind == Kind::kResolve) {
          frontier->OnResolved({.host = next.host, .addresses = {Address::V4(5)}, .ttl_s = 9999}, now);
        } else if (next.kind == Kind::kFetch) {
          slots.push_back(next.slot);
        } else if (next.kind == Kind::kWait) {
          if (next.until_ns != Frontier::kNever) now = next.until_ns;
          for (const SlotId slot : slots) frontier->Finish(slot, {}, now);
          slots.clear();
        }
      }
      const uint64_t urls = frontier->counts().urls();
      commits.push_back(urls);  // this must come back if the commit succeeded
      RETURN_IF_ERROR(manifest.Commit(frontier->Checkpointables()));
    }
    return {};
  };

  MemEnv plain;
  FaultyEnv counting(plain);
  std::vector<uint64_t> all;
  ASSERT_TRUE(script(counting, all));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_LT(all.back(), 1000U);
  const uint64_t operations = counting.operations();
  ASSERT_GT(operations, 50U);
  for (uint64_t cut = 1; cut <= operations; ++cut) {
    MemEnv disk;
    FaultyEnv faulty(disk, {.power_cut_at = cut});
    std::vector<uint64_t> commits;
    ASSERT_FALSE(script(faulty, commits)) << cut;
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const auto after = disk.CrashedCopy(mode, cut);
      auto manifest = Manifest::Open(*after, "store");
      ASSERT_TRUE(manifest) << manifest.error().ToString();
      const auto frontier = Frontier::Open(*after, *manifest, Small().options, 0, 0);
      ASSERT_TRUE(frontier) << frontier.error().ToString();
      const uint64_t sequence = manifest->sequence();
      ASSERT_LE(sequence, commits.size());
      ASSERT_GE(sequence + 1, commits.size());
      EXPECT_EQ((*frontier)->counts().urls(), sequence == 0 ? 0 : commits[sequence - 1]) << cut;
    }
  }
}

}  // namespace
}  // namespace portolan
