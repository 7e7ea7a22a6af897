#include "gate/rules_store.h"

#include <gtest/gtest.h>

#include "disk/inspect.h"
#include "io/counting_env.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";

std::string RulesThatForbid(std::string_view path) {
  RobotsRulesBuilder builder;
  builder.Add(path, false);
  return std::move(builder).Build();
}

RulesStore::Options Small() {
  RulesStore::Options options;
  options.memory = 4096;
  options.segment_size = 2000;
  options.slack_s = 10;
  return options;
}

bool Forbids(RulesStore& store, uint64_t position, std::string_view path) {
  const auto rules = store.Get(position);
  EXPECT_TRUE(rules) << rules.error().ToString();
  return rules && *rules != nullptr && !(*rules)->Allows(path) && (*rules)->Allows("/other");
}

TEST(RulesStoreTest, WhatWasPutIsFoundAtItsPosition) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  std::vector<uint64_t> positions;
  for (int i = 0; i < 500; ++i) {
    positions.push_back(store->Put(RulesThatForbid("/p" + std::to_string(i)), 100).value());
  }
  EXPECT_EQ(positions.front(), RulesStore::kFirstPosition);
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
  EXPECT_GT(store->segments(), 10U);
  Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    const size_t which = rng.Below(positions.size());
    ASSERT_TRUE(Forbids(*store, positions[which], "/p" + std::to_string(which) + "/x"));
    ASSERT_LE(store->opened_bytes(), 4096U);
  }
  for (const uint64_t nowhere : {uint64_t{0}, uint64_t{15}, positions.back() + 10'000, RulesStore::kMaxPosition}) {
    EXPECT_EQ(store->Get(nowhere).value(), nullptr) << nowhere;
  }
  EXPECT_EQ(store->Get(positions[3] + 1).value(), nullptr);  // no block begins there
  EXPECT_EQ(store->damaged(), 1U);
}

TEST(RulesStoreTest, WhatWasPutLatelyIsNotReadAndWhatIsReadIsCounted) {
  MemEnv mem;
  CountingEnv env(mem);
  const Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  std::vector<uint64_t> positions;
  for (int i = 0; i < 100; ++i) {
    positions.push_back(store->Put(RulesThatForbid("/p" + std::to_string(i)), 100).value());
    const uint64_t before = env.counters().reads;
    ASSERT_TRUE(Forbids(*store, positions.back(), "/p" + std::to_string(i)));
    ASSERT_EQ(store->Put(RulesThatForbid("/p" + std::to_string(i)), 100).value(), positions.back());
    ASSERT_EQ(env.counters().reads, before);
    ASSERT_LE(store->opened_bytes(), 4096U);
  }
  EXPECT_EQ(store->reads(), 0U);
  ASSERT_TRUE(Forbids(*store, positions[0], "/p0"));
  EXPECT_EQ(store->reads(), 1U);
  ASSERT_TRUE(Forbids(*store, positions[0], "/p0"));
  EXPECT_EQ(store->reads(), 1U);
}

TEST(RulesStoreTest, EqualRulesShareAPositionWithinASegment) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  const uint64_t first = store->Put(RulesThatForbid("/a"), 100).value();
  EXPECT_EQ(store->Put(RulesThatForbid("/a"), 900).value(), first);
  EXPECT_EQ(store->shared(), 1U);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store->Put(RulesThatForbid("/p" + std::to_string(i)), 100));
  EXPECT_NE(store->Put(RulesThatForbid("/a"), 100).value(), first);
  // The shared one keeps its segment until the later of both times.
  store->RemoveExpired(500);
  EXPECT_TRUE(Forbids(*store, first, "/a"));
  EXPECT_LE(store->segments(), 2U);  // that one, and the one being written
  store->RemoveExpired(911);
  EXPECT_EQ(store->Get(first).value(), nullptr);
}

TEST(RulesStoreTest, ExpiredSegmentsLeaveTheDiskAfterACommit) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(store->Put(RulesThatForbid("/p" + std::to_string(i)), 100 + i));
  Checkpointable* const all[] = {store.get()};
  ASSERT_TRUE(manifest.Commit(all));
  const size_t before = env.List(kDir).value().size();
  store->RemoveExpired(10'000);
  EXPECT_EQ(env.List(kDir).value().size(), before);  // the committed state names them
  ASSERT_TRUE(manifest.Commit(all));
  EXPECT_EQ(env.List(kDir).value().size(), 2U);  // the one being written, and the manifest
}

