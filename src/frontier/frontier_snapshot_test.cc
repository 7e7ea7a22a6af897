// The snapshot while the frontier continues to work: whatever happens between the beginning of a checkpoint and its
// end, the state of the beginning is written. Two frontiers get the same calls; one is committed at once, the other bit
// by bit with other calls in between, and both snapshots must be the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "disk/checkpointer.h"
#include "frontier/frontier.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "store";
constexpr int64_t kMs = 1'000'000;

// A snapshot's contents, by host: the order of hosts does not matter.
struct Contents : SnapshotSink {
  struct OfHost {
    SnapshotHost host;
    std::vector<std::tuple<int, int64_t, std::string>> items;
    bool operator==(const OfHost&) const = default;
  };
  Status OnHost(const SnapshotHost& host) override {
    key = host.key;
    EXPECT_FALSE(hosts.contains(key)) << "a host occurs twice";
    hosts[key].host = host;
    return {};
  }
  Status OnUrl(SnapshotItem item, std::string_view record) override {
    if (item == SnapshotItem::kGate) {
      gate.emplace_back(record);
    } else {
      hosts[key].items.emplace_back(static_cast<int>(item), 0, record);
    }
    return {};
  }
  Status OnLater(int64_t left_ns, std::string_view record) override {
    hosts[key].items.emplace_back(-1, left_ns, record);
    return {};
  }
  Status OnBlock(const SpillRef& ref) override {
    hosts[key].items.emplace_back(-2, ref.records, std::to_string(ref.segment) + "/" + std::to_string(ref.offset));
    return {};
  }
  Status OnIp(const Address& address, int64_t left_ns) override {
    ips.emplace_back(address.ToString(), left_ns);
    return {};
  }
  bool operator==(const Contents& other) const {
    return hosts == other.hosts && gate == other.gate && ips == other.ips;
  }

  uint64_t key = 0;
  std::map<uint64_t, OfHost> hosts;
  std::vector<std::string> gate;
  std::vector<std::pair<std::string, int64_t>> ips;
};

Contents ReadCommitted(Env& env) {
  const Manifest manifest = Manifest::Read(env, kDir).value();
  const ManifestSection* section = manifest.Find("frontier", Frontier::kKind).value();
  Contents contents;
  EXPECT_TRUE(ReadSnapshot(env, JoinPath(kDir, section->files.at(0).name), section->files[0].length,
                           section->Number("items").value(), contents));
  return contents;
}

FrontierOptions SmallOptions() {
  FrontierOptions options;
  options.memory = 64 << 10;
  options.back_queues = 40;
  options.max_hosts = 200;
  options.head_bytes = 512;
  options.block_bytes = 512;
  options.segment_size = 8 << 10;
  options.copy_hosts = 1;
  options.politeness.host_delay_ns = 20 * kMs;
  options.politeness.ip_delay_ns = 5 * kMs;
  return options;
}

// A frontier, and a caller that makes the same calls for the same seed.
class Worked {
 public:
  explicit Worked(uint64_t seed) : rng_(seed), later_(env_), manifest_(Manifest::Open(env_, kDir).value()) {
    frontier_ = Frontier::Open(later_, manifest_, SmallOptions(), now_, now_).value();
  }
  // All background work is run at the end: the destructors wait for it.
  ~Worked() { Finish(); }

  void Step() {
    now_ += static_cast<int64_t>(rng_.Below(4)) * kMs;
    for (uint64_t i = rng_.Below(6); i > 0; --i) {
      // A giant, some hosts that stay and some that come and go.
      const uint64_t host = rng_.Below(3) == 0 ? 0 : rng_.Below(60) + now_ / (500 * kMs);
      const std::string url = "http://h" + std::to_string(host) + ".test/" + std::to_string(next_url_++);
      UrlRecord record;
      record.url = url;
      record.priority = static_cast<uint8_t>(rng_.Below(8));
      ASSERT_TRUE(frontier_->Add(record));
    }
    for (int i = 0; i < 8; ++i) {
      const auto next = frontier_->Next(now_, now_);
      ASSERT_TRUE(next) << next.error().ToString();
      if (next->kind == Dispatch::Kind::kWait) break;
      if (next->kind == Dispatch::Kind::kFetch) {
        slots_.emplace_back(next->slot, std::string(next->record.url));
      } else if (next->kind == Dispatch::Kind::kResolve) {
        names_.push_back(next->host);
      }
    }
    while (!names_.empty() && rng_.Below(4) != 0) {
      Resolution resolution;
      resolution.host = names_.back();
      names_.pop_back();
      const bool found = rng_.Below(12) != 0;
      resolution.outcome = found ? FetchOutcome::kAnswered : FetchOutcome::kDnsNotFound;
      resolution.ttl_s = 60;
      if (found) resolution.addresses = {Address::Parse("10.0.0." + std::to_string(resolution.host % 30 + 1)).value()};
      frontier_->OnResolved(resolution, now_);
    }
    while (!slots_.empty() && rng_.Below(3) != 0) EndOne();
  }

