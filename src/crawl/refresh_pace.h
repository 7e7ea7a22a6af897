// RefreshPace: how many visits a crawl that comes back may make now, and how many per day in the long run.
//
// The capacity is what the crawl can fetch per day. It is not computed from delays and connections, since hosts differ
// in everything, but found out: it is taken for large until pages that are due cannot be fetched for most of the time
// (Saturated); then it is what was fetched in the last period. Without that it grows slowly. So a crawl of one polite
// host comes to the pace of that host, a crawl of a million hosts to that of its connections. An operator may state a
// bound.
//
// While first visits wait, refreshing gets `share` of the capacity; when none does, all of it.
//
// The capacity is handed out evenly: what was not used is kept for at most two ticks.
//
// Thread: one owner. Deterministic: each call brings the time. Durability: two numbers, which belong into the owner's
// section.

#pragma once

#include <algorithm>
#include <cstdint>

namespace portolan {

class RefreshPace {
 public:
  struct Options {
    double share = 0.5;
    double most_per_day = 0;  // 0: what the crawl can do
    double connections = 1;   // of which none fetches more than kHope pages per second
    int64_t period_ns = 1;    // between two looks at the capacity
    int64_t tick_ns = 1;      // of the calendar
  };
  static constexpr double kHope = 1;
  static constexpr double kGrowth = 1.25;

  RefreshPace(const Options& options, int64_t now_ns)
      : options_(options), per_ns_(Hope()), at_ns_(now_ns), period_end_ns_(now_ns + options.period_ns) {}

  // Since the last call URLs have waited for their first visit, and all room for pages that are due was in use.
  void Advance(int64_t now_ns, bool first_visits, bool full);
  // A page was fetched, for the first time or again.
  void Fetched() { ++fetched_; }
  // Of the pages that were due, so many were taken and so many had to wait for their host, or for all.
  void Took(uint64_t taken, uint64_t held) {
    allowed_ -= static_cast<double>(taken);
    taken_ += taken;
    held_ += held;
  }
  // Nothing was due: what could have been visited is lost.
  void Idle() { allowed_ = 0; }

  uint64_t allowed() const { return allowed_ >= 1 ? static_cast<uint64_t>(allowed_) : 0; }
  // When one more is allowed.
  int64_t NextNs() const;
  double PerNs() const;  // visits that refreshing may make

  double capacity_per_ns() const { return per_ns_; }
  double waiting() const { return waiting_; }
  void Restore(double per_ns, double waiting) {
    per_ns_ = std::clamp(per_ns, 1e-18, Hope());
    waiting_ = std::clamp(waiting, 0.0, 1.0);
  }

 private:
  double Hope() const { return options_.connections * kHope * 1e-9; }
  void EndPeriod(int64_t now_ns);

  const Options options_;
  double per_ns_;       // of all fetches
  double waiting_ = 1;  // part of the time in which first visits waited
  double allowed_ = 0;
  int64_t at_ns_;
  int64_t period_end_ns_;
  int64_t waited_ns_ = 0;  // of this period, like all below
  int64_t full_ns_ = 0;
  uint64_t fetched_ = 0;
  uint64_t taken_ = 0;
  uint64_t held_ = 0;
};

}  // namespace portolan
