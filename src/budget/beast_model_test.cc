// Beast against a model of deques: random placements, pops, re-scans, commits and crashes.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include "base/bytes.h"
#include "budget/beast.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

// The same rules, written down once more with absolute queue numbers in a map.
struct Model {
  uint64_t tick = 0;
  uint64_t j = 2;
  uint64_t pass = 2;
  uint64_t emptied = 0;
  uint64_t rescan = 0;
  uint64_t most = 8;
  uint64_t longest = 32;
  uint64_t starved = 20;
  std::map<uint64_t, std::deque<std::string>> queues;
  std::deque<std::string> failed;
  std::deque<std::string> out;  // handed back, not returned: the owner's part of the checkpoint
  uint64_t placed = 0;
  uint64_t popped = 0;

  uint64_t queued() const {
    uint64_t sum = 0;
    for (const auto& [number, queue] : queues) sum += queue.size();
    return sum;
  }
  void Place(const std::string& record, uint64_t judged, uint64_t place, bool later) {
    const uint64_t number = std::max(tick + 1, judged + 1 + place);
    if (later || number > tick + j - 1) {
      failed.push_back(record);
    } else {
      queues[number].push_back(record);
    }
  }
  std::vector<std::string> Pop(size_t max) {
    while (queues[tick].empty()) {
      const bool busy = rescan > 0 || !out.empty();
      if (queued() == 0) {
        if (busy || failed.empty()) return {};
        const bool whole = failed.size() <= starved;
        j = std::min(2 * j, most);
        pass = whole ? std::max(std::min(2 * pass, longest), j) : std::max(pass, j);
        rescan = whole ? failed.size() : starved;
        if (whole) emptied = 0;
        return {};
      }
      queues.erase(tick++);
      if (++emptied < pass || busy) continue;
      emptied = 0;
      if (failed.empty()) continue;
      j = std::min(2 * j, most);
      pass = std::max(std::min(2 * pass, longest), j);
      rescan = failed.size();
    }
    return Take(queues[tick], max);
  }
  static std::vector<std::string> Take(std::deque<std::string>& from, size_t max) {
    std::vector<std::string> taken;
    for (; taken.size() < max && !from.empty(); from.pop_front()) taken.push_back(from.front());
    return taken;
  }
};

class BeastModelTest : public testing::TestWithParam<int> {};

