// The parts of the frontier, one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "disk/manifest.h"
#include "flow/url_record.h"
#include "frontier/back_queue.h"
#include "frontier/front_queues.h"
#include "frontier/host_table.h"
#include "frontier/politeness.h"
#include "frontier/record_fifo.h"
#include "frontier/snapshot.h"
#include "frontier/spill_compactor.h"
#include "frontier/spill_log.h"
#include "frontier/timed_heap.h"
#include "frontier/workbench.h"
#include "io/counting_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(PolitenessTest, TheGapIsTheLargestOfItsReasonsWithinItsLimits) {
  PolitenessOptions options;
  options.host_delay_ns = 2 * kSecond;
  options.max_delay_ns = 100 * kSecond;
  options.min_delay_ns = kSecond;
  EXPECT_EQ(HostGap(options, 0, 0), 2 * kSecond);
  EXPECT_EQ(HostGap(options, 5 * kSecond, 0), 5 * kSecond);
  EXPECT_EQ(HostGap(options, 5 * kSecond, kSecond), 10 * kSecond);
  EXPECT_EQ(HostGap(options, 500 * kSecond, kSecond), 100 * kSecond);
  EXPECT_EQ(HostGap(options, 0, INT64_MAX), 100 * kSecond);
  EXPECT_EQ(HostGap(options, 0, -5), 2 * kSecond);
  options.host_delay_ns = 0;
  EXPECT_EQ(HostGap(options, 0, 0), kSecond);
}

