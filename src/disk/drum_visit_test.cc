// A caller can see the whole repository while it is rewritten: DrumOptions::visit and on_round_begin.

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/bytes.h"
#include "disk/drum.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

struct Nobody : DrumSink {
  Status OnAnswer(const DrumAnswer&) override { return {}; }
};

struct Visits {
  uint64_t begun = 0;
  std::vector<std::pair<uint64_t, std::string>> entries;

  void Watch(DrumOptions& options) {
    options.on_round_begin = [this] {
      ++begun;
      entries.clear();
    };
    options.visit = [this](uint64_t key, std::string_view value) { entries.emplace_back(key, value); };
  }
};

DrumOptions Counters() {
  DrumOptions options;
  options.name = "counts";
  options.memory = DrumMemoryPlan::kMinMemory;
  options.value_size = 4;
  options.combine = [](char* stored, std::string_view incoming) {
    StoreLe<uint32_t>(stored, LoadLe<uint32_t>(stored) + LoadLe<uint32_t>(incoming.data()));
  };
  return options;
}

TEST(DrumVisitTest, EveryEntryOfTheNewZIsVisitedOnceByRisingKey) {
  MemEnv env;
  InlineExecutor executor;
  const Manifest manifest = Manifest::Open(env, "store").value();
  DrumOptions options = Counters();
  options.expunge = [](uint64_t key, std::string_view) { return key % 97 == 0; };
  Visits visits;
  visits.Watch(options);
  auto drum = Drum::Open(env, manifest, executor, options).value();
  std::map<uint64_t, uint32_t> model;
  Rng rng(5);
  Nobody nobody;
  for (uint64_t round = 1; round <= 8; ++round) {
    std::erase_if(model, [](const auto& entry) { return entry.first % 97 == 0; });
    for (int i = 0; i < 3000; ++i) {
      const uint64_t key = Mix64(rng.Below(9000));
      std::string value;
      AppendLe<uint32_t>(value, 3);
      if (rng.Chance(0.2)) {
        ASSERT_TRUE(drum->Add({.op = DrumOp::kCheck, .key = key}));  // stores nothing, so adds no visit
        continue;
      }
      model[key] += 3;
      ASSERT_TRUE(drum->Add({.op = DrumOp::kUpdate, .key = key, .value = value}));
    }
    ASSERT_TRUE(drum->Drain(nobody));
    ASSERT_EQ(visits.begun, round);
    std::vector<std::pair<uint64_t, std::string>> expected;
    for (const auto& [key, count] : model) {
      std::string value;
      AppendLe<uint32_t>(value, count);
      expected.emplace_back(key, value);
    }
    ASSERT_TRUE(visits.entries == expected) << "round " << round;
  }
}

TEST(DrumVisitTest, ASetOfKeysIsVisitedToo) {
  MemEnv env;
  InlineExecutor executor;
  const Manifest manifest = Manifest::Open(env, "store").value();
  DrumOptions options;
  options.name = "seen";
  options.memory = DrumMemoryPlan::kMinMemory;
  options.only_op = DrumOp::kCheckUpdate;
  Visits visits;
  visits.Watch(options);
  auto drum = Drum::Open(env, manifest, executor, options).value();
  Nobody nobody;
  for (uint64_t key = 0; key < 10'000; ++key) ASSERT_TRUE(drum->Add({.key = Mix64(key % 6000)}));
  ASSERT_TRUE(drum->Drain(nobody));
  EXPECT_EQ(visits.entries.size(), 6000U);
  EXPECT_EQ(drum->keys(), 6000U);
}

TEST(DrumVisitTest, ARoundThatFailsIsFollowedByAnotherBeginning) {
  MemEnv mem;
  FaultyEnv env(mem);
  InlineExecutor executor;
  const Manifest manifest = Manifest::Open(env, "store").value();
  DrumOptions options = Counters();
  options.durable = false;
  Visits visits;
  visits.Watch(options);
  auto drum = Drum::Open(env, manifest, executor, options).value();
  Nobody nobody;
  for (uint64_t key = 0; key < 5000; ++key) {
    ASSERT_TRUE(drum->Add({.op = DrumOp::kUpdate, .key = Mix64(key), .value = "one "}));
  }
  // A round opens its files and then appends to them: this is one of the appends.
  env.SetPlan({.fail_at = env.operations() + 6, .short_write_at = {}, .power_cut_at = {}, .space = {}});
  ASSERT_TRUE(drum->StartRound());
  EXPECT_FALSE(drum->TakeResults(nobody, 10));
  EXPECT_EQ(visits.begun, 1U);
  EXPECT_EQ(drum->rounds(), 0U);
  EXPECT_LT(visits.entries.size(), 5000U);
  ASSERT_TRUE(drum->Drain(nobody));
  EXPECT_EQ(visits.begun, 2U);
  EXPECT_EQ(drum->rounds(), 1U);
  EXPECT_EQ(visits.entries.size(), 5000U);
}

}  // namespace
}  // namespace portolan
