#include "disk/drum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Answers as text: "aux+" unique, "aux-" duplicate, "aux=value" duplicate with a value.
struct Answers : DrumSink {
  std::vector<std::string> lines;
  Status OnAnswer(const DrumAnswer& answer) override {
    lines.push_back(std::string(answer.aux) +
                    (answer.unique          ? "+"
                     : answer.value.empty() ? "-"
                                            : "=") +
                    std::string(answer.value));
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

class DrumTest : public testing::Test {
 protected:
  std::unique_ptr<Drum> Open(const DrumOptions& options) {
    manifest_.emplace(Manifest::Open(env_, "store").value());
    return Drum::Open(env_, *manifest_, executor_, options).value();
  }

  MemEnv env_;
  InlineExecutor executor_;
  std::optional<Manifest> manifest_;
};

TEST_F(DrumTest, DuplicateInSameBatchIsEmittedOnce) {
  auto drum = Open(SmallSet());
  for (const char* aux : {"a", "b", "a", "c", "b"}) {
    ASSERT_TRUE(drum->Add({.key = Hash64(aux), .aux = aux}));
  }
  Answers answers;
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_THAT(answers.lines, ElementsAre("a+", "b+", "a-", "c+", "b-"));
  EXPECT_EQ(drum->keys(), 3U);
}

TEST_F(DrumTest, LaterBatchKnowsEarlierKeys) {
  auto drum = Open(SmallSet());
  Answers answers;
  ASSERT_TRUE(drum->Add({.key = 1, .aux = "x"}));
  ASSERT_TRUE(drum->Drain(answers));
  ASSERT_TRUE(drum->Add({.key = 1, .aux = "y"}));
  ASSERT_TRUE(drum->Add({.key = 2, .aux = "z"}));
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_THAT(answers.lines, ElementsAre("x+", "y-", "z+"));
  EXPECT_EQ(drum->rounds(), 2U);
}

TEST_F(DrumTest, SinkMayHearOfUniqueKeysOnly) {
  DrumOptions options = SmallSet();
  options.emit_duplicates = false;
  auto drum = Open(options);
  for (const char* aux : {"a", "a", "b"}) ASSERT_TRUE(drum->Add({.key = Hash64(aux), .aux = aux}));
  Answers answers;
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_THAT(answers.lines, ElementsAre("a+", "b+"));
}

TEST_F(DrumTest, RecentKeysSaveTuplesAndChangeNoAnswer) {
  for (const uint64_t recent : {0, 64, 4096, 65536}) {
    DrumOptions options = SmallSet();
    options.name = "seen" + std::to_string(recent);
    options.emit_duplicates = false;
    options.recent_bytes = recent;
    auto drum = Open(options);
    std::unordered_set<uint64_t> model;
    std::vector<std::string> expected;
    Answers answers;
    Rng rng(recent + 1);
    for (int i = 0; i < 60'000; ++i) {
      // Some keys come again soon, others late, and key 0 is one like any other.
      const uint64_t key = rng.Chance(0.5) ? rng.Below(50) : rng.Below(30'000);
      const std::string aux = std::to_string(key);
      if (model.insert(key).second) expected.push_back(aux + "+");
      ASSERT_TRUE(drum->Add({.key = Mix64(key), .aux = aux}));
      if (i % 7'001 == 0) {
        ASSERT_TRUE(drum->Drain(answers));
      }
    }
    ASSERT_TRUE(drum->Drain(answers));
    EXPECT_EQ(answers.lines, expected);
    EXPECT_EQ(drum->known() > 0, recent > 0);
  }
}

TEST_F(DrumTest, MixedOperationsAnswerAsIfOneAtATime) {
  DrumOptions options = SmallSet();
  options.only_op.reset();
  options.value_size = 1;
  auto drum = Open(options);
  const auto add = [&](DrumOp op, uint64_t key, const char* value, const char* aux) {
    ASSERT_TRUE(drum->Add({.op = op, .key = key, .value = value, .aux = aux}));
  };
  add(DrumOp::kCheck, 5, "", "1");
  add(DrumOp::kCheck, 5, "", "2");
  add(DrumOp::kUpdate, 5, "A", "no answer");
  add(DrumOp::kCheck, 5, "", "3");
  add(DrumOp::kCheckUpdate, 5, "B", "4");
  add(DrumOp::kCheckUpdate, 6, "C", "5");
  add(DrumOp::kCheck, 5, "", "6");
  Answers answers;
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_THAT(answers.lines, ElementsAre("1+", "2+", "3=A", "4=A", "5+", "6=B"));
  EXPECT_EQ(drum->keys(), 2U);
}

TEST_F(DrumTest, CombineAddsInsteadOfOverwriting) {
  DrumOptions options = SmallSet();
  options.value_size = 4;
  options.combine = [](char* stored, std::string_view incoming) {
    StoreLe<uint32_t>(stored, LoadLe<uint32_t>(stored) + LoadLe<uint32_t>(incoming.data()));
  };
  auto drum = Open(options);
  struct Last : DrumSink {
    uint32_t value = 0;
    Status OnAnswer(const DrumAnswer& answer) override {
      if (!answer.unique) value = LoadLe<uint32_t>(answer.value.data());
      return {};
    }
  } last;
  for (uint32_t i = 1; i <= 100; ++i) {
    std::string value;
    AppendLe<uint32_t>(value, i);
    ASSERT_TRUE(drum->Add({.key = 9, .value = value}));
    if (i % 30 == 0) {
      ASSERT_TRUE(drum->Drain(last));
    }
  }
  ASSERT_TRUE(drum->Drain(last));
  EXPECT_EQ(last.value, 99U * 100 / 2) << "the hundredth finds the sum of the first ninety-nine";
}

TEST_F(DrumTest, OldEntriesAreExpungedByTheRoundThatMeetsThem) {
  DrumOptions options = SmallSet();
  options.only_op.reset();
  options.value_size = 1;
  bool expire = false;
  options.expunge = [&](uint64_t, std::string_view value) { return expire && value == "o"; };
  auto drum = Open(options);
  Answers answers;
  for (uint64_t key = 0; key < 1000; ++key) {
    ASSERT_TRUE(drum->Add({.op = DrumOp::kUpdate, .key = key * 1'000'003, .value = key % 2 == 0 ? "o" : "n"}));
  }
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_EQ(drum->keys(), 1000U);
  expire = true;
  ASSERT_TRUE(drum->Add({.op = DrumOp::kCheck, .key = 0, .aux = "old"}));
  ASSERT_TRUE(drum->Add({.op = DrumOp::kCheck, .key = 1'000'003, .aux = "new"}));
  ASSERT_TRUE(drum->Drain(answers));
  EXPECT_THAT(answers.lines, ElementsAre("old+", "new=n"));
  EXPECT_EQ(drum->keys(), 500U);
}

TEST_F(DrumTest, HungryCallerGetsAnswersBeforeAnythingIsFull) {
  auto drum = Open(SmallSet());
  EXPECT_FALSE(drum->StartRound().value()) << "nothing to do";
  ASSERT_TRUE(drum->Add({.key = 1, .aux = "only one"}));
  EXPECT_TRUE(drum->StartRound().value());
  Answers answers;
  EXPECT_EQ(drum->TakeResults(answers, 10).value(), 1U);
  EXPECT_THAT(answers.lines, ElementsAre("only one+"));
}

TEST_F(DrumTest, TuplesKeepArrivingWhileARoundWaits) {
  DeferredExecutor deferred;
  manifest_.emplace(Manifest::Open(env_, "store").value());
  auto drum = Drum::Open(env_, *manifest_, deferred, SmallSet()).value();
  Answers answers;
  ASSERT_TRUE(drum->Add({.key = 1, .aux = "a"}));
  ASSERT_TRUE(drum->StartRound().value());
  EXPECT_FALSE(drum->ResultsReady());
  for (uint64_t key = 0; key < 60'000; ++key) ASSERT_TRUE(drum->Add({.key = Mix64(key), .aux = "b"})) << key;
  EXPECT_GT(drum->spilled_rows(), 0U) << "what does not fit waits on disk";
  EXPECT_FALSE(drum->StartRound().value()) << "one round at a time";
  deferred.RunAll();
  EXPECT_TRUE(drum->ResultsReady());
  EXPECT_EQ(drum->TakeResults(answers, 1000).value(), 1U);
  ASSERT_TRUE(drum->StartRound().value());
  deferred.RunAll();
  EXPECT_EQ(drum->TakeResults(answers, ~0ULL).value(), 60'000U);
  EXPECT_EQ(drum->keys(), 60'001U);
}

TEST_F(DrumTest, BoundIsBusyAndTakingResultsFreesIt) {
  DeferredExecutor deferred;
  manifest_.emplace(Manifest::Open(env_, "store").value());
  DrumOptions options = SmallSet();
  options.disk = 100'000;
  auto drum = Drum::Open(env_, *manifest_, deferred, options).value();
  uint64_t added = 0;
  Status status;
  while ((status = drum->Add({.key = Mix64(added), .aux = "some text that takes room"}))) {
    ++added;
    ASSERT_LT(added, 1'000'000U);
  }
  EXPECT_EQ(status.error().code(), ErrorCode::kBusy);
  deferred.RunAll();
  Answers answers;
  ASSERT_GT(drum->TakeResults(answers, ~0ULL).value(), 0U);
  EXPECT_TRUE(drum->Add({.key = Mix64(added), .aux = "now it fits"}));
}

TEST_F(DrumTest, OptionsThatCannotWorkAreNamed) {
  manifest_.emplace(Manifest::Open(env_, "store").value());
  DrumOptions options = SmallSet();
  options.memory = 1000;
  const auto drum = Drum::Open(env_, *manifest_, executor_, options);
  ASSERT_FALSE(drum);
  EXPECT_EQ(drum.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(drum.error().message(), HasSubstr("1000 bytes of memory, at least 262144 are needed"));
}

// ---- the model: a plain map, fed the same tuples one at a time

struct ModelCase {
  unsigned bucket_bits;
  bool mixed;
  size_t value_size;
  uint64_t key_space;  // small: many equal keys
  int key_shape;       // 0 hashes, 1 small numbers (one bucket), 2 edges of the prefixes
  Codec codec;
};

void RunAgainstModel(const ModelCase& test, Env& env, Executor& executor, uint64_t seed, uint64_t count) {
  SCOPED_TRACE(testing::Message() << "bits " << test.bucket_bits << " mixed " << test.mixed << " values "
                                  << test.value_size << " space " << test.key_space << " shape " << test.key_shape
                                  << " seed " << seed);
  DrumOptions options = SmallSet();
  options.name = "m" + std::to_string(seed);
  options.memory = 512 << 10;
  options.bucket_bits = test.bucket_bits;
  options.value_size = test.value_size;
  options.codec = test.codec;
  if (test.mixed) options.only_op.reset();
  Manifest manifest = Manifest::Open(env, "model" + std::to_string(seed)).value();
  auto drum = Drum::Open(env, manifest, executor, options).value();

  Rng rng(seed);
  std::unordered_map<uint64_t, std::string> model;
  std::vector<std::string> expected;
  Answers answers;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t key = rng.Below(test.key_space);
    if (test.key_shape == 0) key = Mix64(key);
    if (test.key_shape == 2) {
      const uint64_t edge = rng.Below(uint64_t{1} << test.bucket_bits);
      key = (test.bucket_bits == 0 ? 0 : edge << (64 - test.bucket_bits)) + (key % 5) - 2;
    }
    const auto op = test.mixed ? static_cast<DrumOp>(rng.Below(3)) : DrumOp::kCheckUpdate;
    std::string value(test.value_size, '\0');
    for (char& c : value) c = static_cast<char>('a' + rng.Below(26));
    const std::string aux = "http://host" + std::to_string(rng.Below(50)) + "/" + std::to_string(i);
    Status status = drum->Add({.op = op, .key = key, .value = value, .aux = aux});
    while (!status && status.error().code() == ErrorCode::kBusy) {
      drum->WaitForRound();
      ASSERT_TRUE(drum->TakeResults(answers, 5000));
      status = drum->Add({.op = op, .key = key, .value = value, .aux = aux});
    }
    ASSERT_TRUE(status) << status.error().ToString();
    const auto stored = model.find(key);
    if (op != DrumOp::kUpdate) {
      expected.push_back(aux + (stored == model.end() ? "+" : test.value_size == 0 ? "-" : "=" + stored->second));
    }
    if (op != DrumOp::kCheck) model[key] = value;
    if (rng.Below(20'000) == 0) {
      ASSERT_TRUE(drum->StartRound());
    }
    if (rng.Below(3'000) == 0) {
      ASSERT_TRUE(drum->TakeResults(answers, 1 + rng.Below(20'000)));
    }
  }
  ASSERT_TRUE(drum->Drain(answers));
  ASSERT_EQ(answers.lines.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(answers.lines[i], expected[i]) << "answer " << i;
  EXPECT_EQ(drum->keys(), model.size());
}

std::vector<ModelCase> ModelCases() {
  std::vector<ModelCase> cases;
  for (unsigned bits = 0; bits <= 8; ++bits) {
    for (const bool mixed : {false, true}) {
      for (const size_t value_size : {0, 3}) {
        const int shape = static_cast<int>((bits + (mixed ? 1 : 0) + value_size) % 3);
        cases.push_back(
            {bits, mixed, value_size, bits % 2 == 0 ? 5'000U : 200'000U, shape, mixed ? Codec::kZstd : Codec::kLz4});
      }
    }
  }
  return cases;
}

TEST(DrumModelTest, EveryBucketCountAndKindAnswersLikeAMap) {
  uint64_t seed = 1;
  for (const ModelCase& test : ModelCases()) {
    MemEnv env;
    InlineExecutor executor;
    RunAgainstModel(test, env, executor, seed++, 40'000);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DrumModelTest, RoundsOnAnotherThreadAnswerLikeAMap) {
  uint64_t seed = 1000;
  for (const ModelCase& test :
       {ModelCase{6, false, 0, 100'000, 0, Codec::kLz4}, ModelCase{3, true, 5, 30'000, 0, Codec::kZstd}}) {
    MemEnv env;
    WorkerPool pool(1);
    RunAgainstModel(test, env, pool, seed++, 150'000);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DrumModelSlowTest, MillionsOfMixedOperationsAnswerLikeAMap) {
  uint64_t seed = 5000;
  for (const ModelCase& test :
       {ModelCase{8, false, 0, 1'000'000, 0, Codec::kLz4}, ModelCase{5, true, 8, 300'000, 0, Codec::kLz4},
        ModelCase{0, true, 1, 50'000, 1, Codec::kZstd}}) {
    MemEnv env;
    WorkerPool pool(1);
    RunAgainstModel(test, env, pool, seed++, 1'000'000);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace portolan
