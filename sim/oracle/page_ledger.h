// PageLedger: what the oracle stores about each numbered page: how often it was requested, and when it was last
// fetched.
//
// Memory: 6 bytes per page of the world, allocated at once (ten million pages: 60 MB). Counters stop at 255.

#pragma once

#include <cstdint>
#include <vector>

namespace portolan::sim {

class PageLedger {
 public:
  explicit PageLedger(uint64_t pages) : counts_(pages), ticks_(pages) {}

  uint64_t size() const { return counts_.size(); }
  uint8_t asked(uint64_t page) const { return counts_[page].asked; }        // all requests
  uint8_t finished(uint64_t page) const { return counts_[page].finished; }  // those that deserve no other try

  void CountAsked(uint64_t page) { Raise(counts_[page].asked); }
  void CountFinished(uint64_t page) { Raise(counts_[page].finished); }

  // The first call sets the beginning of time: steps of 10 ms, rounded down, for 497 days from then on.
  void SetHad(uint64_t page, int64_t unix_ns) {
    if (epoch_ns_ < 0) epoch_ns_ = unix_ns;
    const int64_t tick = unix_ns <= epoch_ns_ ? 0 : (unix_ns - epoch_ns_) / kTickNs;
    ticks_[page] = static_cast<uint32_t>(tick < kMaxTick ? tick + 1 : kMaxTick);
  }
  // When a copy of the page was last fetched; -1 for never.
  int64_t had_ns(uint64_t page) const {
    return ticks_[page] == 0 ? -1 : epoch_ns_ + (static_cast<int64_t>(ticks_[page]) - 1) * kTickNs;
  }

 private:
  struct Counts {
    uint8_t asked = 0;
    uint8_t finished = 0;
  };
  static constexpr int64_t kTickNs = 10'000'000;
  static constexpr int64_t kMaxTick = 0xffffffff;

  static void Raise(uint8_t& counter) {
    if (counter != 255) ++counter;
  }

  std::vector<Counts> counts_;
  std::vector<uint32_t> ticks_;  // 0: never; else 1 + steps since epoch_ns_
  int64_t epoch_ns_ = -1;
};

}  // namespace portolan::sim
