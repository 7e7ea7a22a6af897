// Leases in virtual time: processes with clocks of their own, messages that are late or lost, pauses and partitions.

#include "cluster/lease_view.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <queue>
#include <tuple>

#include "io/clock.h"
#include "io/rng.h"

namespace portolan {
namespace {

TEST(LeaseRecordTest, ReadsBackWhatItWrote) {
  const LeaseRecord held{.epoch = 7, .holder = 255, .beat = 12, .node = "alpha"};
  EXPECT_EQ(EncodeLease(held), "v1 epoch=7 holder=00000000000000ff beat=12 node=alpha");
  EXPECT_EQ(DecodeLease(EncodeLease(held)), held);
  const LeaseRecord free{.epoch = 7, .holder = 0, .beat = 13, .node = ""};
  EXPECT_EQ(EncodeLease(free), "v1 epoch=7 holder=0000000000000000 beat=13 node=-");
  EXPECT_EQ(DecodeLease(EncodeLease(free)), free);
}

TEST(LeaseRecordTest, OtherTextIsNoRecord) {
  for (const char* text : {"", "v1", "v2 epoch=7 holder=ff beat=12 node=a", "v1 epoch=0 holder=ff beat=1 node=a",
                           "v1 epoch= holder=ff beat=12 node=a", "v1 epoch=7 holder=ff beat=12 node=",
                           "v1 epoch=7 holder=ff beat=12 node=a b", "v1 epoch=7 holder=0 beat=12 node=a",
                           "v1 epoch=99999999999999999999 holder=ff beat=12 node=a"}) {
    EXPECT_FALSE(DecodeLease(text)) << text;
  }
}

LeaseOptions Options(uint64_t holder, uint32_t shards, uint32_t capacity) {
  return {.shards = shards, .capacity = capacity, .node = "n", .holder = holder};
}

// A bucket and nothing in between.
struct Bucket {
  struct Entry {
    uint64_t revision = 0;
    std::optional<LeaseRecord> record;
  };
  std::map<uint32_t, Entry> entries;
  uint64_t last = 0;

