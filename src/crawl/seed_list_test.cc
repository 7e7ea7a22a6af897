#include "crawl/seed_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crawl/hash_key_store.h"
#include "disk/committed.h"
#include "flow/url_record.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const HashKey kKey({1, 2, 3, 4});

Status Write(Env& env, const std::vector<std::string>& seeds, const HashKey& key = kKey) {
  ASSIGN_OR_RETURN(SeedWriter writer, SeedWriter::Open(env, "state", key));
  for (const std::string& seed : seeds) {
    RETURN_IF_ERROR(writer.Offer(seed));
    RETURN_IF_ERROR(writer.Keep(seed));
  }
  return writer.Finish();
}

std::vector<std::string> Listed(Env& env) {
  std::vector<std::string> all;
  const auto manifest = Manifest::Read(env, "state");
  if (!manifest) return all;
  EXPECT_TRUE(ForEachListedSeed(env, *manifest, [&](std::string_view url) {
    all.emplace_back(url);
    return true;
  }));
  return all;
}

std::vector<std::string> Offered(Env& env) {
  std::vector<std::string> all;
  const auto manifest = Manifest::Read(env, "state");
  if (!manifest) return all;
  const ManifestSection* queue = manifest->Find(kSeedQueue, DiskQueue::kKind).value();
  EXPECT_TRUE(ForEachQueued(env, "state", *queue, [&](std::string_view record) {
    all.emplace_back(DecodeUrlRecord(record)->url);
    return true;
  }));
  return all;
}

TEST(SeedListTest, WhatIsAppendedFollowsAndTheKeyStays) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("state"));
  ASSERT_TRUE(Write(env, {"http://a.example/", "http://b.example/"}));
  ASSERT_TRUE(Write(env, {"http://c.example/"}, HashKey({9, 9, 9, 9})));
  EXPECT_THAT(Listed(env), ElementsAre("http://a.example/", "http://b.example/", "http://c.example/"));
  EXPECT_THAT(Offered(env), ElementsAre("http://a.example/", "http://b.example/", "http://c.example/"));
  EXPECT_EQ(HashKeyStore::Read(Manifest::Read(env, "state").value()).value(), kKey);
}

TEST(SeedListTest, OtherSectionsStayAsTheyAre) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("state"));
  Manifest manifest = Manifest::Open(env, "state").value();
  auto other = DiskQueue::Open(env, manifest, {.name = "other"}).value();
  ASSERT_TRUE(other->Append("record"));
  HashKeyStore key(kKey);
  Checkpointable* const all[] = {other.get(), &key};
  ASSERT_TRUE(manifest.Commit(all));
  const ManifestSection before = *manifest.Find("other", DiskQueue::kKind).value();
  other.reset();
  ASSERT_TRUE(Write(env, {"http://a.example/"}));
  const Manifest after = Manifest::Read(env, "state").value();
  EXPECT_EQ(*after.Find("other", DiskQueue::kKind).value(), before);
  EXPECT_EQ(after.sequence(), 2U);
}

// All of them or none, wherever the power cut happens.
TEST(SeedListTest, CutAtEveryOperation) {
  std::vector<std::string> seeds;
  for (int i = 0; i < 3000; ++i) seeds.push_back("http://h" + std::to_string(i) + ".example/");
  bool whole = false;
  for (uint64_t at = 1; !whole; ++at) {
    MemEnv mem;
    ASSERT_TRUE(mem.CreateDirs("state"));
    ASSERT_TRUE(Write(mem, {"http://first.example/"}));
    FaultyEnv env(mem, {.power_cut_at = at});
    whole = Write(env, seeds).has_value();
    mem.Crash(CrashMode::kLoseUnsynced);
    const std::vector<std::string> left = Offered(mem);
    ASSERT_TRUE(left.size() == 1 || left.size() == 1 + seeds.size()) << at << ": " << left.size();
    ASSERT_EQ(Listed(mem), left) << at;
    ASSERT_TRUE(!whole || left.size() == 1 + seeds.size()) << at;
  }
}

TEST(SeedListTest, TooManyNamesAreRefused) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("state"));
  std::vector<std::string> seeds;
  for (int i = 0; i < 6000; ++i)
    seeds.push_back("http://h" + std::to_string(i % 3000) + ".example/" + std::to_string(i));
  ASSERT_TRUE(Write(env, seeds));
  const Manifest manifest = Manifest::Read(env, "state").value();
  EXPECT_EQ(ReadSeedNames(env, manifest, ScopeMode::kHost, kKey, 3000)->size(), 3000U);
  const auto refused = ReadSeedNames(env, manifest, ScopeMode::kHost, kKey, 2999);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("--scope any"));
  EXPECT_EQ(ReadSeedNames(env, manifest, ScopeMode::kAny, kKey, 0)->size(), 0U);
}

}  // namespace
}  // namespace portolan
