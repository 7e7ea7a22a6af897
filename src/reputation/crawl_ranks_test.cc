// Ranks over several shards: as if one shard had all domains, or off by a stated error.

#include "reputation/crawl_ranks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/rng.h"
#include "reputation/budget_function.h"

namespace portolan {
namespace {

using InDegrees = std::vector<uint32_t>;

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

InDegreeRanks RanksOf(size_t top, const InDegrees& in_degrees) {
  InDegreeRanks ranks(top);
  for (const uint32_t in_degree : in_degrees) ranks.Add(in_degree);
  return ranks;
}

InDegreeHistogram HistogramOf(size_t top, const InDegrees& in_degrees) {
  InDegreeRanks ranks = RanksOf(top, in_degrees);
  return InDegreeHistogram::Of(ranks);
}

std::vector<InDegreeHistogram::Class> ClassesOf(const InDegreeHistogram& histogram) {
  std::vector<InDegreeHistogram::Class> classes;
  InDegreeHistogram::Reader reader = histogram.classes();
  for (InDegreeHistogram::Class next; reader.Next(next);) classes.push_back(next);
  EXPECT_TRUE(reader.done());
  return classes;
}

InDegrees PowerLaw(size_t count, Rng& rng) {
  InDegrees in_degrees;
  for (size_t i = 0; i < count; ++i) {
    in_degrees.push_back(static_cast<uint32_t>(std::min(std::pow(1.0 - rng.Uniform(), -1.0 / 1.1) - 1.0, 3e9)));
  }
  return in_degrees;
}

// The domains of one crawl, dealt out to shards.
class Split {
 public:
  Split(uint32_t shards, InDegrees all, Rng& rng) : all_(std::move(all)), parts_(shards) {
    for (const uint32_t in_degree : all_) parts_[rng.Below(shards)].push_back(in_degree);
    std::sort(all_.begin(), all_.end(), std::greater<>());
  }
  const InDegrees& all() const { return all_; }
  const std::vector<InDegrees>& parts() const { return parts_; }

  // As shard `here` sees it once the others have told it.
  OtherShards OthersOf(uint32_t here, size_t top, size_t max_bytes = 1 << 20) const {
    OtherShards others(static_cast<uint32_t>(parts_.size()), max_bytes);
    for (uint32_t shard = 0; shard < parts_.size(); ++shard) {
      if (shard != here) others.Take(shard, HistogramOf(top, parts_[shard]));
    }
    return others;
  }
  // Domains of the crawl with a larger in-degree, and with that one.
  uint64_t Above(uint32_t in_degree) const {
    return static_cast<uint64_t>(std::lower_bound(all_.begin(), all_.end(), in_degree, std::greater<>()) -
                                 all_.begin());
  }
  uint64_t Equal(uint32_t in_degree) const {
    return static_cast<uint64_t>(std::upper_bound(all_.begin(), all_.end(), in_degree, std::greater<>()) -
                                 all_.begin()) -
           Above(in_degree);
  }

