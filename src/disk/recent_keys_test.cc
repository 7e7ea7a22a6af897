#include "disk/recent_keys.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "io/rng.h"

namespace portolan {
namespace {

TEST(RecentKeysTest, KeepsItsBoundAndIsOffWithoutMemory) {
  EXPECT_FALSE(RecentKeys(0).enabled());
  EXPECT_FALSE(RecentKeys(63).enabled());
  EXPECT_EQ(RecentKeys(64).bytes(), 64U);
  EXPECT_EQ(RecentKeys(1000).bytes(), 512U);
  EXPECT_EQ(RecentKeys(1 << 20).bytes(), 1U << 20);
}

TEST(RecentKeysTest, FindsOnlyWhatWasInserted) {
  for (const uint64_t bytes : {64, 128, 4096, 1 << 18}) {
    RecentKeys recent(bytes);
    std::unordered_set<uint64_t> inserted;
    Rng rng(bytes);
    uint64_t hits = 0;
    for (int i = 0; i < 200'000; ++i) {
      const uint64_t key = rng.Below(1 << 16);
      if (recent.Contains(key)) {
        EXPECT_TRUE(inserted.contains(key));
        ++hits;
      } else {
        recent.Insert(key);
        inserted.insert(key);
      }
    }
    EXPECT_GT(hits, 0U);
  }
}

TEST(RecentKeysTest, AKeyThatIsMetAgainOutlivesThoseThatAreNot) {
  RecentKeys recent(64);  // one line of seven
  recent.Insert(1);
  for (uint64_t key = 2; key < 1000; ++key) {
    EXPECT_TRUE(recent.Contains(1)) << key;
    EXPECT_FALSE(recent.Contains(key));
    recent.Insert(key);
  }
  EXPECT_FALSE(recent.Contains(500));
}

TEST(RecentKeysTest, KeyZeroIsNeverFound) {
  RecentKeys recent(4096);
  EXPECT_FALSE(recent.Contains(0));
  recent.Insert(0);
  EXPECT_FALSE(recent.Contains(0));
}

}  // namespace
}  // namespace portolan
