#include "content/near_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "content/near_groups.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using Pairs = std::multiset<std::pair<uint64_t, uint64_t>>;

std::vector<uint64_t> Distinct(std::vector<uint64_t> hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  return hashes;
}

Pairs ByBruteForce(const std::vector<uint64_t>& hashes, int bits) {
  Pairs pairs;
  const std::vector<uint64_t> sorted = Distinct(hashes);
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      if (BitsApart(sorted[i], sorted[j]) <= bits) pairs.emplace(sorted[i], sorted[j]);
    }
  }
  return pairs;
}

struct Search {
  Pairs pairs;
  uint64_t distinct = 0;
  uint64_t parts = 0;
};

Search Find(const std::vector<uint64_t>& hashes, NearPairs::Options options) {
  MemEnv env;
  EXPECT_TRUE(env.CreateDirs("tmp"));
  options.dir = "tmp";
  NearPairs search(env, options);
  for (const uint64_t hash : hashes) EXPECT_TRUE(search.Add(hash));
  Search found;
  EXPECT_TRUE(search.Find([&](uint64_t a, uint64_t b) -> Status {
    found.pairs.emplace(std::min(a, b), std::max(a, b));
    return {};
  }));
  EXPECT_TRUE(env.List("tmp").value().empty());
  found.distinct = search.distinct();
  found.parts = search.parts();
  return found;
}

// The smallest of its group, for each number that is not that itself.
std::map<uint64_t, uint64_t> Groups(const Pairs& pairs, size_t memory = size_t{1} << 20) {
  MemEnv env;
  EXPECT_TRUE(env.CreateDirs("tmp"));
  NearGroups groups(env, {.dir = "tmp", .memory = memory});
  for (const auto& [a, b] : pairs) EXPECT_TRUE(groups.Add(a, b));
  EXPECT_TRUE(groups.Merge());
  std::map<uint64_t, uint64_t> first;
  for (NearGroups::Member member; groups.Next(member).value();) {
    EXPECT_TRUE(first.empty() || first.rbegin()->first < member.number);
    first[member.number] = member.first;
  }
  return first;
}

std::map<uint64_t, uint64_t> GroupsByHand(const Pairs& pairs) {
  std::map<uint64_t, uint64_t> first;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      const auto of = [&](uint64_t n) { return first.contains(n) ? first[n] : n; };
      const uint64_t least = std::min(of(a), of(b));
      for (const uint64_t n : {a, b}) {
        if (of(n) != least) {
          first[n] = least;
          changed = true;
        }
      }
    }
  }
  return first;
}

uint64_t Flip(uint64_t hash, int bits, Rng& rng) {
  for (uint64_t done = 0; bits > 0;) {
    const uint64_t bit = uint64_t{1} << rng.Below(64);
    if ((done & bit) != 0) continue;
    done |= bit;
    hash ^= bit;
    --bits;
  }
  return hash;
}

// Clusters around random hashes, at distances from 0 to 6.
std::vector<uint64_t> Clustered(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<uint64_t> hashes;
  while (hashes.size() < count) {
    const uint64_t centre = rng.Next();
    const uint64_t size = 1 + rng.Below(12);
    for (uint64_t i = 0; i < size; ++i) hashes.push_back(Flip(centre, static_cast<int>(rng.Below(7)), rng));
  }
  return hashes;
}

TEST(NearPairsTest, FindsWhatBruteForceFinds) {
  for (const int bits : {0, 1, 2, 3, 4, 8}) {
    for (const size_t count : {0, 1, 2, 30, 3000}) {
      const std::vector<uint64_t> hashes = Clustered(count, count + static_cast<size_t>(bits));
      const Search found = Find(hashes, {.memory = NearPairs::kMinMemory, .bits = bits});
      EXPECT_EQ(found.pairs, ByBruteForce(hashes, bits)) << count << " hashes, " << bits << " bits";
      EXPECT_EQ(found.distinct, Distinct(hashes).size());
      EXPECT_EQ(found.parts, 0U);
    }
  }
}

// More than fits in memory, so that the sorts go to disk. The pairs are known: random hashes are far from each other.
TEST(NearPairsTest, FindsThemBeyondMemory) {
  Rng rng(7);
  std::vector<uint64_t> hashes;
  Pairs planted;
  for (int i = 0; i < 60'000; ++i) {
    const uint64_t one = rng.Next();
    const int distance = static_cast<int>(rng.Below(5));
    const uint64_t other = Flip(one, distance, rng);
    hashes.push_back(one);
    hashes.push_back(other);
    if (distance >= 1 && distance <= 3) planted.emplace(std::min(one, other), std::max(one, other));
  }
  EXPECT_EQ(Find(hashes, {.memory = NearPairs::kMinMemory}).pairs, planted);
}

TEST(NearPairsTest, AMillionEqualHashesAreOne) {
  const std::vector<uint64_t> hashes(1'000'000, 0x0123456789abcdef);
  const Search found = Find(hashes, {.memory = NearPairs::kMinMemory});
  EXPECT_EQ(found.distinct, 1U);
  EXPECT_TRUE(found.pairs.empty());
}