 private:
  InDegrees all_;
  std::vector<InDegrees> parts_;
};

TEST(InDegreeHistogramTest, GoldenBytes) {
  InDegrees in_degrees{300, 300, 7, 0};
  EXPECT_EQ(Hex(HistogramOf(100, in_degrees).bytes()),
            "04"    // domains,
            "03"    // linked,
            "df04"  // and their in-degrees added up: 607
            "02"    // exact classes,
            "00"    // buckets
            "07"    // the smallest in-degree that is counted
            "ac0202"
            "a50201");
  // 1,024 exact ones, two in the bucket of 520 to 527, two in that of 512 to 519, two in that of 300 to 303. The heap
  // is full then.
  in_degrees.insert(in_degrees.end(), 1024, 10'000);
  in_degrees.insert(in_degrees.end(), {527, 521, 519, 513});
  EXPECT_EQ(Hex(HistogramOf(1030, in_degrees).bytes()),
            "8808"      // 1,032
            "8708"      // 1,031
            "ff94f104"  // 10,242,687
            "01"
            "03"
            "ac02"
            "904e8008"
            "810202"  // bucket 257 = 3 x 64 + (520 >> 3)
            "0102"
            "3502");
}

TEST(InDegreeHistogramTest, TheTopIsExactAndTheRestInNarrowBuckets) {
  Rng rng(1);
  const InDegrees in_degrees = PowerLaw(400'000, rng);
  const size_t top = 10'000;
  const InDegreeHistogram histogram = HistogramOf(top, in_degrees);
  EXPECT_LT(histogram.bytes().size(), 4000U);
  uint64_t counted = 0;
  for (const InDegreeHistogram::Class& next : ClassesOf(histogram)) {
    const auto in_class = std::count_if(in_degrees.begin(), in_degrees.end(), [&](uint32_t in_degree) {
      return in_degree >= next.least && in_degree <= next.most;
    });
    ASSERT_EQ(next.count, static_cast<uint64_t>(in_class)) << next.least << " to " << next.most;
    if (counted < InDegreeHistogram::kExact) {
      ASSERT_EQ(next.least, next.most);
    }
    ASSERT_LT(next.most - next.least, std::max(1.0, next.least / 64.0));
    counted += next.count;
  }
  EXPECT_GE(counted, top);
  const auto again = InDegreeHistogram::Decode(histogram.bytes());
  ASSERT_TRUE(again);
  EXPECT_EQ(ClassesOf(*again), ClassesOf(histogram));
  EXPECT_EQ(again->domains(), in_degrees.size());
}

TEST(InDegreeHistogramTest, TheLargestFitsItsBound) {
  InDegrees in_degrees;
  for (uint32_t i = 0; i < BudgetFunction::kMaxRanks; ++i) in_degrees.push_back(UINT32_MAX - 131'000 * i);
  EXPECT_TRUE(InDegreeHistogram::Decode(HistogramOf(BudgetFunction::kMaxRanks, in_degrees).bytes()));
  // Every in-degree above the buckets, and every bucket, is there.
  in_degrees.clear();
  for (uint32_t i = 0; i < 1024; ++i) in_degrees.push_back(UINT32_MAX - (i << 15));
  for (double in_degree = UINT32_MAX - (1024 << 15); in_degree >= 1; in_degree /= 1.001) {
    in_degrees.push_back(static_cast<uint32_t>(in_degree));
  }
  const InDegreeHistogram histogram = HistogramOf(BudgetFunction::kMaxRanks, in_degrees);
  EXPECT_GT(ClassesOf(histogram).size(), 2700U);
  EXPECT_LT(histogram.bytes().size(), InDegreeHistogram::kMaxBytes);
  EXPECT_TRUE(InDegreeHistogram::Decode(histogram.bytes()));
}

TEST(InDegreeHistogramTest, CutOrChangedBytesAreNamedOrDecodeToSomethingWhole) {
  Rng rng(2);
  const std::string bytes = HistogramOf(3000, PowerLaw(20'000, rng)).bytes();
  ASSERT_TRUE(InDegreeHistogram::Decode(bytes));
  for (size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(InDegreeHistogram::Decode(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(InDegreeHistogram::Decode(bytes + '\0'));
  EXPECT_FALSE(InDegreeHistogram::Decode(std::string(InDegreeHistogram::kMaxBytes + 1, '\x01')));
  int valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    changed[rng.Below(changed.size())] = static_cast<char>(rng.Below(256));
    const auto histogram = InDegreeHistogram::Decode(changed);
    if (!histogram) continue;
    ++valid;
    uint64_t below = uint64_t{1} << 32;
    uint64_t counted = 0;
    for (const InDegreeHistogram::Class& next : ClassesOf(*histogram)) {
      ASSERT_TRUE(next.least > 0 && next.least <= next.most && next.most < below && next.count > 0);
      below = next.least;
      counted += next.count;
    }
    ASSERT_LE(counted, histogram->linked());
  }
  EXPECT_LT(valid, 15'000);
}

TEST(CrawlRanksTest, AreThoseOfAllDomainsTogether) {
  Rng rng(3);
  const size_t top = 10'000;
  for (const uint32_t shards : {2U, 5U, 16U}) {
    SCOPED_TRACE(shards);
    const Split split(shards, PowerLaw(400'000, rng), rng);
    for (uint32_t here = 0; here < shards; ++here) {
      const OtherShards others = split.OthersOf(here, top);
      EXPECT_EQ(others.known(), shards);
      InDegreeRanks own = RanksOf(top, split.parts()[here]);
      CrawlRanks ranks(own, others);
      EXPECT_EQ(ranks.domains(), split.all().size());
      ranks.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t equal) {
        const uint64_t really = split.Above(in_degree);
        if (really < InDegreeHistogram::kExact) {
          ASSERT_EQ(above, really) << in_degree;
          ASSERT_EQ(equal, split.Equal(in_degree)) << in_degree;
        } else if (really < top) {
          // A bucket is narrower than a 64th, so these are no less than the domains of all shards' buckets.
          const auto error =
              static_cast<double>(split.Above(in_degree - in_degree / 64) - split.Above(in_degree + in_degree / 64));
          ASSERT_LE(std::abs(static_cast<double>(above) - static_cast<double>(really)), error) << in_degree;
          ASSERT_LE(std::abs(static_cast<double>(above) - static_cast<double>(really)), 0.01 * top) << in_degree;
        } else {
          ASSERT_GE(above + equal / 2, top * 99 / 100) << in_degree;
        }
      });
    }
  }
}

// Every domain of every shard gets the budget that one shard would give it.
TEST(CrawlRanksTest, BudgetsAreThoseOfOneShard) {
  Rng rng(4);
  for (const char* const text :
       {"ranked top=10000 least=10 most=10000", "ranked top=1000 least=10 most=10000",
        "ranked top=10000 one_in=200 least=1 most=500", "popular top=1000", "equal budget=7"}) {
    SCOPED_TRACE(text);
    const auto function = ParseBudgetFunction(text).value();
    const size_t top = function->ranks();
    const Split split(5, PowerLaw(300'000, rng), rng);
    InDegreeRanks whole = RanksOf(top, split.all());
    const OtherShards nobody;
    CrawlRanks of_one(whole, nobody);
    const BudgetTable one = function->Make(of_one);
    for (uint32_t here = 0; here < 5; ++here) {
      InDegreeRanks own = RanksOf(top, split.parts()[here]);
      const OtherShards others = split.OthersOf(here, top);
      CrawlRanks ranks(own, others);
      const BudgetTable table = function->Make(ranks);
      double worst = 0;
      for (const uint32_t in_degree : split.parts()[here]) {
        const double wanted = one.BudgetOf(in_degree);
        if (split.Above(in_degree) < InDegreeHistogram::kExact || top <= InDegreeHistogram::kExact) {
          ASSERT_EQ(table.BudgetOf(in_degree), wanted) << in_degree;
        }
        worst = std::max(worst, std::abs(table.BudgetOf(in_degree) - wanted));
      }
      EXPECT_LE(worst, 0.01 * one.steps().back().budget);
    }
  }
}

TEST(CrawlRanksTest, AShardThatIsNotHeardIsTakenForTheMeanOfTheOthers) {
  Rng rng(5);
  const size_t top = 10'000;
  const Split split(5, PowerLaw(200'000, rng), rng);
  InDegreeRanks own = RanksOf(top, split.parts()[0]);
  OtherShards others(5, 1 << 20);
  CrawlRanks alone(own, others);
  EXPECT_EQ(alone.domains(), split.parts()[0].size() * 5);
  alone.ForEachClass([&](uint32_t, uint64_t above, uint64_t equal) { ASSERT_EQ(above % 5 + equal % 5, 0U); });
  for (uint32_t shard = 1; shard < 4; ++shard) others.Take(shard, HistogramOf(top, split.parts()[shard]));
  CrawlRanks some(own, others);
  EXPECT_NEAR(static_cast<double>(some.domains()), 200'000, 4000);
  some.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t) {
    const auto really = static_cast<double>(split.Above(in_degree));
    ASSERT_NEAR(static_cast<double>(above), really, 5 + 4 * std::sqrt(really)) << in_degree;
  });
}

TEST(CrawlRanksTest, OldAndRepeatedHistogramsChangeNothing) {
  OtherShards others(3, 1 << 20);
  const InDegreeHistogram old = HistogramOf(100, {5, 4});
  const InDegreeHistogram now = HistogramOf(100, {50, 4, 3});
  others.Take(1, now);
  const size_t bytes = others.bytes();
  others.Take(1, old);
  others.Take(1, now);
  EXPECT_EQ(others.bytes(), bytes);
  EXPECT_EQ(others.known(), 2U);
  InDegreeRanks own = RanksOf(100, {20});
  CrawlRanks(own, others).ForEachClass([](uint32_t, uint64_t above, uint64_t equal) {
    EXPECT_EQ(above, 1U * 3 / 2);
    EXPECT_EQ(equal, 1U * 3 / 2);
  });
}

TEST(CrawlRanksTest, WhatDoesNotFitIsLeftOut) {
  Rng rng(6);
  const Split split(8, PowerLaw(100'000, rng), rng);
  const OtherShards others = split.OthersOf(0, 1000, /*max_bytes=*/2000);
  EXPECT_GT(others.known(), 1U);
  EXPECT_LT(others.known(), 8U);
  EXPECT_LE(others.bytes(), 2000U);
}

}  // namespace
}  // namespace portolan