  WriteOutcome Write(const LeaseCommand& command, uint64_t& revision) {
    Entry& entry = entries[command.shard];
    if (entry.revision != command.expected) return WriteOutcome::kRefused;
    entry = {.revision = ++last, .record = command.record};
    revision = last;
    return WriteOutcome::kTaken;
  }
  void Run(LeaseView& view, int64_t now) {
    for (const LeaseCommand& command : view.Turn(now)) {
      if (command.kind == LeaseCommand::Kind::kRead) {
        const Entry& entry = entries[command.shard];
        view.Read(command.shard, entry.revision, entry.record, now);
      } else {
        uint64_t revision = 0;
        const WriteOutcome outcome = Write(command, revision);
        view.Written(command.shard, outcome, revision, now);
      }
    }
  }
};

TEST(LeaseViewTest, AFreeShardIsClaimedAtOnceAndRenewed) {
  Bucket bucket;
  LeaseView view(Options(1, 1, 1));
  bucket.Run(view, 0);  // read
  bucket.Run(view, 0);  // claim
  EXPECT_EQ(view.Holds(0, 0), 1u);
  for (int64_t now = 0; now < 60 * kSecond; now += kSecond) bucket.Run(view, now);
  EXPECT_EQ(view.Holds(0, 60 * kSecond), 1u);
  EXPECT_GE(bucket.last, 20u);
}

TEST(LeaseViewTest, ABeliefEndsByItselfAndDoesNotComeBack) {
  Bucket bucket;
  LeaseView view(Options(1, 1, 1));
  bucket.Run(view, 0);
  bucket.Run(view, 0);
  ASSERT_TRUE(view.Holds(0, 10 * kSecond - 1));
  EXPECT_FALSE(view.Holds(0, 10 * kSecond));
  // It was paused and wakes up; nobody else was there. The shard is its own again, with another epoch.
  for (int i = 0; i < 4; ++i) bucket.Run(view, 3600 * kSecond);
  EXPECT_EQ(view.Holds(0, 3600 * kSecond), 2u);
}

TEST(LeaseViewTest, AShardThatWasGivenBackIsTakenAtOnce) {
  Bucket bucket;
  LeaseView one(Options(1, 1, 1));
  LeaseView two(Options(2, 1, 1));
  for (int i = 0; i < 2; ++i) bucket.Run(one, 0);
  bucket.Run(two, 0);
  one.Release(0, kSecond);
  EXPECT_FALSE(one.Holds(0, kSecond));
  bucket.Run(one, kSecond);
  for (int i = 0; i < 2; ++i) bucket.Run(two, 2 * kSecond);
  EXPECT_EQ(two.Holds(0, 2 * kSecond), 2u);
}

TEST(LeaseViewTest, AHolderThatIsGoneIsReplacedAfterUnchangedLooks) {
  Bucket bucket;
  LeaseView one(Options(1, 1, 1));
  LeaseView two(Options(2, 1, 1));
  for (int i = 0; i < 2; ++i) bucket.Run(one, 0);
  int64_t now = 0;
  for (; now < 60 * kSecond && !two.Holds(0, now); now += 100 * kMillisecond) bucket.Run(two, now);
  EXPECT_GE(now, 14 * kSecond);
  EXPECT_LE(now, 15 * kSecond);
  EXPECT_EQ(two.Holds(0, now), 2u);
  // The one that was away is refused, and sees why.
  for (int i = 0; i < 3; ++i) bucket.Run(one, now);
  EXPECT_FALSE(one.Holds(0, now));
}

TEST(LeaseViewTest, AServerThatWasAwayGivesHoldersTimeToRenew) {
  Bucket bucket;
  LeaseView two(Options(2, 1, 1));
  bucket.entries[0] = {.revision = 5, .record = LeaseRecord{.epoch = 3, .holder = 1, .beat = 9, .node = "n"}};
  bucket.last = 5;
  bucket.Run(two, 0);
  for (int64_t now = 2 * kSecond; now < 3600 * kSecond; now += 2 * kSecond) {
    for (const LeaseCommand& command : two.Turn(now)) two.ReadFailed(command.shard, now);
  }
  bucket.Run(two, 3600 * kSecond);
  for (const LeaseCommand& command : two.Turn(3602 * kSecond)) EXPECT_EQ(command.kind, LeaseCommand::Kind::kRead);
}

TEST(LeaseViewTest, AProcessTakesNoMoreThanItsCapacity) {
  Bucket bucket;
  LeaseView one(Options(1, 5, 2));
  LeaseView two(Options(2, 5, 3));
  for (int64_t now = 0; now < 30 * kSecond; now += kSecond) {
    bucket.Run(one, now);
    bucket.Run(two, now);
    EXPECT_LE(one.HeldCount(now), 2u);
    EXPECT_LE(two.HeldCount(now), 3u);
  }
  EXPECT_EQ(one.HeldCount(30 * kSecond), 2u);
  EXPECT_EQ(two.HeldCount(30 * kSecond), 3u);
}

// Many processes and one bucket, with delays, losses, pauses, partitions, clocks that differ and run at different
// speeds. Judged at every event.
class LeaseSim {
 public:
  LeaseSim(uint64_t seed, uint32_t nodes, uint32_t shards) : rng_(seed), shards_(shards), newest_(shards) {
    for (uint32_t i = 0; i < nodes; ++i) {
      nodes_.push_back({.view = LeaseView(Options(i + 1, shards, shards)),
                        .offset = static_cast<int64_t>(rng_.Below(1200)) * kSecond,
                        .rate = 0.99 + 0.02 * rng_.Uniform()});
      At(0, [this, i] { Wake(i); });
    }
  }

  void Run(int64_t until, bool trouble) {
    trouble_ = trouble;
    if (!trouble) {
      for (Node& node : nodes_) node.paused_until = node.cut_until = now_;
    }
    while (!events_.empty() && events_.top().at <= until) {
      auto event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
      Judge();
    }
    now_ = until;
    Judge();
  }

  uint32_t Held() const {
    uint32_t count = 0;
    for (uint32_t s = 0; s < shards_; ++s) {
      for (const Node& node : nodes_) count += node.view.Holds(s, Local(node)) ? 1 : 0;
    }
    return count;
  }
  uint64_t gains = 0;
  uint64_t doubles = 0;
  uint64_t backward_epochs = 0;

 private:
  struct Node {
    LeaseView view;
    int64_t offset = 0;
    double rate = 1;
    int64_t paused_until = 0;
    int64_t cut_until = 0;
    std::map<uint32_t, uint64_t> asked;  // shard → the request that it waits for
    std::map<uint32_t, uint64_t> held;   // shard → epoch, as judged last
    bool wake_planned = false;
  };
  struct Event {
    int64_t at;
    uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };

