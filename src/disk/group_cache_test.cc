#include "disk/group_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>

#include "base/hash.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "io/executor.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

class GroupCacheTest : public testing::Test {
 protected:
  std::unique_ptr<GroupCache> Open(uint64_t memory) {
    manifest_.emplace(Manifest::Open(env_, "store").value());
    return GroupCache::Open(env_, *manifest_, {.name = "groups", .memory = memory}).value();
  }
  void Commit(GroupCache& cache) {
    Checkpointable* const all[] = {&cache};
    ASSERT_TRUE(manifest_->Commit(all));
  }

  MemEnv env_;
  std::optional<Manifest> manifest_;
};

// The sets as lists: most recent first, a new one in the middle of a full set.
struct CacheModel {
  struct Item {
    uint64_t key;
    uint32_t number;
  };
  size_t sets;
  std::map<uint64_t, std::deque<Item>> lists;

  uint32_t& Touch(uint64_t key) {
    auto& list = lists[(key >> 32) % sets];
    const auto found = std::find_if(list.begin(), list.end(), [&](const Item& item) { return item.key == key; });
    if (found != list.end()) {
      const Item item = *found;
      list.erase(found);
      list.push_front(item);
      return list.front().number;
    }
    if (list.size() == 8) list.pop_back();
    return list.insert(list.begin() + static_cast<ptrdiff_t>(std::min<size_t>(4, list.size())), {key, 0})->number;
  }
};

TEST_F(GroupCacheTest, BehavesLikeListsAcrossCommitsAndCrashes) {
  Rng rng(3);
  auto cache = Open(64 * 16);
  CacheModel model{16, {}};
  CacheModel committed = model;
  std::vector<uint64_t> keys;
  for (int i = 0; i < 400; ++i) keys.push_back(rng.Next());
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t what = rng.Below(1000);
    if (what == 0) {
      Commit(*cache);
      committed = model;
    } else if (what == 1) {
      cache.reset();
      env_.Crash(rng.Below(2) == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn, rng.Next());
      cache = Open(64 * 16);
      model = committed;
    }
    // Small keys come more often.
    const uint64_t key = keys[rng.Below(1 + rng.Below(keys.size()))];
    auto& list = model.lists[(key >> 32) % 16];
    const auto known = std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.key == key; });
    const GroupCache::Entry* found = cache->Find(key);
    ASSERT_EQ(found != nullptr, known != list.end()) << step;
    if (found != nullptr) {
      ASSERT_EQ(found->number(), known->number);
    }
    const auto number = static_cast<uint32_t>(rng.Next());
    cache->Touch(key).set_number(number);
    model.Touch(key) = number;
  }
  EXPECT_EQ(cache->memory(), 1024U);
  EXPECT_GT(cache->forgotten(), 0U);
}