// All pairs of a subcube: whoever chooses texts can choose that.
TEST(NearPairsTest, ACrowdedCornerIsSearchedToo) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < 1 << 11; ++i) hashes.push_back(0xfeed'0000'0000'0000 | (i & 0x3f) | (i >> 6) << 30);
  EXPECT_EQ(Find(hashes, {.memory = NearPairs::kMinMemory}).pairs, ByBruteForce(hashes, 3));
}

// All at distance 4 of the others in their part, so there is no pair; and at distance 2 of one in the middle.
TEST(NearPairsTest, DistanceFourIsNoPairAndThreeIsOne) {
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 64; i += 2) hashes.push_back(uint64_t{3} << i);
  EXPECT_TRUE(Find(hashes, {.memory = NearPairs::kMinMemory}).pairs.empty());
  hashes.push_back(0);
  EXPECT_EQ(Find(hashes, {.memory = NearPairs::kMinMemory}).pairs.size(), 32U);
  hashes.back() = 7;
  EXPECT_EQ(Find(hashes, {.memory = NearPairs::kMinMemory}).pairs, ByBruteForce(hashes, 3));
}

// A forest has few pairs, and the same clusters.
TEST(NearPairsTest, AForestHasTheSameClusters) {
  std::vector<uint64_t> hashes = Clustered(2000, 99);
  for (uint64_t i = 0; i < 1 << 12; ++i) hashes.push_back(0xfeed'0000'0000'0000 | i);
  const Search all = Find(hashes, {.memory = NearPairs::kMinMemory});
  const Search forest = Find(hashes, {.memory = NearPairs::kMinMemory, .forest = true});
  EXPECT_LE(forest.pairs.size(), 4 * forest.distinct);
  EXPECT_LT(forest.pairs.size(), all.pairs.size() / 10);
  EXPECT_EQ(Groups(forest.pairs), Groups(all.pairs));
}

// Larger than a bucket's memory: what is missed is only what no part holds, and that it was cut is known.
TEST(NearPairsTest, ABucketThatIsTooLargeIsCutAndSaysSo) {
  Rng rng(3);
  std::vector<uint64_t> hashes;
  Pairs near;
  for (int i = 0; i < 20'000; ++i) {
    // The first three blocks are the same for all: only the last one tells them apart in order.
    const uint64_t hash = 0x1111'2222'0000'0000 | (rng.Next() & 0xffff'ffff);
    hashes.push_back(hash);
    hashes.push_back(hash ^ 1);
    near.emplace(hash & ~uint64_t{1}, hash | 1);
  }
  const Search found = Find(hashes, {.memory = NearPairs::kMinMemory});
  EXPECT_GT(found.parts, 0U);
  // Neighbours in value are in one part but for the cuts.
  uint64_t missed = 0;
  for (const auto& pair : near) missed += found.pairs.contains(pair) ? 0 : 1;
  EXPECT_LE(missed, found.parts);
}

TEST(NearPairsTest, AFailingDiskIsAnError) {
  const std::vector<uint64_t> hashes = Clustered(100'000, 5);
  MemEnv mem;
  ASSERT_TRUE(mem.CreateDirs("tmp"));
  uint64_t failed = 0;
  for (uint64_t n = 1; n < 60; n += 7) {
    FaultyEnv env(mem, {.fail_at = n});
    NearPairs search(env, {.dir = "tmp", .memory = NearPairs::kMinMemory});
    Status status;
    for (const uint64_t hash : hashes) {
      if (status = search.Add(hash); !status) break;
    }
    if (status) status = search.Find([](uint64_t, uint64_t) -> Status { return {}; });
    failed += status ? 0 : 1;
  }
  EXPECT_GT(failed, 0U);
}

TEST(NearGroupsTest, GroupsAreThoseOfTheSimpleAlgorithm) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    Pairs pairs;
    const uint64_t numbers = 10 + rng.Below(300);
    for (uint64_t i = rng.Below(numbers * 2); i > 0; --i) pairs.emplace(rng.Below(numbers), rng.Below(numbers));
    std::erase_if(pairs, [](const auto& pair) { return pair.first == pair.second; });
    EXPECT_EQ(Groups(pairs, 4096), GroupsByHand(pairs)) << seed;
  }
}

TEST(NearGroupsTest, ALongChainIsOneGroupAfterFewRounds) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  NearGroups groups(env, {.dir = "tmp", .memory = size_t{1} << 20});
  constexpr uint64_t kLength = 100'000;
  std::vector<uint64_t> order(kLength);
  std::iota(order.begin(), order.end(), 0);
  Rng rng(11);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  for (size_t i = 1; i < order.size(); ++i) ASSERT_TRUE(groups.Add(order[i - 1], order[i]));
  ASSERT_TRUE(groups.Merge());
  uint64_t members = 0;
  for (NearGroups::Member member; groups.Next(member).value(); ++members) ASSERT_EQ(member.first, 0U);
  EXPECT_EQ(members, kLength - 1);
  EXPECT_LE(groups.rounds(), 20);
}

}  // namespace
}  // namespace portolan
