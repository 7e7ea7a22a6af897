// The crawl value of a page: what a visit now is worth, per unit of the crawl's capacity (docs/freshness.md).
//
// Maximise the importance-weighted freshness of all pages under a bound on visits per day. With a price per visit (the
// threshold) each page is on its own, and its best policy is to be visited when its crawl value reaches the price:
//
//   V = importance * (w - p * psi)     t     days since the last visit
//                                      p     probability that the copy is still fresh
//                                      psi   mean length of a cycle that ends at t or at the first signal
//                                      w     mean part of it in which the copy is fresh
//
// V rises from 0, like t^2 at first, to a limit; a page whose limit is below the price is not worth any visit (the page
// that changes too often). Without signals and with a known rate d this is importance / d (1 - (1 + d t) exp(-d t)),
// the value of Azar et al. (2018, "Tractable near-optimal policies for crawling"); with signals it is that of
// Busa-Fekete et al. (2025, "Optimal crawling with noisy change signals"). Departures:
//   - the rate is a belief, not a number: p is its mean over a gamma, (1 + t / rate)^-shape. Then a doubtful page's
//     value keeps rising when that of a known fast one has stopped, so nothing is given up on little evidence;
//   - one signal that deserves belief ends a cycle: of the series over the number of signals the first term is used;
//   - a page that brings links has a second value, news * t^2 / 2: what was not found waits, on average, t / 2.
//
// Thread: pure functions.

#pragma once

#include "fresh/gamma.h"

namespace portolan {

struct PageValue {
  double importance = 1;
  Gamma change;        // changes per day
  double silence = 1;  // part of the changes that no signal tells: the rest is known not to have happened
  double signals = 0;  // signals per day that end a cycle
  double news = 0;     // worth of the links that it brings per day
};

// Probability that a copy is fresh after `days` without a signal.
double FreshAfter(const PageValue& page, double days);
// After how many days without a signal a copy is as likely fresh as this. REQUIRES: 0 < fresh <= 1.
double DaysUntilFresh(const PageValue& page, double fresh);

double CrawlValue(const PageValue& page, double days);
// When the value reaches the threshold; `longest` if it is later than that or never.
double DaysUntilValue(const PageValue& page, double threshold, double longest);

// Of a page that is visited whenever `days` without a signal have passed or a signal comes.
double VisitsPerDay(const PageValue& page, double days);
double MeanFreshness(const PageValue& page, double days);

}  // namespace portolan