TEST_P(BeastModelTest, BehavesLikeDequesAcrossCommitsAndCrashes) {
  Rng rng(static_cast<uint64_t>(GetParam()));
  MemEnv env;
  BeastOptions options;
  options.block_size = 256;
  options.queue_segment_size = 2048;
  options.failed_segment_size = 4096;
  Model model;
  model.most = options.max_queues = 2 + static_cast<uint32_t>(rng.Below(12));
  model.longest = options.longest_pass = model.most * (1 + rng.Below(4));
  model.starved = options.starved_scan = 1 + rng.Below(60);
  Model committed = model;
  auto manifest = Manifest::Open(env, "store").value();
  auto beast = Beast::Open(env, manifest, options).value();
  std::set<std::string> given;  // by Pop, since the last commit or before
  std::set<std::string> given_committed;
  uint64_t next = 0;
  const uint64_t appetite = 1 + rng.Below(30);  // how many a step comes and goes: from starving to overflowing

  for (int step = 0; step < 4'000; ++step) {
    switch (rng.Below(8)) {
      case 0:
      case 1: {
        for (uint64_t i = rng.Below(appetite); i > 0; --i) {
          const std::string record = fmt::format("https://host{}.example/{}", rng.Below(5), next++);
          const uint64_t judged = model.tick - std::min<uint64_t>(model.tick, rng.Below(3));
          const uint64_t place = rng.Below(2 * model.j);
          const bool later = place >= model.j - 1 && rng.Below(4) != 0;  // or a verdict that promised too much
          ASSERT_TRUE(beast->Place(
              record,
              {.judged_tick = static_cast<uint32_t>(judged), .place = static_cast<uint32_t>(place), .later = later}));
          model.Place(record, judged, place, later);
          ++model.placed;
        }
        break;
      }
      case 2:
      case 3: {
        const size_t max = 1 + rng.Below(20);
        const auto expected = model.Pop(max);
        const auto records = beast->Pop(max).value();
        ASSERT_EQ(records, expected) << step;
        model.popped += records.size();
        for (const std::string& record : records) ASSERT_TRUE(given.insert(record).second) << record << " twice";
        break;
      }
      case 4:
      case 5: {
        const size_t max = 1 + rng.Below(10);
        const auto expected = Model::Take(model.failed, std::min<uint64_t>(max, model.rescan));
        model.rescan -= expected.size();
        ASSERT_EQ(beast->WantsRebudget(), !expected.empty());
        ASSERT_EQ(beast->PopFailed(max).value(), expected) << step;
        model.out.insert(model.out.end(), expected.begin(), expected.end());
        break;
      }
      case 6: {
        for (uint64_t i = rng.Below(10); i > 0 && !model.out.empty(); --i) {
          const uint64_t place = rng.Below(2 * model.j);
          const bool later = place >= model.j - 1 && rng.Below(4) != 0;  // or a verdict that promised too much
          ASSERT_TRUE(beast->Place(model.out.front(), {.judged_tick = static_cast<uint32_t>(model.tick),
                                                       .place = static_cast<uint32_t>(place),
                                                       .later = later,
                                                       .fresh = false}));
          model.Place(model.out.front(), model.tick, place, later);
          model.out.pop_front();
        }
        break;
      }
      default: {
        if (rng.Below(4) == 0) {
          ASSERT_TRUE(manifest.Commit(beast->Checkpointables()));
          committed = model;
          given_committed = given;
        } else if (rng.Below(12) == 0) {
          beast.reset();
          env.Crash(rng.Below(2) == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn, rng.Next());
          manifest = Manifest::Open(env, "store").value();
          beast = Beast::Open(env, manifest, options).value();
          model = committed;
          given = given_committed;
        }
      }
    }
    ASSERT_TRUE(beast->CheckInvariants()) << beast->CheckInvariants().error().ToString();
    ASSERT_EQ(beast->tick(), model.tick) << step;
    ASSERT_EQ(beast->queues(), model.j) << step;
    ASSERT_EQ(beast->pass_length(), model.pass) << step;
    ASSERT_EQ(beast->rescan_left(), model.rescan) << step;
    ASSERT_LE(beast->RebudgetDue(), model.rescan);
    if (model.queued() == 0) {
      const uint64_t out = std::min<uint64_t>(model.starved, model.out.size());
      ASSERT_EQ(beast->RebudgetDue(), std::min(model.rescan, model.starved - out));
    }
    ASSERT_EQ(beast->counts().queued, model.queued());
    ASSERT_EQ(beast->counts().failed, model.failed.size());
    ASSERT_EQ(beast->counts().out, model.out.size());
    ASSERT_EQ(model.placed, model.popped + model.queued() + model.failed.size() + model.out.size());
  }

  // Everything comes out in the end, once.
  for (int round = 0; !beast->empty(); ++round) {
    ASSERT_LT(round, 100'000);
    const auto records = beast->Pop(1000).value();
    for (const std::string& record : records) ASSERT_TRUE(given.insert(record).second);
    const auto failed = beast->PopFailed(1000).value();
    model.out.insert(model.out.end(), failed.begin(), failed.end());
    for (; !model.out.empty(); model.out.pop_front()) {
      ASSERT_TRUE(beast->Place(model.out.front(), {.judged_tick = beast->tick(), .fresh = false}));
    }
  }
  EXPECT_EQ(given.size(), beast->counts().placed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BeastModelTest, testing::Range(1, 25));

// The owner's side as in a crawl: budgets that leak with ticks. No queue has more of a domain than its budget.
TEST(BeastBudgetTest, NoQueueHasMoreOfADomainThanItsBudget) {
  struct Domain {
    uint64_t used = 0;
    uint64_t tick = 0;
  };
  constexpr uint64_t kBudget = 3;
  MemEnv env;
  auto manifest = Manifest::Open(env, "store").value();
  BeastOptions options;
  options.max_queues = 16;
  auto beast = Beast::Open(env, manifest, options).value();
  std::map<std::string, Domain> domains;
  const auto place = [&](const std::string& record, bool fresh) {
    Domain& domain = domains[record.substr(0, record.find('/'))];
    const uint64_t leaked = (beast->tick() - domain.tick) * kBudget;
    domain.used -= std::min(domain.used, leaked);
    domain.tick = beast->tick();
    BudgetVerdict verdict{.judged_tick = beast->tick(), .fresh = fresh};
    verdict.place = static_cast<uint32_t>(domain.used / kBudget);
    verdict.later = verdict.place >= beast->horizon();
    if (!verdict.later) ++domain.used;
    ASSERT_TRUE(beast->Place(record, verdict));
  };
  Rng rng(5);
  uint64_t made = 0;
  for (; made < 10; ++made) place(fmt::format("d{}/{}", made % 4, made), true);
  std::map<std::string, uint64_t> in_queue;
  uint64_t queue = 0;
  uint64_t popped = 0;
  while (!beast->empty()) {
    const auto records = beast->Pop(7).value();
    for (const std::string& record : records) {
      if (beast->tick() != queue) in_queue.clear();
      queue = beast->tick();
      ASSERT_LE(++in_queue[record.substr(0, record.find('/'))], kBudget) << record << " at " << queue;
      ++popped;
      for (uint64_t i = 0; i < 5 && made < 6000; ++i, ++made) {
        place(fmt::format("d{}/{}", rng.Below(1 + made / 100), made), true);
      }
    }
    const auto failed = beast->PopFailed(50).value();
    for (const std::string& record : failed) place(record, false);
    ASSERT_TRUE(beast->CheckInvariants());
  }
  EXPECT_EQ(popped, made);
  EXPECT_EQ(beast->queues(), 16U);
}

TEST(BeastMemoryTest, QueuesInUseTakeLittleAndIdleOnesLess) {
  const auto dir = std::filesystem::temp_directory_path() / fmt::format("portolan-beast-{}", ::getpid());
  std::filesystem::create_directories(dir);
  {
    auto manifest = Manifest::Open(Env::Posix(), dir).value();
    const auto used = [] { return mallinfo2().uordblks; };
    const size_t before = used();
    BeastOptions options;
    options.initial_queues = options.max_queues = 128;
    auto beast = Beast::Open(Env::Posix(), manifest, options).value();
    EXPECT_LT(used() - before, 256U << 10) << "idle";
    std::string record(100, 'x');
    Rng rng(1);
    for (int i = 0; i < 400'000; ++i) {
      for (int at = 20; at < 60; at += 8) StoreLe(record.data() + at, rng.Next());  // hardly compressible
      ASSERT_TRUE(beast->Place(record, {.judged_tick = 0, .place = static_cast<uint32_t>(i % 127)}));
    }
    EXPECT_LT(used() - before, 20U << 20) << "all 127 being filled";
    while (!beast->Pop(1000).value().empty()) {
    }
    EXPECT_LT(used() - before, 8U << 20) << "idle again: compressors of files that may go on";
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace portolan
