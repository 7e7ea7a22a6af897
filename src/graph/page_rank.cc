#include "graph/page_rank.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace portolan::graph {
namespace {

Status ValidateRankOptions(const PageRankOptions& options) {
  if (!(options.damping >= 0 && options.damping < 1)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("PageRank: the damping is {}; it must be at least 0 and below 1", options.damping));
  }
  if (!(options.tolerance > 0)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("PageRank: the tolerance is {}; it must be above 0", options.tolerance));
  }
  if (options.max_iterations == 0) {
    return Fail(ErrorCode::kInvalidArgument, "PageRank: at least one iteration is needed");
  }
  return {};
}

// Adds the shares that come over links to `next`, which is all 0. Returns the mass of dangling nodes.
Result<double> PushRanks(const BvGraph& graph, const std::vector<double>& ranks, std::vector<double>& next) {
  double dangling = 0;
  GraphScan scan = graph.Scan();
  while (scan.Next()) {
    const auto successors = scan.successors();
    const double rank = ranks[scan.node()];
    if (successors.empty()) {
      dangling += rank;
      continue;
    }
    const double share = rank / static_cast<double>(successors.size());
    for (const NodeId to : successors) next[to] += share;
  }
  RETURN_IF_ERROR(scan.status());
  return dangling;
}

}  // namespace

Result<PageRankResult> PageRank(const BvGraph& graph, const PageRankOptions& options) {
  RETURN_IF_ERROR(ValidateRankOptions(options));
  PageRankResult result;
  if (graph.nodes() == 0) {
    result.converged = true;
    return result;
  }
  const double even = 1.0 / static_cast<double>(graph.nodes());
  std::vector<double>& ranks = result.ranks;
  ranks.assign(graph.nodes(), even);
  std::vector<double> next(graph.nodes());
  while (!result.converged && result.iterations < options.max_iterations) {
    ASSIGN_OR_RETURN(const double dangling, PushRanks(graph, ranks, next));
    const double base = (options.damping * dangling + (1 - options.damping)) * even;
    double residual = 0;
    for (uint64_t node = 0; node < ranks.size(); ++node) {
      const double rank = options.damping * next[node] + base;
      residual += std::abs(rank - ranks[node]);
      ranks[node] = rank;
      next[node] = 0;
    }
    ++result.iterations;
    result.residual = residual;
    result.converged = residual <= options.tolerance;
    if (options.on_iteration) options.on_iteration(result.iterations, residual);
  }
  return result;
}

}  // namespace portolan::graph
