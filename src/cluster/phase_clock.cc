#include "cluster/phase_clock.h"

#include <algorithm>
#include <cstdlib>

namespace portolan {
namespace {

constexpr int64_t kLatestNs = 7'000'000'000'000'000'000;  // in the year 2191; later times would overflow sums

}  // namespace

int64_t PhaseClock::GoodUntil(const Sample& sample) const {
  return sample.asked_ns + std::min(trust_ns_, (options_.allowed_ns - sample.half_ns) * kDriftOneIn);
}

// Whether one clock that only drifts can have given this answer and the others.
bool PhaseClock::Fits(const Sample& sample, int64_t now_ns) const {
  return std::ranges::all_of(samples_, [&](const Sample& other) {
    return std::abs(sample.offset_ns - other.offset_ns) <= ErrorAt(sample, now_ns) + ErrorAt(other, now_ns);
  });
}

void PhaseClock::Add(const ServerTime& answer) {
  if (answer.answered_ns < answer.asked_ns || answer.server_ns <= 0 || answer.server_ns > kLatestNs) return;
  const int64_t half_ns = (answer.answered_ns - answer.asked_ns + 1) / 2;
  const Sample sample{answer.asked_ns, answer.server_ns - answer.asked_ns - half_ns, half_ns};
  std::erase_if(samples_, [&](const Sample& old) { return GoodUntil(old) <= answer.answered_ns; });
  if (!Fits(sample, answer.answered_ns)) {
    ++jumps_;
    samples_.clear();
  }
  if (GoodUntil(sample) <= answer.answered_ns) return;  // it came too late to be of use
  if (samples_.empty()) {
    // The other nodes' seconds may be longer.
    const int64_t wait_ns = trust_ns_ + options_.settle_ns;
    from_ns_ = answer.answered_ns + wait_ns + 2 * (wait_ns / kDriftOneIn);
  }
  if (samples_.size() == kKept) samples_.pop_front();
  samples_.push_back(sample);
}

PhaseTime PhaseClock::Read(int64_t now_ns) const {
  const Sample* best = nullptr;
  for (const Sample& sample : samples_) {
    if (GoodUntil(sample) <= now_ns) continue;
    if (best == nullptr || ErrorAt(sample, now_ns) <= ErrorAt(*best, now_ns)) best = &sample;
  }
  if (best == nullptr) return PhaseTime::Unknown();
  return {.offset_ns = best->offset_ns,
          .error_ns = ErrorAt(*best, now_ns),
          .from_ns = from_ns_,
          .until_ns = GoodUntil(*best)};
}

}  // namespace portolan