TEST(RulesStoreTest, GoldenBytes) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  const std::string rules = RulesThatForbid("/a");
  ASSERT_EQ(store->Put(rules, 100).value(), 16U);
  const std::string bytes = ReadWholeFile(env, "state/rules-000001.rules").value();
  EXPECT_EQ(bytes.substr(0, 12), std::string_view("PTLRULES\x01\0\0\0", 12));
  EXPECT_EQ(bytes.substr(20, 20), std::string_view("\x2a\0\0\0"   // stored: 42 bytes
                                                   "\x2a\0\0\0"   // raw
                                                   "\x2a\0\0\0"   // plain: all
                                                   "\x01\0\0\0"   // one record
                                                   "\0\x01\0\0",  // codec none, kind 1
                                                   20));
  EXPECT_EQ(bytes.substr(40), rules);
  const auto report = CheckFile(env, "state/rules-000001.rules");
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_EQ(report->kind, "robots rules");
  EXPECT_EQ(report->records, 1U);
}

TEST(RulesStoreTest, DamagedBytesAreNothing) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  const uint64_t first = store->Put(RulesThatForbid("/a"), 100).value();
  const uint64_t second = store->Put(RulesThatForbid("/b"), 100).value();
  Checkpointable* const all[] = {store.get()};
  ASSERT_TRUE(manifest.Commit(all));
  store = RulesStore::Open(env, manifest, Small()).value();  // with nothing in RAM
  env.Corrupt("state/rules-000001.rules", first + 30, "!!");
  EXPECT_EQ(store->Get(first).value(), nullptr);
  EXPECT_TRUE(Forbids(*store, second, "/b"));
  EXPECT_EQ(store->damaged(), 1U);
  EXPECT_FALSE(store->Put("no rules", 100));
}

// After a crash every position of the committed state gives its rules; the log goes on without touching them.
TEST(RulesStoreTest, CrashesLeaveTheCommittedRules) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = 5 + rng.Below(200)});
    std::vector<std::pair<uint64_t, std::string>> put;
    std::vector<std::vector<std::pair<uint64_t, std::string>>> at_commit = {{}};
    uint64_t committed = 0;
    const auto run = [&]() -> Status {
      ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, kDir));
      ASSIGN_OR_RETURN(const auto store, RulesStore::Open(env, manifest, Small()));
      for (int i = 0; i < 300; ++i) {
        const std::string path = "/p" + std::to_string(rng.Below(200));
        ASSIGN_OR_RETURN(const uint64_t position, store->Put(RulesThatForbid(path), 1000));
        put.emplace_back(position, path);
        if (!rng.Chance(0.1)) continue;
        at_commit.push_back(put);
        Checkpointable* const all[] = {store.get()};
        RETURN_IF_ERROR(manifest.Commit(all));
        committed = manifest.sequence();
      }
      return {};
    };
    static_cast<void>(run());
    auto survived = mem.CrashedCopy(static_cast<CrashMode>(rng.Below(3)), seed);
    const Manifest manifest = Manifest::Open(*survived, kDir).value();
    ASSERT_GE(manifest.sequence(), committed);
    ASSERT_LT(manifest.sequence(), at_commit.size());
    auto store = RulesStore::Open(*survived, manifest, Small()).value();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(store->Put(RulesThatForbid("/new" + std::to_string(i)), 1000));
    for (const auto& [position, path] : at_commit[manifest.sequence()]) {
      ASSERT_TRUE(Forbids(*store, position, path)) << "seed " << seed;
    }
  }
}

TEST(RulesStoreTest, AFullDiskIsSaidAndTheLogGoesOn) {
  MemEnv mem;
  FaultyEnv env(mem, {.space = 1500});
  const Manifest manifest = Manifest::Open(env, kDir).value();
  auto store = RulesStore::Open(env, manifest, Small()).value();
  std::vector<std::pair<uint64_t, std::string>> put;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string path = "/p" + std::to_string(i);
    auto position = store->Put(RulesThatForbid(path), 100);
    if (!position) {
      ASSERT_EQ(position.error().code(), ErrorCode::kNoSpace);
      ++refused;
      env.AddSpace(1000);
      position = store->Put(RulesThatForbid(path), 100);
      ASSERT_TRUE(position) << position.error().ToString();
    }
    put.emplace_back(*position, path);
  }
  EXPECT_GT(refused, 2);
  for (const auto& [position, path] : put) ASSERT_TRUE(Forbids(*store, position, path));
}

}  // namespace
}  // namespace portolan
