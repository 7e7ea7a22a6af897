// A DRUM that is opened from a manifest: one whose numbers do not fit, and one with other options than before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/hash.h"
#include "disk/drum.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::StartsWith;

struct Uniques : DrumSink {
  std::vector<std::string> lines;
  Status OnAnswer(const DrumAnswer& answer) override {
    lines.push_back(std::string(answer.aux) + (answer.unique ? "+" : "-"));
    return {};
  }
};

DrumOptions SmallSet() {
  DrumOptions options;
  options.name = "seen";
  options.memory = DrumMemoryPlan::kMinMemory;
  options.only_op = DrumOp::kCheckUpdate;
  return options;
}

class DrumRestoreTest : public testing::Test {
 protected:
  // Z, a sealed batch of which 3 answers are taken, and an open one with a run and a row log.
  void SetUp() override {
    Manifest manifest = Manifest::Open(env_, "store").value();
    auto drum = Drum::Open(env_, manifest, executor_, SmallSet()).value();
    Uniques answers;
    Add(*drum, 0, 50);
    ASSERT_TRUE(drum->Drain(answers));
    Add(*drum, 50, 60);
    ASSERT_TRUE(drum->StartRound());
    ASSERT_EQ(drum->TakeResults(answers, 3).value(), 3U);
    Add(*drum, 60, 20'000);
    ASSERT_GT(drum->spilled_rows(), 0U);
    Checkpointable* const all[] = {drum.get()};
    ASSERT_TRUE(manifest.Commit(all));
    section_ = manifest.sections()[0];
  }
  static void Add(Drum& drum, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) ASSERT_TRUE(drum.Add({.key = Mix64(i), .aux = std::to_string(i)}));
  }
  // The result of opening it after the manifest's section was changed.
  Status After(const std::function<void(ManifestSection&)>& change) {
    auto env = env_.CrashedCopy(CrashMode::kKeepAll);
    ManifestSection section = section_;
    change(section);
    RETURN_IF_ERROR(Manifest::Read(*env, "store").value().WriteNext(std::span(&section, 1)));
    const Manifest manifest = Manifest::Open(*env, "store").value();
    ASSIGN_OR_RETURN(auto drum, Drum::Open(*env, manifest, executor_, SmallSet()));
    Uniques answers;
    return drum->Drain(answers);
  }
  std::string Key(const char* batch, const char* number) const {
    return "batch." + std::to_string(section_.numbers.at(batch)) + "." + number;
  }

  MemEnv env_;
  InlineExecutor executor_;
  ManifestSection section_;
};

TEST_F(DrumRestoreTest, NumbersThatDoNotFitAreCorrupt) {
  ASSERT_TRUE(After([](ManifestSection&) {}));
  const auto corrupt = [&](const std::string& key, uint64_t value) {
    SCOPED_TRACE(testing::Message() << key << " " << value);
    ASSERT_TRUE(section_.numbers.contains(key));
    ASSERT_NE(section_.numbers.at(key), value);
    const Status status = After([&](ManifestSection& section) { section.numbers[key] = value; });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().ToString();
    EXPECT_THAT(status.error().message(), StartsWith("drum seen: "));
  };
  const uint64_t sealed = section_.numbers.at("sealed");
  const uint64_t open = section_.numbers.at("open");
  const uint64_t huge = ~uint64_t{0};
  corrupt(Key("sealed", "taken"), section_.numbers.at(Key("sealed", "tuples")) + 1);
  corrupt(Key("sealed", "taken"), huge);
  corrupt(Key("open", "taken"), 1);
  for (const char* batch : {"sealed", "open"}) {
    for (const char* number : {"tuples", "runs", "row_log"}) {
      corrupt(Key(batch, number), section_.numbers.at(Key(batch, number)) + 1);
      corrupt(Key(batch, number), huge);
    }
  }
  corrupt(Key("open", "next_run"), 0);
  corrupt(Key("open", "next_run"), huge);
  corrupt(Key("open", "next_row_log"), 0);
  corrupt("open", 0);
  corrupt("sealed", 0);
  corrupt("next_id", open);
  corrupt("next_id", sealed);
  corrupt("next_id", huge);
  corrupt("bucket_bits", 9);
  corrupt("bucket_bits", 64);
  corrupt("bucket_bits", (uint64_t{1} << 32) + section_.numbers.at("bucket_bits"));
  corrupt("z", 0);
  corrupt("z_keys", 49);
}

TEST_F(DrumRestoreTest, FilesThatDoNotFitAreCorrupt) {
  for (size_t i = 0; i < section_.files.size(); ++i) {
    SCOPED_TRACE(section_.files[i].name);
    const auto corrupt = [&](const std::function<void(ManifestSection&)>& change) {
      const Status status = After(change);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().ToString();
    };
    const auto at = static_cast<ptrdiff_t>(i);
    corrupt([&](ManifestSection& section) { section.files.erase(section.files.begin() + at); });
    corrupt([&](ManifestSection& section) { section.files.push_back(section.files[i]); });
    corrupt([&](ManifestSection& section) { section.files[i].length = 16; });
    corrupt([&](ManifestSection& section) { section.files[i].length = 0; });
    if (i > 0) {
      corrupt([&](ManifestSection& section) { std::swap(section.files[0], section.files[i]); });
    }
  }
}

// ---- with another memory