TEST(PolitenessTest, ABudgetShortensTheDelaysDownToTheirFloors) {
  PolitenessOptions options;
  options.host_delay_ns = 40 * kSecond;
  options.ip_delay_ns = kSecond;
  EXPECT_EQ(HostGap(options, 0, 0, 10'000), 40 * kSecond) << "without a floor budgets change nothing";
  options.host_delay_floor_ns = 10 * kSecond;
  options.ip_delay_floor_ns = kSecond / 20;
  EXPECT_EQ(HostGap(options, 0, 0), 40 * kSecond) << "no budget is known";
  EXPECT_EQ(HostGap(options, 0, 0, 1), 40 * kSecond);
  EXPECT_EQ(HostGap(options, 0, 0, 10), 40 * kSecond);
  EXPECT_EQ(HostGap(options, 0, 0, 20), 20 * kSecond);
  EXPECT_EQ(HostGap(options, 0, 0, 40), 10 * kSecond);
  EXPECT_EQ(HostGap(options, 0, 0, 60'000), 10 * kSecond);
  EXPECT_EQ(HostGap(options, 60 * kSecond, 0, 60'000), 60 * kSecond) << "Crawl-delay is the host's own word";
  EXPECT_EQ(HostGap(options, 0, 3 * kSecond, 60'000), 30 * kSecond) << "a slow host stays slow";
  EXPECT_EQ(IpGap(options, 0), kSecond);
  EXPECT_EQ(IpGap(options, 100), kSecond / 10);
  EXPECT_EQ(IpGap(options, 10'000), kSecond / 20);
}

TEST(PolitenessTest, BackOffDoublesToItsLimit) {
  EXPECT_EQ(BackOff(60, 0, 1000), 60);
  EXPECT_EQ(BackOff(60, 1, 1000), 120);
  EXPECT_EQ(BackOff(60, 4, 1000), 960);
  EXPECT_EQ(BackOff(60, 5, 1000), 1000);
  EXPECT_EQ(BackOff(60, 4'000'000'000U, INT64_MAX), INT64_MAX);
  EXPECT_EQ(BackOff(0, 9, 1000), 0);
}

TEST(TimedHeapTest, LikeASortedListUnderRandomChanges) {
  TimedHeap heap;
  std::vector<uint32_t> places(200, TimedHeap::kOutside);
  std::vector<TimedNode> model;
  const auto place = [&](uint32_t id) -> uint32_t& { return places[id]; };
  Rng rng(5);
  for (uint64_t step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(rng.Below(places.size()));
    const auto time = static_cast<int64_t>(rng.Below(50));
    const auto found = std::find_if(model.begin(), model.end(), [&](const TimedNode& n) { return n.id == id; });
    if (found == model.end()) {
      heap.Push({time, step, id}, place);
      model.push_back({time, step, id});
    } else if (rng.Chance(0.5)) {
      heap.Remove(places[id], place);
      model.erase(found);
      EXPECT_EQ(places[id], TimedHeap::kOutside);
    } else {
      heap.Change(places[id], time, step, place);
      *found = {time, step, id};
    }
    ASSERT_EQ(heap.size(), model.size());
    if (model.empty()) continue;
    const auto best = std::min_element(model.begin(), model.end(),
                                       [](const TimedNode& a, const TimedNode& b) { return a.Before(b); });
    ASSERT_EQ(heap.top().id, best->id);
    if (step % 100 == 0) {
      ASSERT_TRUE(heap.Ordered());
      for (const TimedNode& node : model) ASSERT_EQ(heap.at(places[node.id]).id, node.id);
    }
  }
}

TEST(RecordFifoTest, LikeADequeOfStrings) {
  RecordFifo fifo;
  std::deque<std::string> model;
  Rng rng(3);
  for (int step = 0; step < 20'000; ++step) {
    const std::string record(rng.Below(step % 50 == 0 ? 3000 : 90), static_cast<char>('a' + step % 26));
    switch (rng.Below(5)) {
      case 0:
      case 1:
        fifo.PushBack(record);
        model.push_back(record);
        break;
      case 2:
        fifo.PushFront(record);
        model.push_front(record);
        break;
      default:
        if (model.empty()) break;
        ASSERT_EQ(fifo.front(), model.front());
        fifo.PopFront();
        model.pop_front();
    }
    if (step % 997 == 0 && model.size() > 3) {
      fifo.CutAfter(3);
      model.resize(3);
    }
    ASSERT_EQ(fifo.count(), model.size());
    ASSERT_GE(fifo.ram_bytes() + 16, fifo.bytes());
  }
  std::deque<std::string> all;
  fifo.ForEach([&](std::string_view record) { all.emplace_back(record); });
  EXPECT_EQ(all, model);
  while (!fifo.empty()) fifo.PopFront();
  EXPECT_EQ(fifo.ram_bytes(), 0U);
}

struct Spill {
  MemEnv mem;
  CountingEnv env{mem};
  Manifest manifest = Manifest::Open(env, "store").value();
  std::unique_ptr<SpillLog> log;

  explicit Spill(uint64_t segment_size = 4096) { Open(segment_size); }
  void Open(uint64_t segment_size = 4096) {
    log = SpillLog::Open(env, manifest, {"spill", segment_size, Codec::kLz4}).value();
  }
  Status Commit() {
    Checkpointable* const all[] = {log.get()};
    return manifest.Commit(all);
  }
  SpillRef Write(int from, int to) {
    RecordBlockBuilder block;
    for (int i = from; i < to; ++i) block.Add("http://host/page-" + std::to_string(i * 7919));
    return log->Append(block).value();
  }
};

std::vector<std::string> Drain(RecordFifo& fifo) {
  std::vector<std::string> out;
  for (; !fifo.empty(); fifo.PopFront()) out.emplace_back(fifo.front());
  return out;
}

TEST(SpillLogTest, BlocksComeBackAndSegmentsGoWithTheirLastBlock) {
  Spill spill;
  std::vector<SpillRef> refs;
  for (int i = 0; i < 50; ++i) refs.push_back(spill.Write(i * 20, i * 20 + 20));
  EXPECT_GT(spill.log->segments(), 2U);
  EXPECT_EQ(spill.log->records(), 1000U);
  Rng rng(1);
  std::shuffle(refs.begin(), refs.end(), rng);
  for (const SpillRef& ref : refs) {
    RecordFifo fifo;
    ASSERT_TRUE(spill.log->Read(ref, fifo));
    EXPECT_EQ(fifo.count(), 20U);
    spill.log->Free(ref);
  }
  EXPECT_EQ(spill.log->records(), 0U);
  EXPECT_LE(spill.log->segments(), 1U);
  ASSERT_TRUE(spill.Commit());
  EXPECT_LE(spill.env.List("store")->size(), 2U);
}

TEST(SpillLogTest, ACommittedSegmentStaysUntilTheNextCommit) {
  Spill spill;
  std::vector<SpillRef> refs;
  for (int i = 0; i < 30; ++i) refs.push_back(spill.Write(i * 20, i * 20 + 20));
  ASSERT_TRUE(spill.Commit());
  for (const SpillRef& ref : refs) spill.log->Free(ref);
  spill.mem.Crash(CrashMode::kLoseUnsynced);
  spill.manifest = Manifest::Open(spill.env, "store").value();
  spill.Open();
  for (const SpillRef& ref : refs) {
    ASSERT_TRUE(spill.log->Adopt(ref));
    RecordFifo fifo;
    ASSERT_TRUE(spill.log->Read(ref, fifo));
    EXPECT_EQ(fifo.count(), 20U);
  }
  EXPECT_FALSE(spill.log->Adopt(refs[0]));  // more than were ever written
  EXPECT_FALSE(spill.log->Adopt({99, 16, 20}));
}

TEST(SpillLogTest, ADamagedBlockIsAnErrorAndChangesNothing) {
  Spill spill;
  const SpillRef ref = spill.Write(0, 20);
  spill.mem.Corrupt("store/spill-000000001.spill", ref.offset + 40, "x");
  RecordFifo fifo;
  fifo.PushBack("before");
  const Status status = spill.log->Read(ref, fifo);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(Drain(fifo), std::vector<std::string>{"before"});
}

TEST(BackQueueTest, FirstInFirstOutThroughRamAndDisk) {
  Spill spill(20'000);
  BackQueue queue;
  const BackQueue::Limits limits{1000, 2000};
  Rng rng(8);
  int pushed = 0;
  int popped = 0;
  std::deque<std::string> model;
  for (int step = 0; step < 60'000; ++step) {
    // Grows for the first half, shrinks in the second.
    if (rng.Below(100) < (step < 30'000 ? 60U : 40U)) {
      const std::string record = "http://host/" + std::to_string(pushed++);
      ASSERT_TRUE(queue.Push(record, limits, *spill.log));
      model.push_back(record);
    } else if (!queue.empty()) {
      std::string record;
      ASSERT_TRUE(queue.Pop(0, *spill.log, record));
      ASSERT_EQ(record, model.front());
      model.pop_front();
      ++popped;
      if (popped % 50 == 0) {
        queue.PushFront(record);
        model.push_front(record);
      }
    }
    if (step % 501 == 0) {
      ASSERT_TRUE(queue.Spill(*spill.log));
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.on_disk(), spill.log->records());
    ASSERT_LE(queue.ram_bytes(), 16'000U + 12 * queue.on_disk() / 20);
  }
  EXPECT_GT(spill.log->segments() + pushed, 0U);
  while (!queue.empty()) {
    std::string record;
    ASSERT_TRUE(queue.Pop(0, *spill.log, record));
    ASSERT_EQ(record, model.front());
    model.pop_front();
  }
  EXPECT_EQ(spill.log->records(), 0U);
}

TEST(BackQueueTest, ManyUrlsCostTwoBlocksAndTwelveBytesABlock) {
  Spill spill(uint64_t{16} << 20);
  BackQueue queue;
  const BackQueue::Limits limits{size_t{64} << 10, size_t{64} << 10};
  constexpr int kUrls = 300'000;
  for (int i = 0; i < kUrls; ++i) {
    ASSERT_TRUE(
        queue.Push(std::string(7, '\0') + "http://a-host-of-the-web.example/some/path/of/a/page-" + std::to_string(i),
                   limits, *spill.log));
    if (i % 1000 == 0) {
      ASSERT_LT(queue.ram_bytes(), size_t{4} * 64 * 1024 + 2000 + static_cast<size_t>(i) / 700 * 12);
    }
  }
  EXPECT_GT(queue.on_disk(), kUrls - 2500U);
}

// The hint comes kAskAhead URLs before the read, once per block.
TEST(BackQueueTest, EachBlockIsAskedForBeforeItIsRead) {
  Spill spill(uint64_t{16} << 20);
  BackQueue queue;
  const BackQueue::Limits limits{4000, 4000};
  constexpr int kUrls = 20'000;
  for (int i = 0; i < kUrls; ++i) {
    ASSERT_TRUE(queue.Push("http://a-host.example/page-" + std::to_string(i), limits, *spill.log));
  }
  const size_t blocks = queue.blocks()->size();
  ASSERT_GT(blocks, 50U);
  const auto& counters = spill.env.counters();
  ASSERT_EQ(counters.hints, 0U);
  std::string record;
  size_t on_disk = blocks;
  uint64_t asked_before = 0;  // URLs popped since the last hint
  for (int i = 0; i < kUrls; ++i) {
    const uint64_t hints = counters.hints;
    ASSERT_TRUE(queue.Pop(0, *spill.log, record));
    ASSERT_EQ(record, "http://a-host.example/page-" + std::to_string(i));
    asked_before = counters.hints > hints ? 0 : asked_before + 1;
    const size_t left = queue.blocks() == nullptr ? 0 : queue.blocks()->size();
    if (left == on_disk) continue;
    ASSERT_EQ(left, on_disk - 1);
    on_disk = left;
    ASSERT_GE(asked_before, BackQueue::kAskAhead - 2);
  }
  // For the first block, whose segment was not open, also for the header.
  EXPECT_EQ(counters.hints, blocks + 1);
}

TEST(BackQueueTest, AUrlThatWaitsForItsNextAttemptIsNotTakenBefore) {
  Spill spill;
  BackQueue queue;
  const BackQueue::Limits limits{1000, 1000};
  std::string record;
  queue.PushLater("late", 500);
  queue.PushLater("early", 300);
  EXPECT_EQ(queue.ReadyAt(64), 300);
  ASSERT_TRUE(queue.Push("other", limits, *spill.log));
  EXPECT_EQ(queue.ReadyAt(64), BackQueue::kAtOnce);
  EXPECT_EQ(queue.ReadyAt(2), 300);  // with max_later = 2 the host waits
  ASSERT_TRUE(queue.Pop(299, *spill.log, record));
  EXPECT_EQ(record, "other");
  ASSERT_TRUE(queue.Pop(300, *spill.log, record));
  EXPECT_EQ(record, "early");
  EXPECT_EQ(queue.ReadyAt(64), 500);
  ASSERT_TRUE(queue.Pop(500, *spill.log, record));
  EXPECT_EQ(record, "late");
  EXPECT_TRUE(queue.empty());
}

TEST(SpillCompactorTest, ASlowHostDoesNotKeepSegmentsAlive) {
  Spill spill(8192);
  HostTable hosts;
  SpillCompactor compactor;
  const BackQueue::Limits limits{200, 400};
  const uint32_t slow = hosts.Insert(1);
  const uint32_t fast = hosts.Insert(2);
  std::string record;
  for (int i = 0; i < 20'000; ++i) {
    // The fast host's blocks die at once; the slow host's are a fifth of each segment.
    if (i % 5 == 0) {
      ASSERT_TRUE(hosts[slow].queue.Push("http://slow/" + std::to_string(i), limits, *spill.log));
    }
    ASSERT_TRUE(hosts[fast].queue.Push("http://fast/" + std::to_string(i * 31), limits, *spill.log));
    if (i >= 1000) {
      ASSERT_TRUE(hosts[fast].queue.Pop(0, *spill.log, record));
    }
    for (int k = 0; k < 40; ++k) ASSERT_TRUE(compactor.Step(hosts, *spill.log));
  }
  // 4,000 live URLs of the slow host and 1,000 of the fast one, some 12 bytes each with everything.
  EXPECT_LT(spill.log->bytes_on_disk(), 2U * 5000 * 24 + 5 * 8192);
  for (int i = 0; i < 20'000; i += 5) {
    ASSERT_TRUE(hosts[slow].queue.Pop(0, *spill.log, record));
    ASSERT_EQ(record, "http://slow/" + std::to_string(i));
  }
}

TEST(SpillCompactorTest, ASegmentIsAskedForBeforeItsBlocksAreMoved) {
  Spill spill(8192);
  HostTable hosts;
  SpillCompactor compactor;
  const BackQueue::Limits limits{200, 400};
  const uint32_t slow = hosts.Insert(1);
  std::vector<SpillRef> dead;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(hosts[slow].queue.Push("http://slow/" + std::to_string(i), limits, *spill.log));
    dead.push_back(spill.Write(i * 20, i * 20 + 20));
  }
  for (const SpillRef& ref : dead) spill.log->Free(ref);
  ASSERT_TRUE(spill.log->sparse());
  const auto& counters = spill.env.counters();
  const uint64_t reads = counters.reads;
  ASSERT_EQ(counters.hints, 0U);
  while (counters.hints == 0) {
    ASSERT_TRUE(compactor.Step(hosts, *spill.log));
    ASSERT_EQ(counters.reads, reads);
  }
  for (int i = 0; i < 100 && counters.reads == reads; ++i) ASSERT_TRUE(compactor.Step(hosts, *spill.log));
  EXPECT_GT(counters.reads, reads);
}

TEST(FrontQueuesTest, DrawsFallByTwoAndNothingStarves) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "store").value();
  auto front = FrontQueues::Open(env, manifest, {"f", 4, 1 << 20, 7}).value();
  for (int i = 0; i < 40'000; ++i) {
    for (uint32_t q = 0; q < 4; ++q) ASSERT_TRUE(front->Add(q, std::to_string(q)));
  }
  std::array<int, 4> counts{};
  for (int i = 0; i < 60'000; ++i) {
    const auto record = front->Next();
    ASSERT_TRUE(record && *record != nullptr);
    ++counts[static_cast<size_t>((**record)[0] - '0')];
    front->Pop();
  }
  // 8 : 4 : 2 : 1, in batches of 64.
  EXPECT_NEAR(counts[0], 32'000, 4'000);
  EXPECT_NEAR(counts[1], 16'000, 3'500);
  EXPECT_NEAR(counts[2], 8'000, 2'500);
  EXPECT_NEAR(counts[3], 4'000, 2'000);
  int left = 0;
  while (true) {
    const auto record = front->Next();
    ASSERT_TRUE(record);
    if (*record == nullptr) break;
    front->Pop();
    ++left;
  }
  EXPECT_EQ(left, 100'000);
  EXPECT_TRUE(front->empty());
}

TEST(HostTableTest, TheLargestIsFound) {
  HostTable hosts;
  Spill spill;
  const BackQueue::Limits limits{1 << 20, 1 << 20};
  for (uint64_t key = 0; key < 100; ++key) {
    const uint32_t id = hosts.Insert(key + 1000);
    for (uint64_t i = 0; i < (key == 42 ? 400 : key); ++i) {
      ASSERT_TRUE(hosts[id].queue.Push(std::string(60, 'x'), limits, *spill.log));
    }
    hosts.Count(id);
  }
  EXPECT_EQ(hosts.Largest(), hosts.Find(1042));
  const size_t before = hosts.ram_bytes();
  ASSERT_TRUE(hosts[hosts.Largest()].queue.Spill(*spill.log));
  hosts.Count(hosts.Find(1042));
  EXPECT_LT(hosts.ram_bytes(), before - 15'000);
  EXPECT_EQ(hosts.urls(), 99 * 100 / 2 - 42 + 400U);
  EXPECT_EQ(hosts.near_urls(), 1 + 2 + 3 + 96 * HostTable::kNear);
}

TEST(WorkbenchTest, HostsOfOneAddressTakeTurnsAndATarpitHoldsItOnlySoLong) {
  HostTable hosts;
  PolitenessOptions politeness;
  politeness.ip_delay_ns = 2 * kSecond;
  politeness.ip_hold_max_ns = 30 * kSecond;
  Workbench bench(hosts, politeness, 1, HashKey::Known());
  uint32_t slots = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(hosts.Insert(i + 1), i);
    hosts[i].state = HostState::kReady;
    bench.Bind(i, Address::V4(0x01010101));
    bench.Put(i, 0);
  }
  // As in the frontier: a host that is hit stores what the bench needs.
  const auto hit = [&](uint32_t host, int64_t now) {
    Flight flight{.slot = SlotId{++slots} << 32 | host, .record = "r"};
    bench.Hit(host, flight, now);
    hosts[host].state = HostState::kInFlight;
    hosts[host].flights.push_back(flight);
    return flight;
  };
  const auto close = [&](const Flight& flight) { hosts[static_cast<uint32_t>(flight.slot)].flights.clear(); };
  ASSERT_EQ(bench.Top(0), 0U);  // first come, first served
  const Flight first = hit(0, 0);
  EXPECT_EQ(bench.Top(10 * kSecond), kNoHost);
  close(first);
  bench.End(first, 0, 10 * kSecond);
  EXPECT_EQ(bench.Top(12 * kSecond - 1), kNoHost);
  ASSERT_EQ(bench.Top(12 * kSecond), 1U);
  const Flight second = hit(1, 12 * kSecond);  // takes too long
  EXPECT_EQ(bench.NextTime(), 42 * kSecond);
  ASSERT_EQ(bench.Top(42 * kSecond), 2U);
  const Flight third = hit(2, 42 * kSecond);
  hosts[0].state = HostState::kReady;
  bench.Put(0, 0);
  close(second);
  bench.End(second, 0, 43 * kSecond);  // too late to matter
  EXPECT_EQ(bench.NextTime(), 72 * kSecond);
  close(third);
  bench.Undo(third, 43 * kSecond);  // was not hit after all: as free as before
  EXPECT_EQ(bench.NextTime(), 42 * kSecond);
  EXPECT_TRUE(bench.CheckInvariants());
}

// An address that is held and that another shard wants, with hosts that may be hit at once.
class WorkbenchTurnTest : public testing::Test {
 protected:
  explicit WorkbenchTurnTest(int64_t ip_delay_ns = 0) {
    politeness_.ip_delay_ns = ip_delay_ns;
    bench_.SetShared({.lease_ns = 10 * kSecond, .retry_ns = kSecond, .epoch = 1, .turn_ns = kTurn});
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(hosts_.Insert(i + 1), i);
      hosts_[i].state = HostState::kReady;
      bench_.Bind(i, address_);
      bench_.Put(i, 0);
    }
    bench_.AskForLeases(0);
    const std::vector<AddressNotice> asked = bench_.TakeNotices();
    EXPECT_EQ(asked.size(), 1U);
    session_ = asked[0].session;
    bench_.OnGranted({AddressNotice::Kind::kGranted, address_, session_, 0, 0}, 0);
    bench_.OnRecalled({AddressNotice::Kind::kRecalled, address_, session_, 0, 0}, 0);
  }
  // One hit of the host, which then comes back for another.
  void HitAndEnd(int64_t begin_ns, int64_t end_ns) {
    const uint32_t host = bench_.Top(begin_ns);
    ASSERT_NE(host, kNoHost);
    Flight flight{.slot = SlotId{++slots_} << 32 | host, .record = "r"};
    bench_.Hit(host, flight, begin_ns);
    hosts_[host].state = HostState::kInFlight;
    hosts_[host].flights.push_back(flight);
    ASSERT_TRUE(bench_.CheckInvariants());
    hosts_[host].flights.clear();
    bench_.End(flight, 0, end_ns);
    hosts_[host].state = HostState::kReady;
    bench_.Put(host, end_ns);
    ASSERT_TRUE(bench_.CheckInvariants());
  }
  bool ReturnedAt(int64_t now_ns) {
    bench_.Expire(now_ns, 0);
    EXPECT_TRUE(bench_.CheckInvariants());
    const std::vector<AddressNotice> notices = bench_.TakeNotices();
    return notices.size() == 1 && notices[0].kind == AddressNotice::Kind::kReturned && notices[0].session == session_;
  }

  static constexpr int64_t kTurn = 50'000'000;
  const HashKey key_ = HashKey::Known();
  const Address address_ = Address::V4(0x01010101);
  HostTable hosts_;
  PolitenessOptions politeness_;
  Workbench bench_{hosts_, politeness_, 1, key_};
  uint64_t session_ = 0;
  uint32_t slots_ = 0;
};

TEST_F(WorkbenchTurnTest, HitsThatFollowAtOnceAreMadeBeforeAnAddressIsReturned) {
  for (int64_t at_ns = 1; at_ns < kTurn; at_ns += kTurn / 8) {
    EXPECT_FALSE(ReturnedAt(at_ns));
    HitAndEnd(at_ns, at_ns + kTurn / 16);
  }
  EXPECT_EQ(bench_.NextReturn(), kTurn);
  EXPECT_TRUE(ReturnedAt(kTurn));
  bench_.AskForLeases(kTurn);
  EXPECT_EQ(bench_.Top(kTurn), kNoHost) << "it is asked for anew";
}

TEST_F(WorkbenchTurnTest, ATurnWithoutAnotherHitEndsByItself) {
  HitAndEnd(1, 2);
  EXPECT_FALSE(ReturnedAt(3));
  EXPECT_EQ(bench_.NextReturn(), kTurn);
  EXPECT_TRUE(ReturnedAt(kTurn));
}

TEST_F(WorkbenchTurnTest, WhereNoHostCouldBeHitTheAddressIsReturnedAtOnce) {
  for (uint32_t host = 0; host < 2; ++host) {
    bench_.Take(host);
    bench_.Put(host, 5 * kSecond);
  }
  EXPECT_TRUE(ReturnedAt(1));
}

// The holder before died, so its last hit may last for longer than a lease does.
TEST_F(WorkbenchTurnTest, AnAddressThatIsFreeOnlyAfterItsLeaseIsReturnedIfOthersWantIt) {
  HitAndEnd(1, 2);
  EXPECT_TRUE(ReturnedAt(kTurn));
  bench_.AskForLeases(kTurn);
  session_ = bench_.TakeNotices().at(0).session;
  bench_.OnGranted({AddressNotice::Kind::kGranted, address_, session_, kTurn, 30 * kSecond}, kTurn);
  EXPECT_FALSE(ReturnedAt(kTurn)) << "nobody else wants it";
  bench_.OnRecalled({AddressNotice::Kind::kRecalled, address_, session_, 0, 0}, kTurn);
  EXPECT_TRUE(ReturnedAt(kTurn));
}

class WorkbenchSlowTurnTest : public WorkbenchTurnTest {
 protected:
  WorkbenchSlowTurnTest() : WorkbenchTurnTest(kSecond) {}
};

TEST_F(WorkbenchSlowTurnTest, WithADelayThatIsLongerThanATurnThereIsOneHit) {
  EXPECT_FALSE(ReturnedAt(kTurn + 1)) << "each turn has a hit";
  HitAndEnd(kTurn + 1, kTurn + 2);
  EXPECT_TRUE(ReturnedAt(kTurn + 2));
}

TEST(WorkbenchTest, ASnapshotSeesTheAddressesThatRunAndFewOthers) {
  constexpr uint32_t kHosts = 10'000;
  HostTable hosts;
  PolitenessOptions politeness;
  politeness.ip_delay_ns = 2 * kSecond;
  politeness.ip_hold_max_ns = 30 * kSecond;
  Workbench bench(hosts, politeness, 1, HashKey::Known());
  for (uint32_t i = 0; i < kHosts; ++i) {
    ASSERT_EQ(hosts.Insert(i + 1), i);
    hosts[i].state = HostState::kReady;
    bench.Bind(i, Address::V4(0x01000000 + i));
    bench.Put(i, 0);
  }
  // A hit every 10 ms that takes as long; every hundredth never ends.
  std::map<uint32_t, int64_t> free_at;  // by host
  int64_t now = 0;
  for (uint32_t i = 0; i < kHosts; ++i, now += kSecond / 100) {
    const uint32_t host = bench.Top(now);
    ASSERT_NE(host, kNoHost);
    Flight flight{.slot = SlotId{i + 1} << 32 | host, .record = "r"};
    bench.Hit(host, flight, now);
    hosts[host].state = HostState::kInFlight;
    const bool ends = i % 100 != 0;
    if (ends) {
      bench.End(flight, 0, now + kSecond / 100);
    } else {
      hosts[host].flights.push_back(flight);
    }
    free_at[host] = ends ? now + kSecond / 100 + 2 * kSecond : INT64_MAX;
    if (i % 1000 != 999) continue;
    std::set<uint64_t> seen;
    bench.ForEachRunning([&](const Workbench::Ip& ip) { seen.insert(ip.address.Hash(HashKey::Known())); });
    for (const auto& [id, free] : free_at) {
      if (free > now) {
        EXPECT_TRUE(seen.contains(Address::V4(0x01000000 + id).Hash(HashKey::Known()))) << id;
      }
    }
    EXPECT_LE(seen.size(), 2 * (200 + (i + 1) / 100)) << "200 run, one in a hundred is held";
    ASSERT_TRUE(bench.CheckInvariants());
  }
}

TEST(SnapshotTest, GoldenBytesOfAHost) {
  SnapshotHost host;
  host.key = 0x1122334455667788;
  host.free_left_ns = 300;
  host.crawl_delay_ns = 1;
  host.address_left_ns = 128;
  host.ill_streak = 2;
  host.dns_failures = 3;
  host.verdict = static_cast<uint8_t>(FetchOutcome::kDnsNotFound);
  host.address_at = 1;
  host.addresses = {*Address::Parse("1.2.3.4"), *Address::Parse("::1")};
  const std::string bytes = EncodeSnapshotHost(host);
  EXPECT_EQ(bytes, std::string("\x01\x88\x77\x66\x55\x44\x33\x22\x11\xac\x02\x01\x80\x01\x02\x03\x05\x01\x02"
                               "\x04\x01\x02\x03\x04"
                               "\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
                               41));
  EXPECT_EQ(DecodeSnapshotHost(bytes), host);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeSnapshotHost(bytes.substr(0, size))) << size;
  EXPECT_FALSE(DecodeSnapshotHost(bytes + "x"));
}

}  // namespace
}  // namespace portolan
