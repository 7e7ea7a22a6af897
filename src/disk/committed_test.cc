#include "disk/committed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "disk/drum.h"
#include "disk/queue.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::ElementsAre;

constexpr char kDir[] = "state";

std::string Bytes(uint64_t number) {
  std::string bytes(8, '\0');
  StoreLe<uint64_t>(bytes.data(), number);
  return bytes;
}

TEST(CommittedTest, AManifestIsReadWithoutTouchingAnything) {
  MemEnv env;
  EXPECT_FALSE(Manifest::Read(env, kDir).has_value());
  ASSERT_TRUE(env.CreateDirs(kDir));
  EXPECT_EQ(Manifest::Read(env, kDir).error().code(), ErrorCode::kNotFound);
  Manifest manifest = Manifest::Open(env, kDir).value();
  const auto queue = DiskQueue::Open(env, manifest, {.name = "q"}).value();
  ASSERT_TRUE(queue->Append("one"));
  Checkpointable* const all[] = {queue.get()};
  ASSERT_TRUE(manifest.Commit(all));
  ASSERT_TRUE(queue->Append("two"));
  ASSERT_TRUE(queue->Flush());
  ASSERT_TRUE(env.Open(JoinPath(kDir, "other"), OpenMode::kCreate));
  const auto names = env.List(kDir).value();
  const Manifest read = Manifest::Read(env, kDir).value();
  EXPECT_EQ(read.sequence(), 1U);
  EXPECT_EQ(read.sections(), manifest.sections());
  EXPECT_EQ(env.List(kDir).value(), names);
  std::vector<std::string> found;
  ASSERT_TRUE(ForEachQueued(env, kDir, read.sections()[0], [&](std::string_view record) {
    found.emplace_back(record);
    return true;
  }));
  EXPECT_THAT(found, ElementsAre("one"));
}

TEST(CommittedTest, QueuesGiveWhatPopWouldGive) {
  MemEnv env;
  Rng rng(3);
  Manifest manifest = Manifest::Open(env, kDir).value();
  DiskQueue::Options options{.name = "q", .block_size = 200, .segment_size = 2000};
  auto queue = DiskQueue::Open(env, manifest, options).value();
  uint64_t pushed = 0;
  uint64_t popped = 0;
  for (int step = 0; step < 200; ++step) {
    for (uint64_t i = rng.Below(40); i > 0; --i) ASSERT_TRUE(queue->Append("record " + std::to_string(pushed++)));
    popped += queue->Pop(rng.Below(step % 20 == 0 ? 2000 : 40)).value().size();
    Checkpointable* const all[] = {queue.get()};
    ASSERT_TRUE(manifest.Commit(all));
    uint64_t next = popped;
    ASSERT_TRUE(ForEachQueued(env, kDir, manifest.sections()[0], [&](std::string_view record) {
      EXPECT_EQ(record, "record " + std::to_string(next));
      ++next;
      return true;
    }));
    EXPECT_EQ(next, pushed);
  }
  int calls = 0;
  ASSERT_TRUE(queue->Append("last"));
  Checkpointable* const all[] = {queue.get()};
  ASSERT_TRUE(manifest.Commit(all));
  ASSERT_TRUE(ForEachQueued(env, kDir, manifest.sections()[0], [&](std::string_view) {
    ++calls;
    return false;
  }));
  EXPECT_EQ(calls, 1);
}

struct Nothing : DrumSink {
  Status OnAnswer(const DrumAnswer&) override { return {}; }
};

TEST(CommittedTest, ZTuplesAndRowsAreTheWholeDrum) {
  MemEnv env;
  InlineExecutor executor;
  Manifest manifest = Manifest::Open(env, kDir).value();
  DrumOptions options;
  options.name = "d";
  options.value_size = 8;
  options.memory = 1 << 20;
  options.combine = [](char* stored, std::string_view incoming) {
    StoreLe<uint64_t>(stored, LoadLe<uint64_t>(stored) + LoadLe<uint64_t>(incoming.data()));
  };
  auto drum = Drum::Open(env, manifest, executor, options).value();
  Rng rng(5);
  std::map<uint64_t, uint64_t> sums;
  uint64_t added = 0;
  for (int step = 0; step < 12; ++step) {
    for (uint64_t i = rng.Below(3000); i > 0; --i) {
      const uint64_t key = Mix64(rng.Below(2000));
      sums[key] += added;
      ASSERT_TRUE(drum->Add({.op = i % 2 == 0 ? DrumOp::kUpdate : DrumOp::kCheckUpdate,
                             .key = key,
                             .value = Bytes(added),
                             .aux = std::to_string(added)}));
      ++added;
    }
    if (step % 3 != 0 && !drum->RoundActive()) {
      ASSERT_TRUE(drum->StartRound().has_value());
    }
    Nothing nothing;
    const uint64_t max = rng.Below(4000);
    while (drum->ResultsReady()) {
      if (drum->TakeResults(nothing, max).value() < max || step % 2 == 1) break;
    }
    Checkpointable* const all[] = {drum.get()};
    ASSERT_TRUE(manifest.Commit(all));
    const ManifestSection& section = manifest.sections()[0];
    std::map<uint64_t, uint64_t> found;
    for (const auto& [key, sum] : sums) {
      if (const auto value = FindInZ(env, kDir, section, 8, key).value()) found[key] = LoadLe<uint64_t>(value->data());
    }
    EXPECT_EQ(FindInZ(env, kDir, section, 8, 12345).value(), std::nullopt);
    ASSERT_TRUE(ForEachRow(env, kDir, section, 8, [&](DrumOp op, uint64_t key, std::string_view value) {
      EXPECT_NE(op, DrumOp::kCheck);
      found[key] += LoadLe<uint64_t>(value.data());
    }));
    EXPECT_EQ(found, sums) << step;
    uint64_t unanswered = 0;
    std::set<std::string> seen;
    ASSERT_TRUE(ForEachTuple(env, kDir, section, [&](std::string_view aux, bool answered) {
      unanswered += answered ? 0 : 1;
      EXPECT_TRUE(seen.emplace(aux).second);
      return true;
    }));
    EXPECT_EQ(unanswered, drum->waiting()) << step;
    EXPECT_TRUE(seen.empty() || seen.contains(std::to_string(added - 1)));
  }
}

}  // namespace
}  // namespace portolan
