#include "plan/budget_models.h"

namespace portolan {

double NaiveBudgetSpeed(const BudgetParams& params, double pages) {
  const double failed = 2 * params.url_bytes * params.pages_per_s * (params.links_per_page - 1);
  return pages >= params.queue() ? failed * pages / params.queue() : failed;
}

double BeastSpeed(const BudgetParams& params, double pages) {
  const double beta = pages >= params.queue() ? 2 * params.queue() / (pages + params.queue()) : 1;
  return 2 * params.pages_per_s * params.url_bytes * ((2 - beta) * (params.links_per_page - 1) + 1);
}

double BeastSpeedLimit(const BudgetParams& params) {
  return 2 * params.pages_per_s * params.url_bytes * (2 * params.links_per_page - 1);
}

double BeastQueues(const BudgetParams& params, double pages) { return (pages / params.queue() + 1) / 2; }

}  // namespace portolan
