// Politeness as arithmetic: how long a host waits after a hit, and how long after a failure.
//
// The gap of a host starts when the answer ended, and is at least ten times what the answer took (Mercator), at least
// the configured tau_h, and at least its Crawl-delay. Retry-After and the back-off after failures may exceed all that.
//
// Both clocks are for domains of the least budget. One with a larger budget is contacted more often, in proportion,
// down to a floor (thesis ch. VII): otherwise its URLs, which are admitted in that proportion, would pile up.
//
// Pure functions; nothing here overflows, whatever a server says.

#pragma once

#include <cstdint>

namespace portolan {

inline constexpr uint32_t kMaxConnectionsPerHost = 64;

struct PolitenessOptions {
  int64_t host_delay_ns = 1'000'000'000;   // tau_h: end of an answer to the next hit on the host
  int64_t ip_delay_ns = 500'000'000;       // tau_s: the same for an address, across its hosts
  int64_t host_delay_floor_ns = 0;         // the least tau_h that a budget can give; 0: budgets do not change it
  int64_t ip_delay_floor_ns = 0;           // the same for tau_s
  uint32_t base_budget = 10;               // the budget for which tau_h and tau_s are given
  double delay_factor = 10;                // times the duration of the last fetch
  int64_t min_delay_ns = 0;                // the gap is never below this
  int64_t max_delay_ns = 300'000'000'000;  // nor above this, even with Crawl-delay; only Retry-After may be longer
  int64_t max_retry_after_ns = 86'400'000'000'000;  // a longer Retry-After is cut to this
  int64_t max_back_off_ns = 3'600'000'000'000;      // the back-off doubles up to this
  int64_t ip_hold_max_ns = 30'000'000'000;          // a request holds its address at most this long after its dispatch
  bool obey_crawl_delay = true;                     // of robots.txt
};

// `delay_ns` for a domain of this budget; 0: the budget is not known.
int64_t ScaledDelay(const PolitenessOptions& options, int64_t delay_ns, int64_t floor_ns, uint32_t budget);

// The time from the end of a fetch that took `duration_ns` to the next one, for a host that works.
int64_t HostGap(const PolitenessOptions& options, int64_t crawl_delay_ns, int64_t duration_ns, uint32_t budget = 0);
// The same for an address, by the mean budget of the domains fetched there.
int64_t IpGap(const PolitenessOptions& options, uint32_t mean_budget);

// How long after its begin a hit may keep its address from others.
int64_t LongestHold(const PolitenessOptions& options);

// `first_ns` doubled `times_before` times, at most `max_ns`.
int64_t BackOff(int64_t first_ns, uint32_t times_before, int64_t max_ns);

}  // namespace portolan
