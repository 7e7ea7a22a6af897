// RoundPace: when may a DRUM be asked for a round before its memory is full?
//
// A round rewrites all of Z, so it is cheap while Z is small and expensive later, but a caller that runs dry ("hungry")
// always wants its answers now. The rule: start when the caller is hungry, something waits and no round is running, but
// not before `ratio` times the cost of the last round has passed since it ended. A small crawl then gets its answers
// within milliseconds, and a large one spends at most 1/(1 + ratio) of its disk time on early rounds.
//
// The cost of a round is the time between the calls that saw it begin and end, but at least the time to rewrite Z at a
// fixed rate plus a fixed cost for its files. So the rule also works under a virtual clock, which stands still while a
// round runs.
//
// It reads no clock; it depends only on the calls. Thread: one owner, the DRUM's.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "disk/drum.h"

namespace portolan {

class RoundPace {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  struct Options {
    int64_t ratio = 10;
    // A round also starts when tuples have waited this long and the caller is not hungry, at a rate that costs next to
    // nothing. kNever: only hunger and DRUM's own bounds start rounds.
    int64_t patience_ns = kNever;
    int64_t calm_ratio = 200;
    uint64_t bytes_per_second = 500'000'000;  // of Z, rewritten
    int64_t least_cost_ns = 2'000'000;        // of a round that answers one tuple: files are made and removed
  };

  explicit RoundPace(const Options& options) : options_(options) {}
  RoundPace() : RoundPace(Options()) {}

  // To be called with the time whenever the owner does something with the DRUM.
  void Observe(const Drum& drum, int64_t now_ns) {
    const uint64_t begun = drum.rounds() + (drum.RoundActive() ? 1 : 0);
    if (begun != begun_) {
      begun_ = begun;
      begin_ns_ = now_ns;
      ended_ = false;
    }
    if (!ended_ && (!drum.RoundActive() || drum.ResultsReady())) {
      ended_ = true;
      end_ns_ = now_ns;
      cost_ns_ = std::max({options_.least_cost_ns, now_ns - begin_ns_,
                           static_cast<int64_t>(static_cast<double>(drum.z_bytes()) * 1e9 /
                                                static_cast<double>(options_.bytes_per_second))});
    }
    if (drum.waiting() == 0) {
      waiting_since_ns_ = kNever;
    } else if (waiting_since_ns_ == kNever) {
      waiting_since_ns_ = now_ns;
    }
  }

  // The earliest time at which a round should start if nothing else happens. kNever: not before more tuples arrive.
  // REQUIRES: Observe was called after the last change.
  int64_t NextStart(const Drum& drum, bool hungry) const {
    if (drum.RoundActive() || drum.waiting() == 0) return kNever;
    const auto rested = [&](int64_t ratio) { return begun_ == 0 ? 0 : end_ns_ + ratio * cost_ns_; };
    if (hungry) return rested(options_.ratio);
    if (options_.patience_ns == kNever || waiting_since_ns_ == kNever) return kNever;
    return std::max(rested(options_.calm_ratio), waiting_since_ns_ + options_.patience_ns);
  }

  bool Wants(const Drum& drum, int64_t now_ns, bool hungry) {
    Observe(drum, now_ns);
    return now_ns >= NextStart(drum, hungry);
  }

  int64_t last_cost_ns() const { return cost_ns_; }

 private:
  Options options_;
  uint64_t begun_ = 0;  // rounds of this DRUM that were seen to begin
  bool ended_ = true;   // the last of them is merged, its answers taken or not
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t cost_ns_ = 0;
  int64_t waiting_since_ns_ = kNever;
};

}  // namespace portolan
