// What budgets cost the disk: Theorems 6 and 7 and equation (31) of the IRLbot thesis (ch. VII).
//
// URLs beyond their domain's budget wait in Q_F. The naive method reads and writes all of Q_F each time a queue of
// E[B]·V URLs is crawled, so the speed that the disk needs grows with the crawl. BEAST (src/budget/) does so at
// intervals that double, and needs no more than 2Sb(2L-1) bytes per second at any size.
//
// All functions are pure; speeds are bytes per second, or bytes per page with S = 1.

#pragma once

namespace portolan {

struct BudgetParams {
  double pages_per_s = 3100;    // S
  double url_bytes = 110;       // b: as it stands in the queues
  double links_per_page = 6.5;  // L: unique ones
  double budget = 11;           // E[B_x]: pages of a domain that pass into one queue
  double domains = 33e6;        // V: seen in one pass through Q_F

  double queue() const { return budget * domains; }  // URLs of one queue
};

// Theorem 6: two queues, Q and Q_F, for a crawl of `pages`.
double NaiveBudgetSpeed(const BudgetParams& params, double pages);

// Theorem 7: BEAST. Grows with `pages` towards BeastSpeedLimit.
double BeastSpeed(const BudgetParams& params, double pages);
double BeastSpeedLimit(const BudgetParams& params);  // 2Sb(2L-1)

// Equation (31): queues in the last stage of a crawl of `pages`. REQUIRES: pages >= params.queue().
double BeastQueues(const BudgetParams& params, double pages);

}  // namespace portolan
