// DRUM's Room: it takes as many tuples as it promises, whatever the keys and texts are; and it always has room again.

#include <gtest/gtest.h>

#include "base/hash.h"
#include "disk/drum.h"
#include "io/executor.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

struct Counting : DrumSink {
  uint64_t answers = 0;
  Status OnAnswer(const DrumAnswer&) override {
    ++answers;
    return {};
  }
};

struct Shape {
  uint64_t memory;
  uint64_t disk;
  unsigned bits;
  size_t value_size;
  int keys;  // 0: hashes, 1: all in one bucket, 2: one bucket after the other
  size_t text;
};

uint64_t KeyOf(const Shape& shape, uint64_t i) {
  if (shape.keys == 0) return Mix64(i);
  if (shape.keys == 1) return i;
  return shape.bits == 0 ? i : (i << (64 - shape.bits)) + i;
}

// Adds to `full` how often there was no room.
void ExpectPromisesKept(const Shape& shape, uint64_t seed, uint64_t& full) {
  SCOPED_TRACE(testing::Message() << "memory " << shape.memory << " disk " << shape.disk << " bits " << shape.bits
                                  << " values " << shape.value_size << " keys " << shape.keys << " text " << shape.text
                                  << " seed " << seed);
  MemEnv env;
  DeferredExecutor executor;
  const Manifest manifest = Manifest::Open(env, "store").value();
  DrumOptions options;
  options.name = "d";
  options.memory = shape.memory;
  options.disk = shape.disk;
  options.bucket_bits = shape.bits;
  options.value_size = shape.value_size;
  options.only_op = DrumOp::kCheckUpdate;
  auto drum = Drum::Open(env, manifest, executor, options).value();
  ASSERT_GE(drum->plan().empty_room(), 100U);
  const std::string value(shape.value_size, 'v');
  Rng rng(seed);
  Counting answers;
  uint64_t added = 0;
  for (int step = 0; step < 40; ++step) {
    const uint64_t room = drum->Room(shape.text);
    if (!drum->RoundActive()) {
      ASSERT_GE(room, drum->plan().empty_room());
    }
    full += room == 0 ? 1 : 0;
    // All of it, or some; large rooms are not filled in one step.
    const uint64_t count = std::min<uint64_t>(rng.Chance(0.5) ? room : rng.Below(room + 1), 12'000);
    for (uint64_t i = 0; i < count; ++i) {
      std::string text(shape.text, '\0');
      for (char& c : text) c = static_cast<char>(rng.Next());
      const Status status = drum->Add({.key = KeyOf(shape, added), .value = value, .aux = text});
      ASSERT_TRUE(status) << i << " of " << room << ": " << status.error().ToString();
      ++added;
    }
    if (rng.Chance(0.3)) {
      ASSERT_TRUE(drum->StartRound());
    }
    if (rng.Chance(0.4)) executor.RunAll();
    if (rng.Chance(0.5)) {
      ASSERT_TRUE(drum->TakeResults(answers, rng.Below(30'000)));
    }
  }
  EXPECT_GT(added, drum->plan().empty_room());
  executor.RunAll();
  while (drum->waiting() > 0) {
    ASSERT_TRUE(drum->StartRound());
    executor.RunAll();
    ASSERT_TRUE(drum->TakeResults(answers, ~uint64_t{0}));
  }
  EXPECT_EQ(answers.answers, added);
}

TEST(DrumRoomTest, WhatRoomPromisesIsTaken) {
  uint64_t seed = 0;
  uint64_t full = 0;
  for (const uint64_t disk : {uint64_t{1}, uint64_t{60'000}, uint64_t{1} << 30}) {
    for (const unsigned bits : {0U, 3U, 8U}) {
      for (const int keys : {0, 1, 2}) {
        ExpectPromisesKept({DrumMemoryPlan::kMinMemory, disk, bits, 0, keys, 5}, ++seed, full);
      }
    }
    ExpectPromisesKept({uint64_t{1} << 20, disk, 6, 30, 0, 40}, ++seed, full);
    ExpectPromisesKept({uint64_t{1} << 20, disk, 8, 30, 1, 200}, ++seed, full);
  }
  EXPECT_GT(full, 20U) << "the bounds were hardly ever met";
}

// A sink that fails loses nothing: the answer that met the error comes again, those before it do not.
TEST(DrumRoomTest, AnAnswerThatTheSinkRefusesComesAgain) {
  struct Refusing : DrumSink {
    explicit Refusing(uint64_t seed) : rng(seed) {}
    Status OnAnswer(const DrumAnswer& answer) override {
      if (rng.Chance(0.02)) return Fail(ErrorCode::kIo, "not now");
      lines.push_back(std::string(answer.aux) + (answer.unique ? "+" : "=" + std::string(answer.value)));
      return {};
    }
    Rng rng;
    std::vector<std::string> lines;
  };
  for (const bool mixed : {false, true}) {
    MemEnv env;
    InlineExecutor executor;
    const Manifest manifest = Manifest::Open(env, "store").value();
    DrumOptions options;
    options.name = "d";
    options.memory = DrumMemoryPlan::kMinMemory;
    options.value_size = 4;
    if (!mixed) options.only_op = DrumOp::kCheckUpdate;
    auto drum = Drum::Open(env, manifest, executor, options).value();
    Refusing sink(7);
    std::vector<std::string> expected;
    uint64_t refused = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::string aux = std::to_string(i);
      const std::string value = std::to_string(1000 + i);
      const bool silent = mixed && i % 3 == 0;
      ASSERT_TRUE(drum->Add({.op = silent ? DrumOp::kUpdate : DrumOp::kCheckUpdate,
                             .key = Mix64(static_cast<uint64_t>(i % 700)),
                             .value = value,
                             .aux = aux}));
      if (!silent) expected.push_back(aux + (i < 700 ? "+" : "=" + std::to_string(1000 + i - 700)));
    }
    ASSERT_TRUE(drum->StartRound());
    while (drum->waiting() > 0) {
      const uint64_t before = drum->waiting();
      const auto taken = drum->TakeResults(sink, 500);
      if (taken) {
        ASSERT_EQ(before - drum->waiting(), *taken);
      } else {
        ++refused;
      }
    }
    EXPECT_GT(refused, 20U);
    EXPECT_EQ(sink.lines, expected);
  }
}

}  // namespace
}  // namespace portolan
