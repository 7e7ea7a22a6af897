#include "seen/recent_urls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "io/rng.h"

namespace portolan {
namespace {

TEST(RecentUrlsTest, OffKnowsNothing) {
  RecentUrls recent(63);
  EXPECT_TRUE(recent.off());
  EXPECT_FALSE(recent.SeenRecently(1));
  EXPECT_FALSE(recent.SeenRecently(1));
  recent.Forget(1);
}

TEST(RecentUrlsTest, ZeroIsAHashLikeAnyOther) {
  RecentUrls recent(64);
  EXPECT_FALSE(recent.SeenRecently(0));
  EXPECT_TRUE(recent.SeenRecently(0));
}

TEST(RecentUrlsTest, WhatIsForgottenIsNewAgain) {
  RecentUrls recent(1024);
  EXPECT_FALSE(recent.SeenRecently(77));
  recent.Forget(77);
  recent.Forget(78);
  EXPECT_FALSE(recent.SeenRecently(77));
  EXPECT_TRUE(recent.SeenRecently(77));
}

TEST(RecentUrlsTest, WhatIsAskedForStaysWhileOthersPass) {
  RecentUrls recent(64);  // one set of seven
  recent.SeenRecently(1);
  for (uint64_t other = 100; other < 200; ++other) {
    EXPECT_TRUE(recent.SeenRecently(1)) << other;
    EXPECT_FALSE(recent.SeenRecently(other));
  }
}

TEST(RecentUrlsTest, NeverSaysSeenOfWhatWasNotOffered) {
  RecentUrls recent(64 * 100);
  std::unordered_set<uint64_t> offered;
  Rng rng(1);
  uint64_t hits = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t hash = Mix64(rng.Below(2000));
    const bool seen = recent.SeenRecently(hash);
    hits += seen ? 1 : 0;
    ASSERT_TRUE(!seen || offered.contains(hash));
    offered.insert(hash);
  }
  EXPECT_GT(hits, 40'000U);  // 700 of 2000 fit
}

// Exact least recently used, to compare.
class Lru {
 public:
  explicit Lru(size_t size) : size_(size) {}
  bool Seen(uint64_t hash) {
    if (const auto found = where_.find(hash); found != where_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return true;
    }
    order_.push_front(hash);
    where_[hash] = order_.begin();
    if (order_.size() > size_) {
      where_.erase(order_.back());
      order_.pop_back();
    }
    return false;
  }

 private:
  size_t size_;
  std::list<uint64_t> order_;
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> where_;
};

TEST(RecentUrlsTest, HitsAboutAsOftenAsExactLruOnSkewedLinks) {
  RecentUrls recent(uint64_t{64} << 10);
  Lru lru(recent.entries());
  Rng rng(2);
  constexpr double kUrls = 1e6;
  double hits = 0;
  double lru_hits = 0;
  constexpr int kLinks = 400'000;
  for (int i = 0; i < kLinks; ++i) {
    // Rank r with density 1/r.
    const uint64_t hash = Mix64(static_cast<uint64_t>(std::exp(rng.Uniform() * std::log(kUrls))));
    hits += recent.SeenRecently(hash) ? 1 : 0;
    lru_hits += lru.Seen(hash) ? 1 : 0;
  }
  EXPECT_GT(hits / kLinks, 0.5);
  EXPECT_GT(hits, 0.97 * lru_hits) << hits / kLinks << " against " << lru_hits / kLinks;
}

}  // namespace
}  // namespace portolan