  // The rest is left for later, or all of it is done.
  void Start() { checkpointer_.Start(frontier_->Checkpointables(), {}); }
  // A part of the copying, or of the writing.
  void Continue() {
    if (rng_.Below(2) == 0) {
      checkpointer_.Continue();
    } else if (background_.waiting() > 0) {
      background_.Run();
    }
  }
  void Finish() {
    if (!checkpointer_.active()) return;
    while (checkpointer_.Continue() != Checkpointer::Step::kOver) background_.RunAll();
    background_.RunAll();
    ASSERT_TRUE(checkpointer_.Finish());
  }
  MemEnv& env() { return env_; }
  Frontier& frontier() { return *frontier_; }
  int64_t now() const { return now_; }

 private:
  void EndOne() {
    const auto [slot, url] = slots_.back();
    slots_.pop_back();
    UrlRecord record;
    record.url = url;
    Hit hit;
    switch (rng_.Below(6)) {
      case 0:
        return frontier_->Skip(slot);
      case 1:
        hit.wait_ns = 50 * kMs;
        return frontier_->Retry(slot, record, Where::kTail, hit, now_);
      case 2:
        hit.ok = false;
        hit.host_ill = true;
        hit.wait_ns = 10 * kMs;
        return frontier_->Retry(slot, record, Where::kHead, hit, now_);
      default:
        return frontier_->Finish(slot, hit, now_);
    }
  }

  Rng rng_;
  MemEnv env_;
  SyncLater later_;
  Manifest manifest_;
  std::unique_ptr<Frontier> frontier_;
  DeferredExecutor background_;
  Checkpointer checkpointer_{manifest_, &later_, background_};
  int64_t now_ = 1000 * kMs;
  uint64_t next_url_ = 0;
  std::vector<std::pair<SlotId, std::string>> slots_;
  std::vector<uint64_t> names_;
};

class FrontierSnapshotTest : public testing::TestWithParam<uint64_t> {};

TEST_P(FrontierSnapshotTest, IsOfTheMomentOfItsBeginning) {
  Worked still(GetParam());
  Worked going(GetParam());
  for (int step = 0; step < 150; ++step) {
    still.Step();
    going.Step();
  }
  still.Start();
  still.Finish();
  const Contents expected = ReadCommitted(still.env());
  ASSERT_GT(expected.hosts.size(), 20U);

  going.Start();
  for (int step = 0; step < 100; ++step) {
    going.Step();
    for (int part = 0; part < 2; ++part) going.Continue();
  }
  ASSERT_TRUE(going.frontier().CheckInvariants());
  going.Finish();
  const Contents written = ReadCommitted(going.env());
  EXPECT_TRUE(written == expected);
  // Together with the other files it is a valid frontier.
  const auto crashed = going.env().CrashedCopy(CrashMode::kLoseUnsynced);
  const Manifest manifest = Manifest::Open(*crashed, kDir).value();
  const auto opened = Frontier::Open(*crashed, manifest, SmallOptions(), going.now(), going.now());
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_TRUE((*opened)->CheckInvariants());

  // And the next snapshot shows its own moment.
  for (int step = 0; step < 20; ++step) going.Step();
  going.Start();
  going.Finish();
  EXPECT_FALSE(ReadCommitted(going.env()) == expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FrontierSnapshotTest, testing::Range<uint64_t>(1, 13));

TEST(HostTableTest, APictureHasEachHostOnceAsItWas) {
  HostTable hosts;
  for (uint64_t key = 1; key <= 200; ++key) hosts.Insert(key);
  hosts.Erase(hosts.Find(7));
  std::map<uint64_t, int64_t> saved;
  hosts.BeginPicture([&](const Host& host) { EXPECT_TRUE(saved.emplace(host.key, host.free_ns).second); });
  EXPECT_TRUE(hosts.taking_picture());
  hosts[hosts.Find(150)].free_ns = 5;
  hosts[hosts.Find(150)].free_ns = 6;
  hosts.Erase(hosts.Find(151));
  hosts[hosts.Insert(1000)].free_ns = 9;  // in the slot of another host
  hosts[hosts.Insert(1001)].free_ns = 9;
  hosts[hosts.Insert(1002)].free_ns = 9;  // in a new slot
  while (hosts.ContinuePicture(10)) hosts[hosts.Find(199)].free_ns = 7;
  EXPECT_FALSE(hosts.taking_picture());
  EXPECT_EQ(saved.size(), 199U);
  EXPECT_FALSE(saved.contains(7));
  EXPECT_TRUE(saved.contains(151));
  for (const auto& [key, free_ns] : saved) {
    EXPECT_LE(key, 200U);
    EXPECT_EQ(free_ns, 0) << key;
  }
  hosts[hosts.Find(3)].free_ns = 1;  // `save` is not called any more
}

}  // namespace
}  // namespace portolan
