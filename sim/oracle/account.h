// Account: what a crawl did to the simulated web, in figures. Made by the Judge; printed as a table or as JSON.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/oracle/violation.h"
#include "sim/world/world.h"

namespace portolan::sim {

inline constexpr int kPlaceClasses = static_cast<int>(PlaceClass::kMaze) + 1;

struct Offence {
  Violation kind = Violation::kHostGap;
  int64_t unix_ns = 0;
  std::string url;     // host and path, or what else the offence is about
  std::string detail;  // "0.250 s after the last, 1.000 s wanted"
};

// Copies against originals at one moment (Cho and Garcia-Molina's freshness and age).
struct Freshness {
  int64_t unix_ns = 0;
  uint64_t copies = 0;
  uint64_t fresh = 0;     // not changed since they were fetched
  double mean_age_s = 0;  // time since the first change that the copy lacks; 0 for a fresh one
  // The same weighted by how much a page matters (World::Importance). Changes around the text do not count; a copy of a
  // page that has died is not fresh until the crawl has asked again.
  double weight = 0;
  double fresh_weight = 0;

  double WeightedShare() const { return weight > 0 ? fresh_weight / weight : 0; }
};

// How soon pages were fetched that were born during the crawl.
struct Discovery {
  uint64_t born = 0;     // that may be fetched
  uint64_t found = 0;    // of them: fetched
  double median_s = -1;  // from birth to the first copy, over all that were born; -1: that one was not found
  double p90_s = -1;
};

struct SmallestGap {
  int64_t ns = -1;    // -1: there were no two requests
  std::string where;  // the host or the address
};

struct Account {
  // Requests.
  uint64_t fetches = 0;  // all, robots.txt and sitemaps included
  uint64_t bytes = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  uint64_t hosts = 0;
  uint64_t addresses = 0;
  uint64_t unjudged = 0;                           // requests to hosts or addresses past the bound on their number
  std::array<uint64_t, kPlaceClasses> by_class{};  // PlaceClass
  std::array<uint64_t, 6> by_status{};             // [0]: no status was sent; [2]: 2xx …
  uint64_t spam = 0;                               // requests to spam domains, numbered pages of them too
  uint64_t traps = 0;                              // calendars, sessions, loops, growing queries, mazes
  uint64_t detours = 0;                            // http for a host of https, or the other way: a redirect to it
  uint64_t retries = 0;                            // tries of numbered pages after a failure
  uint64_t browser_requests = 0;  // what browsers request from any host by themselves: /favicon.ico, /.well-known/ …
  uint64_t page_answers = 0;      // answers of class 2xx to requests for numbered pages, …
  uint64_t page_answers_https = 0;
  uint64_t page_answers_http2 = 0;
  uint64_t conditional = 0;   // requests with If-None-Match or If-Modified-Since
  uint64_t not_modified = 0;  // of them: answered 304
  uint64_t unlike_world = 0;  // 429 and 503 that the world does not give: this log is of another world, or incomplete

  // Politeness.
  SmallestGap host_gap;      // start to start
  SmallestGap host_end_gap;  // end to start
  SmallestGap ip_gap;
  SmallestGap ip_end_gap;
  uint32_t max_in_progress = 0;       // requests open at one host
  uint32_t open_connections_max = 0;  // connections open to one host, …
  std::string open_connections_host;  // … which was this one
  uint32_t max_sockets = 0;           // connections open to one address
  uint64_t robots_fetches = 0;
  uint32_t max_robots_fetches = 0;  // of one host

  // DNS.
  uint64_t dns_questions = 0;
  uint64_t dns_names = 0;
  uint32_t max_dns_questions = 0;  // about one name
  std::string max_dns_name;

  // Coverage. Numbered pages of ordinary domains.
  uint64_t pages_fetched = 0;  // different ones
  bool reach_known = false;
  uint64_t reachable = 0;
  uint64_t reachable_https = 0;
  uint64_t fetched_of_reachable = 0;
  uint64_t missed = 0;
  uint64_t unfinished = 0;               // requested, with only failures that deserve another try
  std::vector<std::string> missed_urls;  // the first of them

  std::vector<Freshness> freshness;  // as often as asked for; the last one is at the end
  Discovery discovery;

  std::array<uint64_t, kViolations> violations{};
  std::vector<Offence> offences;  // the first of each kind

  uint64_t TotalViolations() const;
  uint64_t Of(Violation violation) const { return violations[static_cast<size_t>(violation)]; }
};

// The mean of the weighted share over the samples from that time on: over time, if they are taken at equal intervals.
double MeanWeightedFreshness(const Account& account, int64_t from_ns);

std::string AccountTable(const Account& account);
std::string AccountJson(const Account& account);

}  // namespace portolan::sim
