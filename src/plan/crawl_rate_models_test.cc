// Tables V, VI and VII of the thesis, figure by figure, and the rates that its text derives.

#include "plan/crawl_rate_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "plan/printed_figure.h"
#include "plan/url_check_models.h"

namespace portolan {
namespace {

constexpr double kLinksPerPage = 59;
constexpr double kDiskSpeed = 101.25e6;  // W: 15 % of 675 MB/s
const UrlCheckParams kParams;

double GrowingDisk(double links) { return std::max(kParams.unique * kParams.hash_bytes * links, 1e12); }

TEST(CrawlRateModelsTest, DiskRateOfTheText) {
  const double links = kLinksPerPage * 8e12;
  const double drum = DrumAlpha(kParams, links, 8e9, GrowingDisk(links));
  const double mercator = MercatorBAlpha(kParams, links, 8e9);
  const double rate = DiskRate(kDiskSpeed, drum, kParams.url_bytes, kLinksPerPage);
  EXPECT_TRUE(IsPrintedAs(rate, "4192"));
  EXPECT_TRUE(IsPrintedAs(rate * 21.5e3 * 8 / 1e6, "721"));
  EXPECT_TRUE(IsPrintedAs(mercator / drum, "3075"));
  EXPECT_TRUE(IsPrintedAs(DiskRate(kDiskSpeed, mercator, kParams.url_bytes, kLinksPerPage), "1.4"));
  EXPECT_TRUE(
      IsPrintedAs(DiskRate(kDiskSpeed, PolybotAlpha(kParams, links, 8e9), kParams.url_bytes, kLinksPerPage), "0.2"));
}

TEST(CrawlRateModelsTest, TableFiveSpeedOfCaches) {
  constexpr double kCpu = 4000;  // S_max of the text
  EXPECT_TRUE(IsPrintedAs(CacheRate(113e3, kLinksPerPage, kCpu), "1295"));
  EXPECT_TRUE(IsPrintedAs(CacheRate(185e3, kLinksPerPage, kCpu), "1757"));
  EXPECT_TRUE(IsPrintedAs(CacheRate(416e3, kLinksPerPage, kCpu), "2552"));
  EXPECT_TRUE(IsPrintedAs(CacheRate(2e6, kLinksPerPage, kCpu), "3577"));
  // The last two rows exceed S_max = 4000, which equation (21) cannot: they were computed with 6000.
  constexpr double kCpuOfLastRows = 6000;
  EXPECT_TRUE(IsPrintedAs(CacheRate(77e6, kLinksPerPage, kCpuOfLastRows), "5972"));
  EXPECT_TRUE(IsPrintedAs(CacheRate(277e6, kLinksPerPage, kCpuOfLastRows), "5992"));
  EXPECT_LT(CacheRate(277e6, kLinksPerPage, kCpu), kCpu);
}

TEST(CrawlRateModelsTest, CacheRateOfAnyCpuShareAgreesWithTheClosedForm) {
  for (const double speed : {113e3, 2e6, 277e6}) {
    const double general = CacheRate(speed, kLinksPerPage, [](double rate) { return rate / 4000; }, 1e6);
    EXPECT_NEAR(general, CacheRate(speed, kLinksPerPage, 4000), 1e-6);
  }
  EXPECT_EQ(CacheRate(std::numeric_limits<double>::infinity(), kLinksPerPage, 4000), 4000);
}

TEST(CrawlRateModelsTest, TableSixOverheadBehindACache) {
  // π = 0.33 and c = 320 MB decimal. D(n) is taken of the links that pass the cache: D(πn).
  constexpr double kMiss = 0.33;
  constexpr double kCache = 320e6;
  struct Row {
    double pages;
    const char* mercator4;
    const char* drum4;
    const char* mercator8;
    const char* drum8;
  };
  for (const Row& row : {Row{800e6, "3.02", "2.27", "2.54", "2.27"}, Row{8e9, "10.4", "2.4", "6.1", "2.4"},
                         Row{80e9, "84", "3.3", "41", "3.3"}, Row{800e9, "823", "3.3", "395", "3.3"},
                         Row{8e12, "8,211", "4.5", "3,935", "3.3"}}) {
    const double links = kMiss * kLinksPerPage * row.pages;
    const double disk = GrowingDisk(links);
    EXPECT_TRUE(IsPrintedAs(MercatorBAlpha(kParams, links, 4e9 - kCache), row.mercator4)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(DrumAlpha(kParams, links, 4e9 - kCache, disk), row.drum4)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(MercatorBAlpha(kParams, links, 8e9 - kCache), row.mercator8)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(DrumAlpha(kParams, links, 8e9 - kCache, disk), row.drum8)) << row.pages;
  }
  // D(n) of all links would be printed as 2.6.
  EXPECT_FALSE(IsPrintedAs(
      DrumAlpha(kParams, kMiss * kLinksPerPage * 80e9, 4e9 - kCache, GrowingDisk(kLinksPerPage * 80e9)), "3.3"));
}

// γ = 20 bytes, τ_h = 40 s and W = 101.25 MB/s are in the text. The rest is inferred from the 20 figures, which come
// out with it and not without it: c in steps of 50 MB; the second step of π(c, S) at 2γτ_h·l·S (the text says 4); and
// D(n) = max(2UH + pHn, 10^12) of the links behind the cache (the text leaves out 2UH, which shows in one row only:
// 18,014 instead of 18,023 for 80 billion pages).
class TableSevenTest : public ::testing::Test {
 protected:
  static double Best(double pages, double ram, bool drum, double second_step = 2, double seen_in_disk = 2,
                     double cache_step = 50e6) {
    HybridModel model;
    model.disk_bytes_per_s = kDiskSpeed;
    model.links = kLinksPerPage * pages;
    model.ram = ram;
    model.miss = CacheMissSteps{.second_step = second_step};
    model.alpha = [=](double links, double left) {
      if (!drum) return MercatorBAlpha(kParams, links, left);
      const double grown = kParams.hash_bytes * (seen_in_disk * kParams.seen + kParams.unique * links);
      return DrumAlpha(kParams, links, left, std::max(grown, 1e12));
    };
    const auto unlimited = [](double) { return std::numeric_limits<double>::infinity(); };
    return OptimalCache(model, unlimited, ram - DrumMinimumRam(kParams), cache_step).pages_per_s;
  }
};

TEST_F(TableSevenTest, LargestHybridRates) {
  struct Row {
    double pages;
    const char* mercator4;
    const char* drum4;
    const char* mercator8;
    const char* drum8;
  };
  for (const Row& row :
       {Row{800e6, "18,051", "26,433", "23,242", "26,433"}, Row{8e9, "6,438", "25,261", "10,742", "25,261"},
        Row{80e9, "1,165", "18,023", "2,262", "18,023"}, Row{800e9, "136", "18,023", "274", "18,023"},
        Row{8e12, "13.9", "11,641", "27.9", "18,023"}}) {
    EXPECT_TRUE(IsPrintedAs(Best(row.pages, 4e9, false), row.mercator4)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(Best(row.pages, 4e9, true), row.drum4)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(Best(row.pages, 8e9, false), row.mercator8)) << row.pages;
    EXPECT_TRUE(IsPrintedAs(Best(row.pages, 8e9, true), row.drum8)) << row.pages;
  }
}

TEST_F(TableSevenTest, TheStepsAndTheDiskOfTheTextGiveOtherFigures) {
  EXPECT_TRUE(IsPrintedAs(Best(800e6, 4e9, false, 4), "14,251"));
  EXPECT_TRUE(IsPrintedAs(Best(800e6, 4e9, true, 4), "20,656"));
  EXPECT_TRUE(IsPrintedAs(Best(80e9, 8e9, true, 2, 0), "18,014"));
  EXPECT_FALSE(IsPrintedAs(Best(800e6, 4e9, false, 2, 2, 10e6), "18,051"));
  EXPECT_FALSE(IsPrintedAs(Best(80e9, 4e9, false, 2, 2, 10e6), "1,165"));
}

TEST(CrawlRateModelsTest, MissRateStepsAreThoseOfTheText) {
  const CacheMissSteps miss;
  const double unit = 20 * 40 * 59 * 1000.0;  // γ τ_h l S at 1000 pages/s
  EXPECT_EQ(miss(0, 1000), 1);
  EXPECT_EQ(miss(0.5 * unit, 1000), 0.84);
  EXPECT_EQ(miss(1.5 * unit, 1000), 0.38);
  EXPECT_EQ(miss(5 * unit, 1000), 0.26);
  EXPECT_EQ(miss(10 * unit, 1000), 0.22);
}

HybridModel SimpleModel() {
  HybridModel model;
  model.disk_bytes_per_s = kDiskSpeed;
  model.links = 59e9;
  model.ram = 1e9;
  model.miss = CacheMissSteps{};
  model.alpha = [](double links, double ram) { return DrumAlpha(kParams, links, ram, 1e12); };
  return model;
}

TEST(CrawlRateModelsTest, HybridRateSolvesItsEquationAndIsTheDiskRateWithoutCache) {
  const HybridModel model = SimpleModel();
  const double without = HybridRate(model, 0);
  EXPECT_NEAR(without / DiskRate(kDiskSpeed, model.alpha(model.links, model.ram), 110, kLinksPerPage), 1, 1e-9);
  const double cache = 100e6;
  const double rate = HybridRate(model, cache);
  const auto moved = [&](double at) {
    const double miss = model.miss(cache, at);
    return at * model.alpha(miss * model.links, model.ram - cache) * miss;
  };
  EXPECT_LE(moved(rate), kDiskSpeed / (110 * kLinksPerPage));
  EXPECT_GT(moved(rate * 1.0001), kDiskSpeed / (110 * kLinksPerPage));
}

TEST(CrawlRateModelsTest, ASlowCacheIsSwitchedOff) {
  const HybridModel model = SimpleModel();
  const auto slow = [](double cache) { return cache == 0 ? 1e9 : 10.0; };
  const CacheChoice off = OptimalCache(model, slow, 0.9e9, 50e6);
  EXPECT_EQ(off.cache_bytes, 0);
  EXPECT_NEAR(off.pages_per_s, HybridRate(model, 0), 1e-6);
  const auto fast = [](double) { return 1e9; };
  const CacheChoice on = OptimalCache(model, fast, 0.9e9, 50e6);
  EXPECT_GT(on.cache_bytes, 0);
  EXPECT_GT(on.pages_per_s, off.pages_per_s);
}

}  // namespace
}  // namespace portolan
