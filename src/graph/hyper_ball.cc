#include "graph/hyper_ball.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/hyper_log_log.h"

namespace portolan::graph {
namespace {

// One run. Counters and bits of the iteration before are read, those of this one written.
class BallRun {
 public:
  BallRun(const BvGraph& graph, const HyperBallOptions& options)
      : graph_(graph),
        now_(graph.nodes(), options.log2m),
        next_(graph.nodes(), options.log2m),
        changed_(graph.nodes(), true),
        changes_(graph.nodes(), false),
        harmonic_(graph.nodes(), 0.0F) {
    const uint64_t key = Mix64(options.seed + kGolden);
    for (uint64_t node = 0; node < graph.nodes(); ++node) now_.Add(node, Mix64(key + kGolden * (node + 1)));
  }

  // How much iteration t adds to the neighbourhood function.
  Result<double> Iterate(uint32_t t) {
    double added = 0;
    changed_count_ = 0;
    GraphScan scan = graph_.Scan();
    while (scan.Next()) {
      const uint64_t node = scan.node();
      // A counter that did not change has the same registers in both generations.
      if (changed_[node]) std::memcpy(next_[node], now_[node], now_.registers());
      bool touched = false;
      for (const NodeId to : scan.successors()) {
        // What did not change in the iteration before is part of this ball since then.
        if (!changed_[to] || to == node) continue;
        next_.Unite(next_[node], now_[to]);
        touched = true;
      }
      const bool grew = touched && std::memcmp(next_[node], now_[node], now_.registers()) != 0;
      changes_[node] = grew;
      if (!grew) continue;
      ++changed_count_;
      const double delta = next_.Estimate(next_[node]) - now_.Estimate(now_[node]);
      harmonic_[node] += static_cast<float>(delta / t);
      added += delta;
    }
    RETURN_IF_ERROR(scan.status());
    now_.swap(next_);
    changed_.swap(changes_);
    return added;
  }

  uint64_t changed_count() const { return changed_count_; }
  std::vector<float> TakeHarmonic() { return std::move(harmonic_); }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // splitmix64's step

  const BvGraph& graph_;
  HyperLogLogArray now_;
  HyperLogLogArray next_;
  std::vector<bool> changed_;  // in the iteration before
  std::vector<bool> changes_;  // in this one
  std::vector<float> harmonic_;
  uint64_t changed_count_ = 0;
};

}  // namespace

uint64_t HyperBallBytes(uint64_t nodes, unsigned log2m) {
  return nodes * (2 * (uint64_t{1} << log2m) + sizeof(float)) + nodes / 4;
}

Result<HyperBallResult> HyperBall(const BvGraph& graph, const HyperBallOptions& options) {
  if (options.log2m < kMinLog2m || options.log2m > kMaxLog2m) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("HyperBall: log2m is {}; it must be between {} and {}",
                                                         options.log2m, kMinLog2m, kMaxLog2m));
  }
  HyperBallResult result;
  BallRun run(graph, options);
  double size = static_cast<double>(graph.nodes());
  result.neighbourhood.push_back(size);
  while (result.iterations < options.max_iterations) {
    const uint32_t t = result.iterations + 1;
    ASSIGN_OR_RETURN(const double added, run.Iterate(t));
    if (options.on_iteration) options.on_iteration(t, run.changed_count());
    if (run.changed_count() == 0) {
      result.complete = true;
      break;
    }
    result.iterations = t;
    size += added;
    // The estimate may fall a little where it changes from linear counting to the other.
    const double last = result.neighbourhood.back();
    result.neighbourhood.push_back(std::max(size, last));
    if (options.threshold > 0 && added < options.threshold * last) break;
  }
  result.harmonic = run.TakeHarmonic();
  return result;
}

DistanceStats DistancesOf(const std::vector<double>& neighbourhood) {
  DistanceStats stats;
  if (neighbourhood.size() < 2 || neighbourhood.back() <= neighbourhood.front()) return stats;
  const double nodes = neighbourhood.front();
  stats.pairs = neighbourhood.back() - nodes;
  stats.reachable = nodes > 1 ? stats.pairs / (nodes * (nodes - 1)) : 0;
  stats.longest = static_cast<uint32_t>(neighbourhood.size() - 1);
  stats.fractions.push_back(0);
  double before = 0;  // of the pairs, those at distance below t
  for (size_t t = 1; t < neighbourhood.size(); ++t) {
    const double fraction = (neighbourhood[t] - neighbourhood[t - 1]) / stats.pairs;
    stats.fractions.push_back(fraction);
    stats.average += static_cast<double>(t) * fraction;
    if (before < 0.9 && before + fraction >= 0.9) {
      stats.effective_diameter = static_cast<double>(t - 1) + (0.9 - before) / fraction;
    }
    before += fraction;
  }
  return stats;
}

}  // namespace portolan::graph
