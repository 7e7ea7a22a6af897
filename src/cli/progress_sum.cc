#include "cli/progress_sum.h"

#include <algorithm>

namespace portolan {

void AddProgress(const CrawlProgress& one, CrawlProgress& sum) {
  sum.seconds = std::max(sum.seconds, one.seconds);
  sum.session_seconds = std::max(sum.session_seconds, one.session_seconds);
  sum.counts += one.counts;
  sum.session_start += one.session_start;
  sum.unanswered += one.unanswered;
  sum.urls_seen += one.urls_seen;
  sum.at_gate += one.at_gate;
  sum.waiting += one.waiting;
  sum.in_flight += one.in_flight;
  sum.parked += one.parked;
  sum.hosts += one.hosts;
  sum.checkpoints += one.checkpoints;
  sum.hosts_crawled += one.hosts_crawled;
  sum.hosts_counted = sum.hosts_counted && one.hosts_counted;
  sum.limits_forgotten += one.limits_forgotten;
  sum.rss_bytes = std::max(sum.rss_bytes, one.rss_bytes);  // of the process, which all share
  if (one.slowest_waiting > sum.slowest_waiting) {
    sum.slowest_host = one.slowest_host;
    sum.slowest_waiting = one.slowest_waiting;
    sum.slowest_gap_s = one.slowest_gap_s;
  }
  sum.flying.insert(sum.flying.end(), one.flying.begin(), one.flying.end());
  std::ranges::sort(sum.flying, std::greater<>(), &FlyingUrl::seconds);
}

}  // namespace portolan
