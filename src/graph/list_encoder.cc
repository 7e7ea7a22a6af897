#include "graph/list_encoder.h"

#include <utility>

#include "base/bytes.h"

namespace portolan::graph {

ListEncoder::ListEncoder(const GraphParameters& parameters)
    : parameters_(parameters),
      reference_bits_(parameters.references, parameters.zeta_k),
      block_count_bits_(parameters.block_counts, parameters.zeta_k),
      block_bits_(parameters.blocks, parameters.zeta_k),
      residual_bits_(parameters.residuals, parameters.zeta_k),
      gamma_bits_(Code::kGamma, 0) {}

void ListEncoder::Begin(uint64_t node, std::span<const NodeId> list) {
  node_ = node;
  list_ = list;
  best_.reference = 0;
  best_.blocks.clear();
  best_.copied = 0;
  best_.bits = 0;
  best_.residual_count = 0;
  if (list.empty()) return;
  for (Plan* plan : {&best_, &trial_}) {
    if (plan->extras.size() >= list.size()) continue;
    plan->extras.resize(2 * list.size());
    plan->residuals.resize(2 * list.size());
  }
  if (parameters_.window > 0) best_.bits = reference_bits_(0);
  best_.bits += Intervalize(list, best_, kNoBound);
}

void ListEncoder::Try(uint64_t back, std::span<const NodeId> candidate) {
  if (list_.empty() || candidate.empty()) return;
  trial_.reference = back;
  Compare(candidate, trial_);
  trial_.bits = reference_bits_(back) + BlockBits(trial_);
  if (trial_.bits >= best_.bits) return;
  trial_.bits += Intervalize({trial_.extras.data(), trial_.extra_count}, trial_, best_.bits - trial_.bits);
  if (trial_.bits < best_.bits) std::swap(best_, trial_);
}

// Runs of the candidate that are in the list and that are not, in turn, the first of the former; the last run is
// implied.
void ListEncoder::Compare(std::span<const NodeId> candidate, Plan& plan) const {
  plan.blocks.clear();
  NodeId* extra = plan.extras.data();
  const NodeId* at = list_.data();
  const NodeId* const end = at + list_.size();
  const NodeId* from = candidate.data();
  const NodeId* const from_end = from + candidate.size();
  uint64_t copied = 0;
  bool copying = true;
  NodeId run = 0;
  while (at < end && from < from_end) {
    if (*at < *from) {
      *extra++ = *at++;
      continue;
    }
    const bool same = *at == *from;
    if (same != copying) {
      plan.blocks.push_back(run);
      run = 0;
      copying = same;
    }
    ++run;
    ++from;
    at += same ? 1 : 0;
    copied += same ? 1 : 0;
  }
  // What is left of the candidate is not copied.
  if (copying && from < from_end) plan.blocks.push_back(run);
  while (at < end) *extra++ = *at++;
  plan.extra_count = static_cast<size_t>(extra - plan.extras.data());
  plan.copied = copied;
}

uint64_t ListEncoder::BlockBits(const Plan& plan) const {
  uint64_t bits = block_count_bits_(plan.blocks.size());
  for (size_t i = 0; i < plan.blocks.size(); ++i) bits += block_bits_(plan.blocks[i] - (i == 0 ? 0 : 1));
  return bits;
}

uint64_t ListEncoder::Intervalize(std::span<const NodeId> extras, Plan& plan, uint64_t bound) const {
  plan.intervals.clear();
  plan.residual_count = 0;
  if (extras.empty()) return 0;
  const size_t shortest = parameters_.min_interval;
  NodeId* residual = plan.residuals.data();
  uint64_t bits = 0;
  uint64_t interval_end = 0;
  uint64_t last_residual = 0;
  for (size_t i = 0; i < extras.size();) {
    if (shortest > 0) {
      size_t run = 1;
      while (i + run < extras.size() && extras[i + run] == extras[i] + run) ++run;
      if (run >= shortest) {
        const uint64_t left = extras[i];
        bits += plan.intervals.empty() ? gamma_bits_(ZigZag(static_cast<int64_t>(left) - static_cast<int64_t>(node_)))
                                       : gamma_bits_(left - interval_end - 1);
        bits += gamma_bits_(run - shortest);
        plan.intervals.push_back({static_cast<NodeId>(left), static_cast<NodeId>(run)});
        interval_end = left + run;
        i += run;
        continue;
      }
    }
    const uint64_t next = extras[i++];
    bits += residual == plan.residuals.data()
                ? residual_bits_(ZigZag(static_cast<int64_t>(next) - static_cast<int64_t>(node_)))
                : residual_bits_(next - last_residual - 1);
    last_residual = next;
    *residual++ = static_cast<NodeId>(next);
    if (bits > bound) return bits;
  }
  plan.residual_count = static_cast<size_t>(residual - plan.residuals.data());
  if (shortest > 0) bits += gamma_bits_(plan.intervals.size());
  return bits;
}

uint64_t ListEncoder::Write(BitWriter& writer, GraphStatistics& statistics) {
  const unsigned k = parameters_.zeta_k;
  uint64_t mark = writer.written();
  const auto count = [&](uint64_t& sum) { sum += writer.written() - std::exchange(mark, writer.written()); };
  writer.Write(parameters_.outdegrees, k, list_.size());
  count(statistics.bits_for_outdegrees);
  if (list_.empty()) return 0;
  if (parameters_.window > 0) writer.Write(parameters_.references, k, best_.reference);
  count(statistics.bits_for_references);
  if (best_.reference > 0) {
    writer.Write(parameters_.block_counts, k, best_.blocks.size());
    for (size_t i = 0; i < best_.blocks.size(); ++i) {
      writer.Write(parameters_.blocks, k, best_.blocks[i] - (i == 0 ? 0 : 1));
    }
    count(statistics.bits_for_blocks);
  }
  statistics.copied_arcs += best_.copied;
  if (best_.copied == list_.size()) return best_.reference;
  if (parameters_.min_interval > 0) {
    writer.WriteGamma(best_.intervals.size());
    uint64_t end = 0;
    for (const Interval& interval : best_.intervals) {
      writer.WriteGamma(&interval == best_.intervals.data()
                            ? ZigZag(static_cast<int64_t>(interval.left) - static_cast<int64_t>(node_))
                            : interval.left - end - 1);
      writer.WriteGamma(interval.length - parameters_.min_interval);
      end = uint64_t{interval.left} + interval.length;
      statistics.interval_arcs += interval.length;
    }
    count(statistics.bits_for_intervals);
  }
  for (size_t i = 0; i < best_.residual_count; ++i) {
    const uint64_t x = i == 0 ? ZigZag(static_cast<int64_t>(best_.residuals[0]) - static_cast<int64_t>(node_))
                              : best_.residuals[i] - best_.residuals[i - 1] - 1;
    writer.Write(parameters_.residuals, k, x);
  }
  statistics.residual_arcs += best_.residual_count;
  count(statistics.bits_for_residuals);
  return best_.reference;
}

}  // namespace portolan::graph
