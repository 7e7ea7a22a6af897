// A crawl on one machine, a copy on another: the copy is at each moment a crawl that can go on.

#include <gtest/gtest.h>

#include <map>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "standby/copied_crawl.h"
#include "standby/copy_source.h"
#include "standby/copy_target.h"

namespace portolan {
namespace {

constexpr uint64_t kId = 0xabcdef;

CopyTargetOptions TargetOptions(bool replace_own = false) {
  return {.dir = "s", .places = TestPlaces(), .replace_own = replace_own};
}

// The machine that works on the crawl.
struct Machine {
  explicit Machine(uint64_t id = kId) : source(held, clock, {.places = TestPlaces(), .history = id}) {
    crawl = CopiedCrawl::Open(held).value();
  }
  CopyTarget::Ask Ask() {
    return [this](const std::string& request) -> Result<std::string> { return source.Answer(request); };
  }
  void StepTo(int items, int salt = 0) {
    while (crawl->items() < items) ASSERT_TRUE(crawl->Step(salt));
  }

  MemEnv env;
  HoldingEnv held{env};
  ManualClock clock;
  CopySource source;
  std::unique_ptr<CopiedCrawl> crawl;
};

std::vector<std::string> Names(const CheckpointFiles& list) {
  std::vector<std::string> names;
  for (const CheckpointFile& file : list.files) {
    names.push_back(JoinPath(*TestPlaces().Dir(file.place), file.name) + " " + std::to_string(file.length));
  }
  return names;
}

void ExpectSameFiles(Env& a, Env& b) {
  const auto first = ListCheckpoint(a, TestPlaces()).value();
  const auto second = ListCheckpoint(b, TestPlaces()).value();
  EXPECT_EQ(first.manifest, second.manifest);
  ASSERT_EQ(Names(first), Names(second));
  for (const CheckpointFile& file : first.files) {
    const std::string path = JoinPath(*TestPlaces().Dir(file.place), file.name);
    EXPECT_EQ(ReadWholeFile(a, path).value().substr(0, file.length),
              ReadWholeFile(b, path).value().substr(0, file.length))
        << path;
  }
}

TEST(CopyTest, ACopyFollowsFromCheckpointToCheckpointAndMovesOnlyWhatIsNew) {
  Machine machine;
  MemEnv there;
  auto target = CopyTarget::Open(there, TargetOptions(), machine.Ask()).value();
  uint64_t moved = 0;
  while (machine.crawl->items() < CopiedCrawl::kItems) {
    ASSERT_TRUE(machine.crawl->Step());
    const auto pass = target->Run();
    ASSERT_TRUE(pass) << pass.error().ToString();
    EXPECT_EQ(pass->sequence, machine.crawl->sequence());
    EXPECT_EQ(machine.source.have(), machine.crawl->sequence());
    EXPECT_EQ(pass->compared, 0U);
    moved += pass->bytes;
    const auto crashed = there.CrashedCopy(CrashMode::kLoseUnsynced);
    EXPECT_EQ(JudgeCrawl(*crashed, "copy"), machine.crawl->items() / 5 * 5);
    if (HasFailure()) return;
  }
  ExpectSameFiles(machine.env, there);
  // Nothing moved twice, but packed files of the crawl log.
  uint64_t whole = 0;
  const CheckpointFiles list = ListCheckpoint(there, TestPlaces()).value();
  for (const CheckpointFile& file : list.files) whole += file.length;
  EXPECT_LT(moved, whole * 2);
}

// Checkpoints and removals of files happen between any two requests.
TEST(CopyTest, ACrawlThatGoesOnMeanwhileIsCopiedWhole) {
  int moved_on = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Machine machine;
    MemEnv there;
    Rng rng(seed);
    const auto ask = [&](const std::string& request) -> Result<std::string> {
      while (machine.crawl->items() < CopiedCrawl::kItems && rng.Below(3) == 0) EXPECT_TRUE(machine.crawl->Step());
      // Somebody else lists, too, or the source gave up waiting: what was held is gone.
      if (rng.Below(20) == 0) {
        machine.clock.Advance(120 * kSecond);
        machine.source.Tick();
      }
      return machine.source.Answer(request);
    };
    auto target = CopyTarget::Open(there, TargetOptions(), ask).value();
    for (int passes = 0; target->sequence() < machine.crawl->sequence() || passes < 3; ++passes) {
      ASSERT_LT(passes, 200);
      const auto pass = target->Run();
      if (pass) {
        const auto crashed = there.CrashedCopy(CrashMode::kTorn, seed);
        EXPECT_GE(JudgeCrawl(*crashed, "seed " + std::to_string(seed)), 0);
      } else {
        ASSERT_EQ(pass.error().code(), ErrorCode::kBusy) << pass.error().ToString();
        ++moved_on;
      }
      if (HasFailure()) return;
    }
    machine.StepTo(CopiedCrawl::kItems);
    // A log that is held as it was before it was packed is listed plain: let go, and list again.
    machine.clock.Advance(120 * kSecond);
    machine.source.Tick();
    ASSERT_TRUE(machine.crawl->Commit());
    while (target->sequence() < machine.crawl->sequence()) static_cast<void>(target->Run());
    ExpectSameFiles(machine.env, there);
  }
  EXPECT_GT(moved_on, 10);
}

TEST(CopyTest, WhatWasHeldIsRemovedWhenNobodyAsksAnyMore) {
  Machine machine;
  MemEnv there;
  auto target = CopyTarget::Open(there, TargetOptions(), machine.Ask()).value();
  machine.StepTo(10);
  ASSERT_TRUE(target->Run());
  machine.StepTo(25);
  EXPECT_GT(machine.held.waiting(), 0U);
  machine.source.Tick();
  EXPECT_GT(machine.held.waiting(), 0U);
  machine.clock.Advance(61 * kSecond);
  machine.source.Tick();
  EXPECT_EQ(machine.held.waiting(), 0U);
}

// Power cuts on the copying machine at each of its operations.
TEST(CopyTest, PowerCutAtEveryOperationLeavesACrawlOrAPartialCopy) {
  constexpr int kSteps[] = {7, 11, 23};
  std::map<uint64_t, int> items_at;
  uint64_t operations = 0;
  const auto run = [&](Env& env) -> Status {
    Machine machine;
    ASSIGN_OR_RETURN(const auto target, CopyTarget::Open(env, TargetOptions(), machine.Ask()));
    for (const int items : kSteps) {
      machine.StepTo(items);
      RETURN_IF_ERROR(target->Run());
      items_at[machine.crawl->sequence()] = items / 5 * 5;
    }
    return {};
  };
  {
    MemEnv base;
    FaultyEnv env(base);
    ASSERT_TRUE(run(env));
    operations = env.operations();
  }
  ASSERT_GT(operations, 100U);
  int partial = 0;
  for (uint64_t at = 1; at <= operations; ++at) {
    MemEnv base;
    FaultyEnv env(base, {.power_cut_at = at});
    ASSERT_FALSE(run(env) && at < operations - 5) << at;
    for (const CrashMode mode : {CrashMode::kLoseUnsynced, CrashMode::kKeepAll, CrashMode::kTorn}) {
      const std::string what = "operation " + std::to_string(at) + ", mode " + std::to_string(static_cast<int>(mode));
      const auto after = base.CrashedCopy(mode, at);
      const auto mark = ReadCopyMark(*after, "s");
      ASSERT_TRUE(mark) << what;
      if (!*mark || !(*mark)->whole) {
        ++partial;
      } else {
        const auto recovered = base.CrashedCopy(mode, at);
        const auto sequence = Manifest::Read(*recovered, TestPlaces().state).value().sequence();
        EXPECT_EQ(JudgeCrawl(*recovered, what), items_at.at(sequence)) << what;
      }
      // Copying goes on from what is there.
      Machine machine;
      machine.StepTo(29);
      const auto target = CopyTarget::Open(*after, TargetOptions(), machine.Ask());
      ASSERT_TRUE(target) << what << ": " << target.error().ToString();
      ASSERT_TRUE((*target)->Run()) << what;
      ExpectSameFiles(machine.env, *after);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(partial, 10);
}

TEST(CopyTest, TheOldHolderComesBackAndCutsWhatItNeverGaveAway) {
  Machine first;
  MemEnv there;
  {
    auto target = CopyTarget::Open(there, TargetOptions(), first.Ask()).value();
    first.StepTo(22);
    ASSERT_TRUE(target->Run());
  }
  first.StepTo(33);  // nobody copies this any more

  // The copy becomes the crawl, and goes on with other bytes under the same names.
  EXPECT_EQ(ReadCopyMark(there, "s").value(), (CopyMark{.whole = true, .history = kId}));
  ASSERT_TRUE(RemoveCopyMark(there, "s"));
  Machine second(7);
  {
    const auto list = ListCheckpoint(there, TestPlaces()).value();
    ASSERT_GT(list.files.size(), 5U);
  }
  HoldingEnv held(there);
  auto crawl = CopiedCrawl::Open(held).value();
  EXPECT_EQ(crawl->items(), 20);
  while (crawl->items() < 30) ASSERT_TRUE(crawl->Step(/*salt=*/3));
  CopySource source(held, second.clock, {.places = TestPlaces(), .history = 7});
  const auto ask = [&](const std::string& request) -> Result<std::string> { return source.Answer(request); };

  // The first machine is not overwritten unasked.
  const auto refused = CopyTarget::Open(first.env, TargetOptions(), ask);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);

  auto back = CopyTarget::Open(first.env, TargetOptions(/*replace_own=*/true), ask).value();
  const auto pass = back->Run();
  ASSERT_TRUE(pass) << pass.error().ToString();
  EXPECT_GT(pass->compared, 0U);
  ExpectSameFiles(there, first.env);
  EXPECT_EQ(JudgeCrawl(first.env, "back"), 30);
}

TEST(CopyTest, ACopyThatNeverWasWholeIsNotTakenOver) {
  Machine machine;
  machine.StepTo(12);
  MemEnv there;
  int answers = 0;
  const auto ask = [&](const std::string& request) -> Result<std::string> {
    if (++answers > 8) return Fail(ErrorCode::kClosed, "no answer");
    return machine.source.Answer(request);
  };
  auto target = CopyTarget::Open(there, TargetOptions(), ask).value();
  EXPECT_EQ(target->Run().error().code(), ErrorCode::kClosed);
  EXPECT_EQ(target->sequence(), 0U);
  EXPECT_EQ(ReadCopyMark(there, "s").value(), (CopyMark{.whole = false, .history = kId}));
}

TEST(CopyTest, BytesThatAreNoAnswerEndThePassAndWriteNothingOutside) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Machine machine;
    machine.StepTo(12);
    MemEnv there;
    Rng rng(seed);
    const auto ask = [&](const std::string& request) -> Result<std::string> {
      std::string answer = machine.source.Answer(request);
      if (rng.Below(6) == 0) answer[rng.Below(answer.size())] = static_cast<char>(rng.Below(256));
      if (rng.Below(20) == 0) answer.resize(rng.Below(answer.size()));
      return answer;
    };
    auto target = CopyTarget::Open(there, TargetOptions(), ask).value();
    for (int i = 0; i < 3; ++i) static_cast<void>(target->Run());
    EXPECT_EQ(*there.List("."), std::vector<std::string>{"s"});
    const std::vector<std::string> here = there.List("s").value();
    for (const std::string& name : here) EXPECT_TRUE(name == kCopyMark || there.List("s/" + name)) << name;
  }
}

TEST(CopyTest, ARequestOfAnyBytesHasAnAnswer) {
  Machine machine;
  machine.StepTo(12);
  Rng rng(1);
  for (int i = 0; i < 5000; ++i) {
    std::string request = EncodeCopyRequest({.kind = static_cast<CopyRequest::Kind>(1 + rng.Below(4)),
                                             .sequence = rng.Below(5),
                                             .index = rng.Below(40),
                                             .offset = rng.Below(3000),
                                             .count = rng.Below(uint64_t{1} << rng.Below(21))});
    if (rng.Below(3) == 0) request[rng.Below(request.size())] = static_cast<char>(rng.Below(256));
    EXPECT_TRUE(DecodeCopyAnswer(machine.source.Answer(request)));
  }
}

}  // namespace
}  // namespace portolan
