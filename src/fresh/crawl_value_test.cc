#include "fresh/crawl_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "io/rng.h"

namespace portolan {
namespace {

PageValue Known(double importance, double rate) {
  return {.importance = importance, .change = {.shape = 1e7, .rate = 1e7 / rate}};
}

TEST(CrawlValueTest, OfAKnownRateIsThatOfAzar) {
  for (const double rate : {0.01, 0.3, 2.0}) {
    for (const double days : {0.1, 1.0, 7.0, 40.0}) {
      const double x = rate * days;
      const double expected = 3 / rate * (1 - (1 + x) * std::exp(-x));
      EXPECT_NEAR(CrawlValue(Known(3, rate), days), expected, 1e-5 * expected + 1e-12) << rate << " " << days;
    }
  }
}

// Integrals by small steps.
struct Stepped {
  double fresh = 0;
  double length = 0;
  double value = 0;
};
Stepped Step(const PageValue& page, double days) {
  Stepped sum;
  constexpr int kSteps = 60'000;
  for (int i = 0; i < kSteps; ++i) {
    const double t = days * (i + 0.5) / kSteps;
    const double unsignalled = std::exp(-page.signals * t) * days / kSteps;
    sum.fresh += unsignalled * FreshAfter(page, t);
    sum.length += unsignalled;
  }
  sum.value = page.importance * (sum.fresh - FreshAfter(page, days) * sum.length) + page.news * days * days / 2;
  return sum;
}

TEST(CrawlValueTest, IsTheIntegralOfItsDefinition) {
  for (const double shape : {0.05, 0.4, 1.0, 3.0, 30.0}) {
    for (const double signals : {0.0, 0.02, 0.5, 8.0}) {
      for (const double days : {0.05, 1.0, 20.0}) {
        const PageValue page{
            .importance = 2, .change = {.shape = shape, .rate = 2}, .silence = 0.6, .signals = signals};
        const Stepped exact = Step(page, days);
        EXPECT_NEAR(CrawlValue(page, days), exact.value, 1e-2 * exact.value) << shape << " " << signals << " " << days;
        EXPECT_NEAR(MeanFreshness(page, days), exact.fresh / exact.length, 3e-3);
        EXPECT_NEAR(VisitsPerDay(page, days) * exact.length, 1, 1e-6);
      }
    }
  }
}

PageValue Any(Rng& rng) {
  PageValue page;
  page.importance = std::exp(8 * rng.Uniform() - 4);
  page.change = Gamma::FromLog(10 * rng.Uniform() - 6, 4 * rng.Uniform() + 0.01);
  if (rng.Chance(0.5)) {
    page.silence = 0.05 + 0.95 * rng.Uniform();
    page.signals = page.change.mean() * (1 - page.silence);
  }
  if (rng.Chance(0.3)) page.news = std::exp(8 * rng.Uniform() - 6);
  if (rng.Chance(0.1)) page.importance = 0;
  return page;
}

TEST(CrawlValueTest, RisesWithTime) {
  Rng rng(1);
  for (int i = 0; i < 500; ++i) {
    const PageValue page = Any(rng);
    double last = 0;
    for (double days = 1e-3; days < 3000; days *= 1.3) {
      const double value = CrawlValue(page, days);
      ASSERT_GE(value, last * (1 - 5e-3)) << i << " at " << days;
      last = value;
    }
  }
}

TEST(CrawlValueTest, InversionMeetsTheThresholdWhereverThereIsARoot) {
  Rng rng(2);
  constexpr double kLongest = 365;
  int never = 0;
  for (int i = 0; i < 20'000; ++i) {
    const PageValue page = Any(rng);
    const double threshold = std::exp(14 * rng.Uniform() - 10);
    const double days = DaysUntilValue(page, threshold, kLongest);
    ASSERT_GE(days, 0);
    ASSERT_LE(days, kLongest);
    if (days == kLongest) {
      ASSERT_LT(CrawlValue(page, kLongest * 0.999999), threshold * (1 + 1e-3)) << i;
      ++never;
    } else {
      ASSERT_NEAR(CrawlValue(page, days), threshold, 1e-5 * threshold) << i;
    }
  }
  EXPECT_GT(never, 1000);
  EXPECT_LT(never, 15'000);
}

TEST(CrawlValueTest, APageThatChangesTooOftenIsNotWorthAVisitAndADoubtfulOneIs) {
  EXPECT_EQ(DaysUntilValue(Known(1, 50), 0.1, 365), 365);                             // at most 1 / 50
  const PageValue doubtful{.importance = 1, .change = {.shape = 0.5, .rate = 0.01}};  // the same mean
  EXPECT_LT(DaysUntilValue(doubtful, 0.1, 365), 30);
}

TEST(CrawlValueTest, SilenceOfATruthfulHostDelaysVisits) {
  PageValue page{.importance = 1, .change = {.shape = 2, .rate = 10}};
  const double plain = DaysUntilValue(page, 0.5, 365);
  page.silence = 0.1;
  EXPECT_GT(DaysUntilValue(page, 0.5, 365), 2 * plain);
}

// A price at which visits per day are as wanted: the published optimum (Cho and Garcia-Molina 2003, table III).
TEST(CrawlValueTest, OnePriceForAllIsTheOptimum) {
  double low = 1e-6;
  double high = 1;
  const auto visits = [](double price, int rate) {
    const double days = DaysUntilValue(Known(1, rate), price, 1e6);
    return days >= 1e6 ? 0 : 1 / days;
  };
  while (high > low * 1.000001) {
    const double middle = std::sqrt(low * high);
    double sum = 0;
    for (int rate = 1; rate <= 5; ++rate) sum += visits(middle, rate);
    (sum > 5 ? low : high) = middle;
  }
  const double published[] = {1.15, 1.36, 1.35, 1.14, 0.00};
  for (int rate = 1; rate <= 5; ++rate) EXPECT_NEAR(visits(high, rate), published[rate - 1], 0.006) << rate;
}

TEST(CrawlValueTest, DaysUntilFreshIsTheInverse) {
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const PageValue page = Any(rng);
    const double days = std::exp(6 * rng.Uniform() - 3);
    const double fresh = FreshAfter(page, days);
    if (fresh < 1e-6 || fresh > 1 - 1e-9) continue;
    ASSERT_NEAR(DaysUntilFresh(page, fresh), days, 1e-5 * days);
  }
}

}  // namespace
}  // namespace portolan
