// PhaseClock: what time it is for the phases of a crawl on several nodes (frontier/phase_partition.h).
//
// Clocks of machines may differ by minutes. So all nodes go by one clock, the messaging server's: a node asks for its
// time now and then, and adds its own steady time in between. An answer was made somewhere between the question and
// its arrival, whatever each way took, so the middle is wrong by at most half of that; from then on the two clocks may
// run apart by kDrift.
//
//   error(t) = (answered - asked) / 2 + kDrift * (t - asked)
//
// The server's clock may be set, too, and with replicas another server with another clock may take its place. Each
// node sees that when it asks next: an answer that does not fit those before it is a jump. Others may still go by the
// old time, but nobody for longer than trust_ns, since an answer is used no longer than that. So a node that sees a
// jump fetches nothing for trust_ns + settle_ns and then goes by the new time. When it begins, or has no good answer
// left, it cannot know whether there was a jump, and waits likewise.
//
// The bound. Of two nodes whose errors are at most E, one may have asked before a step of the server's clock that the
// other did not notice, since its answer before and that after fit: then they are at most 2 E apart. So the nodes'
// clocks differ by at most 4 E. A clock is good only while E <= allowed_ns, and the gap of the phases has room for 4
// allowed_ns beyond the longest fetch and delay (crawl/phase_plan.h). What is not covered: a machine whose steady clock
// stands still (a suspended one) goes on as if no time had passed until its next answer.
//
// Pure: the time comes with the calls, always steady. Thread: one owner. Memory bound: kKept answers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "cluster/link_transport.h"
#include "frontier/phase_partition.h"

namespace portolan {

struct PhaseClockOptions {
  int64_t allowed_ns = 1'000'000'000;  // the largest error with which phases are right
  int64_t trust_ns = 30'000'000'000;   // an answer is used for so long; less if the clocks may run apart too far
  int64_t settle_ns = 0;               // the longest fetch and the longest delay after it
};

class PhaseClock {
 public:
  // Clocks of two machines run apart by no more than 1 second in so many: 1.5 % with room, as for leases of addresses.
  static constexpr int64_t kDriftOneIn = 64;
  static constexpr int64_t kAsksInTrust = 8;  // how many answers are wanted in trust_ns
  static constexpr size_t kKept = 32;

  explicit PhaseClock(const PhaseClockOptions& options)
      : options_(options), trust_ns_(std::min(options.trust_ns, options.allowed_ns * kDriftOneIn / 2)) {}

  void Add(const ServerTime& answer);
  // As known at that time. The best of the answers counts.
  PhaseTime Read(int64_t now_ns) const;
  // When to ask next after asking at that time.
  int64_t NextAsk(int64_t asked_ns) const { return asked_ns + trust_ns_ / kAsksInTrust; }

  uint64_t jumps() const { return jumps_; }

 private:
  struct Sample {
    int64_t asked_ns = 0;
    int64_t offset_ns = 0;  // server's time - steady time
    int64_t half_ns = 0;    // of the time from the question to the answer
  };
  static int64_t ErrorAt(const Sample& sample, int64_t now_ns) {
    return sample.half_ns + (now_ns - sample.asked_ns) / kDriftOneIn;
  }
  // Until when the sample is good enough, and is trusted.
  int64_t GoodUntil(const Sample& sample) const;
  bool Fits(const Sample& sample, int64_t now_ns) const;

  const PhaseClockOptions options_;
  const int64_t trust_ns_;
  std::deque<Sample> samples_;  // oldest first; all were good when the last one came
  int64_t from_ns_ = 0;
  uint64_t jumps_ = 0;
};

}  // namespace portolan