class DrumMemoryChangeTest : public testing::Test {
 protected:
  static DrumOptions With(uint64_t memory) {
    DrumOptions options = SmallSet();
    options.memory = memory;
    return options;
  }
  // Keys in Z, then `sealed` tuples in a round that never ran and `open` ones behind them; each key comes twice.
  void Fill(const DrumOptions& options, uint64_t sealed, uint64_t open) {
    DeferredExecutor executor;
    Manifest manifest = Manifest::Open(env_, "store").value();
    auto drum = Drum::Open(env_, manifest, executor, options).value();
    const auto add = [&](uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t key = added_++ / 2;
        ASSERT_TRUE(drum->Add({.key = Mix64(key * 17 % 1'000'003), .aux = std::to_string(added_)}));
      }
    };
    Uniques answers;
    add(100);
    ASSERT_TRUE(drum->StartRound());
    executor.RunAll();
    ASSERT_EQ(drum->TakeResults(answers, ~0ULL).value(), 100U);
    add(sealed);
    ASSERT_TRUE(drum->StartRound());
    add(open);
    ASSERT_EQ(drum->spilled_rows(), 0U);
    Checkpointable* const all[] = {drum.get()};
    ASSERT_TRUE(manifest.Commit(all));
    executor.RunAll();
  }
  // All answers of the store as it is.
  static std::vector<std::string> Answers(MemEnv& env, uint64_t memory, uint64_t& spilled) {
    InlineExecutor executor;
    Manifest manifest = Manifest::Open(env, "store").value();
    auto drum = Drum::Open(env, manifest, executor, With(memory));
    if (!drum) return {drum.error().ToString()};
    spilled = (*drum)->spilled_rows();
    Uniques answers;
    EXPECT_TRUE((*drum)->Drain(answers));
    return answers.lines;
  }

  MemEnv env_;
  uint64_t added_ = 0;
};

TEST_F(DrumMemoryChangeTest, LessMemoryGivesTheSameAnswers) {
  Fill(With(4 << 20), 70'000, 60'000);
  uint64_t spilled = 0;
  const auto expected = Answers(*env_.CrashedCopy(CrashMode::kKeepAll), 4 << 20, spilled);
  EXPECT_EQ(spilled, 0U);
  EXPECT_EQ(expected.size(), 130'000U);
  for (const uint64_t memory : {256U << 10, 300U << 10, 1U << 20, 2U << 20}) {
    EXPECT_EQ(Answers(*env_.CrashedCopy(CrashMode::kKeepAll), memory, spilled), expected) << memory;
    EXPECT_EQ(spilled > 0, memory < 2 << 20) << memory;
  }
}

TEST_F(DrumMemoryChangeTest, WhatWasWrittenOutIsCommittedLikeAnythingElse) {
  Fill(With(4 << 20), 70'000, 60'000);
  uint64_t spilled = 0;
  const auto expected = Answers(*env_.CrashedCopy(CrashMode::kKeepAll), 4 << 20, spilled);
  DeferredExecutor executor;
  {
    Manifest manifest = Manifest::Open(env_, "store").value();
    auto drum = Drum::Open(env_, manifest, executor, With(256 << 10)).value();
    // A crash before the commit finds everything as it was.
    EXPECT_EQ(Answers(*env_.CrashedCopy(CrashMode::kLoseUnsynced), 256 << 10, spilled), expected);
    Checkpointable* const all[] = {drum.get()};
    ASSERT_TRUE(manifest.Commit(all));
    const auto names = env_.List("store").value();
    for (const std::string& name : names) EXPECT_FALSE(name.ends_with(".rows")) << name;
    executor.RunAll();
  }
  EXPECT_EQ(Answers(*env_.CrashedCopy(CrashMode::kLoseUnsynced), 256 << 10, spilled), expected);
  EXPECT_EQ(Answers(*env_.CrashedCopy(CrashMode::kLoseUnsynced), 4 << 20, spilled), expected);
}

TEST_F(DrumMemoryChangeTest, TooLittleMemoryIsSaidWithWhatIsEnough) {
  Fill(With(32 << 20), 900'000, 10);
  uint64_t spilled = 0;
  const auto answers = Answers(*env_.CrashedCopy(CrashMode::kKeepAll), 256 << 10, spilled);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0], StartsWith("invalid argument: drum seen: 262144 bytes of memory are too little"));
  const size_t at = answers[0].rfind(", ") + 2;
  const uint64_t enough = std::stoull(answers[0].substr(at));
  EXPECT_LT(enough, 32U << 20);
  EXPECT_EQ(Answers(*env_.CrashedCopy(CrashMode::kKeepAll), enough, spilled).size(), 900'010U);
}

// However many buckets there are, the least memory has chunks for all of them.
TEST_F(DrumMemoryChangeTest, TheLeastMemoryTakesAnyNumberOfBuckets) {
  for (unsigned bits = 0; bits <= DrumMemoryPlan::kMostBucketBits; ++bits) {
    for (const size_t value_size : {0, 1, 120, 121, 1000, 4096}) {
      DrumOptions options = With(std::max<uint64_t>(DrumMemoryPlan::kMinMemory, (9 + value_size) * 2048));
      options.only_op.reset();
      options.value_size = value_size;
      options.bucket_bits = bits;
      EXPECT_TRUE(DrumMemoryPlan::Make(options)) << bits << " " << value_size;
    }
  }
}

}  // namespace
}  // namespace portolan
