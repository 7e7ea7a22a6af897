// ChangeEstimate: how often a page changes, learnt from visits that say only whether it has changed since the last one.
//
// Changes are a Poisson process of unknown rate. The naive estimate (changes seen over time) counts two changes between
// visits as one and is biased; the maximum likelihood estimate has no finite answer for a page that changed at every
// visit, and zero for one that never did (Cho and Garcia-Molina 2003, "Estimating frequency of change"). Here the
// belief is a gamma distribution over a prior (rate_groups.h: what the host's and directory's other pages do):
//
//   unchanged after t days    the likelihood is exp(-rate t): rate += t, exact
//   changed after t days      1 - exp(-rate t): the posterior is a difference of two gammas; replaced by the gamma with
//                             its mean and variance
//   the last change was g days ago (a Last-Modified or lastmod that deserves belief): shape += 1, rate += g, exact
//
// Only what the visits added is stored, so a prior that becomes better improves every page at once. Visits may be at
// any intervals. What counts as a change is the caller's matter: main text, not boilerplate.
//
// Memory: 8 bytes per URL. Old visits fade: at kWindow both numbers are reduced by a quarter, so an estimate follows a
// page whose rate changes within some tens of changes.
// docs/freshness.md has the derivation; change_estimate_test.cc compares with the exact posterior.

#pragma once

#include "fresh/gamma.h"

namespace portolan {

struct ChangeEstimate {
  static constexpr float kWindow = 24;

  float shape = 0;  // what visits added to the prior's
  float rate = 0;

  // A visit `days` after the one before.
  void Observe(const Gamma& prior, double days, bool changed);
  // It changed last `days` ago, and that is later than the last visit (or there was none).
  void ObserveAge(double days);

  Gamma Posterior(const Gamma& prior) const { return {prior.shape + shape, prior.rate + rate}; }
  bool operator==(const ChangeEstimate&) const = default;

 private:
  void Fade();
};

}  // namespace portolan
