// The gamma that stands for a belief, against the exact posterior (numerically, over a fine grid), and against the
// estimates that it replaces.

#include "fresh/change_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "io/rng.h"

namespace portolan {
namespace {

TEST(GammaTest, LogarithmsMeanAndVarianceAreThoseOfTheDistribution) {
  for (const double shape : {0.3, 1.0, 4.5, 40.0}) {
    const Gamma gamma{.shape = shape, .rate = 2};
    double weight = 0;
    double mean = 0;
    double square = 0;
    for (double s = -60; s < 8; s += 1e-3) {  // over the logarithm
      const double density = std::exp(shape * s - 2 * std::exp(s));
      weight += density;
      mean += density * s;
      square += density * s * s;
    }
    mean /= weight;
    EXPECT_NEAR(gamma.MeanLog(), mean, 1e-4) << shape;
    EXPECT_NEAR(gamma.VarLog(), square / weight - mean * mean, 1e-3) << shape;
  }
}

TEST(GammaTest, FromLogIsTheInverse) {
  for (const double variance : {0.01, 0.2, 1.0, 3.0, 20.0}) {
    for (const double mean : {-8.0, 0.0, 3.0}) {
      const Gamma gamma = Gamma::FromLog(mean, variance);
      EXPECT_NEAR(gamma.VarLog(), variance, 1e-6 * variance);
      EXPECT_NEAR(gamma.MeanLog(), mean, 1e-9);
    }
  }
}

struct Seen {
  double days = 0;
  bool changed = false;
};

// Mean of the logarithm of the rate, by the exact likelihood.
double ExactMeanLog(const Gamma& prior, const std::vector<Seen>& seen) {
  double most = -1e300;
  std::vector<std::pair<double, double>> grid;
  for (double s = -25; s < 12; s += 0.01) {
    const double rate = std::exp(s);
    double log = prior.shape * s - prior.rate * rate;
    for (const Seen& one : seen) log += one.changed ? std::log(-std::expm1(-rate * one.days)) : -rate * one.days;
    grid.emplace_back(s, log);
    most = std::max(most, log);
  }
  double weight = 0;
  double mean = 0;
  for (const auto& [s, log] : grid) {
    weight += std::exp(log - most);
    mean += std::exp(log - most) * s;
  }
  return mean / weight;
}

TEST(ChangeEstimateTest, UnchangedVisitsAreExact) {
  const Gamma prior{.shape = 0.7, .rate = 3};
  ChangeEstimate estimate;
  estimate.Observe(prior, 2.5, false);
  estimate.Observe(prior, 0.25, false);
  EXPECT_DOUBLE_EQ(estimate.Posterior(prior).shape, 0.7);
  EXPECT_DOUBLE_EQ(estimate.Posterior(prior).rate, 5.75);
}

TEST(ChangeEstimateTest, IrregularVisitsGiveNearlyTheExactPosterior) {
  Rng rng(4);
  double worst = 0;
  for (const double rate : {0.02, 0.2, 1.0, 5.0}) {
    for (int page = 0; page < 50; ++page) {
      const Gamma prior = Gamma::FromLog(std::log(0.3), 1.5);
      ChangeEstimate estimate;
      std::vector<Seen> seen;
      for (int visit = 0; visit < 12; ++visit) {
        const double days = std::exp(3 * rng.Uniform() - 1);
        const bool changed = rng.Chance(-std::expm1(-rate * days));
        seen.push_back({days, changed});
        estimate.Observe(prior, days, changed);
      }
      const double error = std::abs(estimate.Posterior(prior).MeanLog() - ExactMeanLog(prior, seen));
      worst = std::max(worst, error);
    }
  }
  // A quarter in the rate, where its own standard deviation is two quarters at best.
  EXPECT_LT(worst, 0.3);
}

// Visits that are too rare make "changes over time" half of the truth or less; the estimate stays right.
TEST(ChangeEstimateTest, SeveralChangesBetweenVisitsDoNotBiasIt) {
  Rng rng(8);
  const Gamma prior = Gamma::FromLog(std::log(0.5), 1.0);
  double log_sum = 0;
  double naive_sum = 0;
  constexpr int kPages = 400;
  for (int page = 0; page < kPages; ++page) {
    ChangeEstimate estimate;
    int changes = 0;
    for (int visit = 0; visit < 20; ++visit) {
      const bool changed = rng.Chance(-std::expm1(-1.0 * 2));
      estimate.Observe(prior, 2, changed);
      changes += changed ? 1 : 0;
    }
    log_sum += estimate.Posterior(prior).MeanLog();
    naive_sum += changes / 40.0;
  }
  EXPECT_NEAR(log_sum / kPages, 0, 0.12);
  EXPECT_LT(naive_sum / kPages, 0.5);
}

TEST(ChangeEstimateTest, AgesTellMoreThanVisits) {
  Rng rng(2);
  const Gamma prior = Gamma::FromLog(std::log(0.1), 2.0);
  double with = 0;
  double without = 0;
  for (int page = 0; page < 300; ++page) {
    ChangeEstimate aged;
    ChangeEstimate plain;
    for (int visit = 0; visit < 5; ++visit) {
      const double age = -std::log(1 - rng.Uniform()) / 2.0;
      const bool changed = age < 3;
      if (changed) {
        aged.ObserveAge(age);
      } else {
        aged.Observe(prior, 3, false);
      }
      plain.Observe(prior, 3, changed);
    }
    with += std::abs(aged.Posterior(prior).MeanLog() - std::log(2.0));
    without += std::abs(plain.Posterior(prior).MeanLog() - std::log(2.0));
  }
  EXPECT_LT(with, 0.8 * without);
}

TEST(ChangeEstimateTest, FollowsAPageWhoseRateChanges) {
  const Gamma prior = Gamma::FromLog(0, 1);
  ChangeEstimate estimate;
  for (int i = 0; i < 300; ++i) estimate.Observe(prior, 0.1, i % 2 == 0);
  EXPECT_GT(estimate.Posterior(prior).mean(), 4);
  for (int i = 0; i < 30; ++i) estimate.Observe(prior, 5, i % 10 == 0);
  EXPECT_LT(estimate.Posterior(prior).mean(), 0.5);
}

TEST(ChangeEstimateTest, AnyObservationLeavesANumber) {
  Rng rng(6);
  for (int page = 0; page < 2000; ++page) {
    const Gamma prior = Gamma::FromLog(20 * rng.Uniform() - 10, 10 * rng.Uniform());
    ChangeEstimate estimate;
    for (int visit = 0; visit < 20; ++visit) {
      estimate.Observe(prior, std::exp(40 * rng.Uniform() - 20), rng.Chance(0.5));
      ASSERT_TRUE(std::isfinite(estimate.shape) && estimate.shape >= 0) << page;
      ASSERT_TRUE(std::isfinite(estimate.rate) && estimate.rate >= 0) << page;
    }
  }
  ChangeEstimate estimate;
  estimate.Observe(Gamma(), 0, true);
  estimate.Observe(Gamma(), -5, true);
  estimate.Observe(Gamma(), std::nan(""), true);
  EXPECT_EQ(estimate, ChangeEstimate());
}

}  // namespace
}  // namespace portolan