  int64_t Local(const Node& node) const {
    return node.offset + static_cast<int64_t>(static_cast<double>(now_) * node.rate);
  }
  void At(int64_t at, std::function<void()> run) { events_.push({at, ++order_, std::move(run)}); }
  int64_t Delay() {
    if (!trouble_) return static_cast<int64_t>(rng_.Below(20 * kMillisecond));
    if (rng_.Chance(0.02)) return static_cast<int64_t>(rng_.Below(60 * kSecond));
    return static_cast<int64_t>(rng_.Below(rng_.Chance(0.1) ? 4 * kSecond : 50 * kMillisecond));
  }
  bool Lost(const Node& node) { return node.cut_until > now_ || (trouble_ && rng_.Chance(0.03)); }

  void Wake(uint32_t i) {
    Node& node = nodes_[i];
    if (node.paused_until > now_) {
      At(node.paused_until, [this, i] { Wake(i); });
      return;
    }
    if (trouble_ && rng_.Chance(0.002)) node.paused_until = now_ + static_cast<int64_t>(rng_.Below(60 * kSecond));
    if (trouble_ && rng_.Chance(0.002)) node.cut_until = now_ + static_cast<int64_t>(rng_.Below(40 * kSecond));
    for (const LeaseCommand& command : node.view.Turn(Local(node))) Ask(i, command);
    At(now_ + 100 * kMillisecond + static_cast<int64_t>(rng_.Below(100 * kMillisecond)), [this, i] { Wake(i); });
  }

  void Ask(uint32_t i, const LeaseCommand& command) {
    const uint64_t id = ++requests_;
    nodes_[i].asked[command.shard] = id;
    const bool write = command.kind == LeaseCommand::Kind::kWrite;
    // A request that is lost, or answered too late, ends without an answer.
    Answer(i, command.shard, id, now_ + 3 * kSecond, [write](LeaseView& view, uint32_t shard, int64_t now) {
      write ? view.Written(shard, WriteOutcome::kUnknown, 0, now) : view.ReadFailed(shard, now);
    });
    if (Lost(nodes_[i])) return;
    At(now_ + Delay(), [this, i, command, id, write] {
      uint64_t revision = 0;
      const WriteOutcome outcome = write ? bucket_.Write(command, revision) : WriteOutcome::kUnknown;
      const Bucket::Entry entry = bucket_.entries[command.shard];
      if (Lost(nodes_[i])) return;
      Answer(i, command.shard, id, now_ + Delay(), [=](LeaseView& view, uint32_t shard, int64_t now) {
        write ? view.Written(shard, outcome, revision, now) : view.Read(shard, entry.revision, entry.record, now);
      });
    });
  }

  void Answer(uint32_t i, uint32_t shard, uint64_t id, int64_t at,
              std::function<void(LeaseView&, uint32_t, int64_t)> give) {
    At(at, [=, this] {
      Node& node = nodes_[i];
      if (node.paused_until > now_) return Answer(i, shard, id, node.paused_until, give);
      if (node.asked[shard] != id) return;
      node.asked[shard] = 0;
      give(node.view, shard, Local(node));
    });
  }

  void Judge() {
    for (uint32_t s = 0; s < shards_; ++s) {
      uint32_t holders = 0;
      for (Node& node : nodes_) {
        const auto epoch = node.view.Holds(s, Local(node));
        if (!epoch) continue;
        ++holders;
        if (node.held[s] == *epoch) continue;
        node.held[s] = *epoch;
        ++gains;
        if (*epoch <= newest_[s]) ++backward_epochs;
        newest_[s] = *epoch;
      }
      if (holders > 1) ++doubles;
    }
  }

  Rng rng_;
  const uint32_t shards_;
  std::vector<uint64_t> newest_;
  std::vector<Node> nodes_;
  Bucket bucket_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  uint64_t requests_ = 0;
  int64_t now_ = 0;
  bool trouble_ = true;
};

TEST(LeaseViewTest, NoShardHasTwoHoldersWhateverHappensToMessagesAndClocks) {
  uint64_t gains = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    LeaseSim sim(seed, 2 + seed % 4, 1 + seed % 3);
    sim.Run(1200 * kSecond, true);
    EXPECT_EQ(sim.doubles, 0u) << "seed " << seed;
    EXPECT_EQ(sim.backward_epochs, 0u) << "seed " << seed;
    sim.Run(1320 * kSecond, false);
    EXPECT_EQ(sim.Held(), 1 + seed % 3) << "seed " << seed << ": every shard has a holder when all is well again";
    EXPECT_EQ(sim.doubles, 0u) << "seed " << seed;
    gains += sim.gains;
  }
  EXPECT_GT(gains, 400u);  // the trouble was real
}

}  // namespace
}  // namespace portolan