TEST_F(GroupCacheTest, AFloodOfGroupsSeenOnceLeavesTheLiveOnes) {
  auto cache = Open(64 * 64);
  Rng rng(4);
  std::vector<uint64_t> live;
  for (int i = 0; i < 60; ++i) live.push_back(rng.Next());
  for (const uint64_t key : live) cache->Touch(key);
  for (const uint64_t key : live) cache->Touch(key).set_number(7);
  for (int i = 0; i < 100'000; ++i) cache->Touch(rng.Next());
  size_t kept = 0;
  for (const uint64_t key : live) kept += cache->Find(key) != nullptr && cache->Find(key)->number() == 7 ? 1 : 0;
  EXPECT_EQ(kept, live.size());
  EXPECT_EQ(cache->used(), 64U * 8);
}

TEST_F(GroupCacheTest, ACheckpointIsTheMomentOfItsStartWhateverChangesMeanwhile) {
  constexpr uint64_t kMemory = 64 * 32'768;  // several parts, and more than one piece
  Rng rng(5);
  auto cache = Open(kMemory);
  std::vector<uint64_t> keys;
  for (int i = 0; i < 200'000; ++i) {
    keys.push_back(rng.Next());
    cache->Touch(keys.back()).set_number(static_cast<uint32_t>(i));
  }
  for (int round = 0; round < 3; ++round) {
    cache->Touch(keys[0]);  // what has not changed is not written
    std::map<uint64_t, std::optional<uint32_t>> then;
    for (const uint64_t key : keys) {
      const GroupCache::Entry* entry = cache->Find(key);
      then[key] = entry == nullptr ? std::nullopt : std::optional(entry->number());
    }
    DeferredExecutor writer;
    bool done = false;
    cache->StartFlush([&](Status status) {
      ASSERT_TRUE(status);
      done = true;
    });
    const auto disturb = [&] {
      for (int i = 0; i < 5000; ++i) cache->Touch(keys[rng.Below(keys.size())]).set_number(1'000'000);
      for (int i = 0; i < 1000; ++i) cache->Touch(rng.Next());
    };
    int parts = 1;
    for (disturb(); cache->ContinueFlush(writer); ++parts) disturb();
    EXPECT_GT(parts, 4);
    EXPECT_GE(writer.waiting(), 2U);
    EXPECT_FALSE(done);
    disturb();
    writer.RunAll();
    ASSERT_TRUE(done);
    const ManifestSection section = cache->Describe();
    ASSERT_TRUE(manifest_->WriteNext(std::span(&section, 1)));
    Checkpointable* const all[] = {cache.get()};
    ASSERT_TRUE(manifest_->Adopt({section}, all));
    cache.reset();
    env_.Crash(CrashMode::kLoseUnsynced, rng.Next());
    cache = Open(kMemory);
    for (const auto& [key, number] : then) {
      const GroupCache::Entry* entry = cache->Find(key);
      ASSERT_EQ(entry != nullptr, number.has_value()) << round;
      if (number) {
        ASSERT_EQ(entry->number(), *number) << round;
      }
    }
  }
}

TEST(GroupCacheFaultTest, AFailedCheckpointIsMadeAgainThoughNothingChanged) {
  bool over = false;
  for (uint64_t at = 1; !over; ++at) {
    ASSERT_LT(at, 50U);
    MemEnv mem;
    FaultyEnv env(mem);
    Manifest manifest = Manifest::Open(env, "store").value();
    auto cache = GroupCache::Open(env, manifest, {.name = "groups", .memory = 4096}).value();
    Checkpointable* const all[] = {cache.get()};
    cache->Touch(1).set_number(4);
    ASSERT_TRUE(manifest.Commit(all));
    cache->Touch(1).set_number(5);
    env.SetPlan({.fail_at = env.operations() + at});
    over = manifest.Commit(all).has_value();
    env.SetPlan({});
    ASSERT_TRUE(manifest.Commit(all)) << at;
    cache.reset();
    manifest = Manifest::Open(mem, "store").value();
    cache = GroupCache::Open(mem, manifest, {.name = "groups", .memory = 4096}).value();
    ASSERT_NE(cache->Find(1), nullptr);
    EXPECT_EQ(cache->Find(1)->number(), 5U) << at;
    EXPECT_EQ(mem.List("store").value().size(), 2U) << "the manifest and one table";
  }
}

TEST(GroupCacheFaultTest, AFileThatCouldNotBeWrittenIsGone) {
  MemEnv mem;
  FaultyEnv env(mem);
  Manifest manifest = Manifest::Open(env, "store").value();
  auto cache = GroupCache::Open(env, manifest, {.name = "groups", .memory = 4096}).value();
  for (uint64_t i = 0; i < 30; ++i) cache->Touch(Mix64(i)).set_number(4);
  env.SetPlan({.space = 40});
  EXPECT_EQ(cache->Flush().error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(mem.List("store").value().size(), 0U) << "on a full disk its room is needed";
}

TEST_F(GroupCacheTest, AnUnchangedTableIsNotWrittenAgain) {
  auto cache = Open(4096);
  cache->Touch(1).set_number(5);
  Commit(*cache);
  const auto files = env_.List("store").value();
  const std::string file = cache->Describe().files.at(0).name;
  Commit(*cache);
  EXPECT_EQ(cache->Describe().files.at(0).name, file);
  cache->Touch(1).set_number(6);
  Commit(*cache);
  EXPECT_NE(cache->Describe().files.at(0).name, file);
  EXPECT_EQ(env_.List("store").value().size(), files.size()) << "the old one is gone";
}

TEST_F(GroupCacheTest, ATableOfAnotherSizeBeginsEmpty) {
  auto cache = Open(4096);
  cache->Touch(1).set_number(5);
  Commit(*cache);
  cache = Open(8192);
  EXPECT_EQ(cache->Find(1), nullptr);
  cache->Touch(1).set_number(6);
  Commit(*cache);
  cache = Open(8192);
  ASSERT_NE(cache->Find(1), nullptr);
  EXPECT_EQ(cache->Find(1)->number(), 6U);
}

TEST_F(GroupCacheTest, TheExampleOfTheFormat) {
  auto cache = Open(64 * 4);
  GroupCache::Entry& entry = cache->Touch(uint64_t{3} << 32 | 0x11223344);
  entry.first = 9;
  entry.second = 2;
  Commit(*cache);
  const ManifestSection::FileEntry file = cache->Describe().files.at(0);
  EXPECT_EQ(file.name, "groups-000000001.groups");
  auto reader = BlockFileReader::Open(env_, JoinPath("store", file.name), FileKind::kQueue).value();
  const auto block = reader.Next().value();
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->kind, 4);
  RecordBlockReader records;
  records.Start(*block, 0);
  ASSERT_TRUE(records.Next());
  EXPECT_EQ(records.record(), std::string_view("\x03\0\0\0\x44\x33\x22\x11\x09\0\x02\0", 12));
  EXPECT_FALSE(records.Next());
}

TEST_F(GroupCacheTest, DamagedBytesAreCorrupt) {
  auto cache = Open(4096);
  for (uint64_t i = 0; i < 30; ++i) cache->Touch(Mix64(i));
  Commit(*cache);
  env_.Corrupt(JoinPath("store", cache->Describe().files.at(0).name), 60, "??");
  manifest_.emplace(Manifest::Open(env_, "store").value());
  EXPECT_EQ(GroupCache::Open(env_, *manifest_, {.name = "groups", .memory = 4096}).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace portolan
