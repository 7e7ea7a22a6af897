// Rules: what a crawl promised to keep; the oracle checks it. A rule of 0 is not judged.

#pragma once

#include <cstdint>
#include <string>

namespace portolan::sim {

struct Rules {
  std::string agent = "portolan";  // product token: whose rules in robots.txt count

  int64_t host_gap_ns = 0;    // between the beginnings of two requests to a host, robots.txt included
  int64_t ip_gap_ns = 0;      // and to an address
  bool gap_from_end = false;  // gaps count from the end of the last request instead
  // What the log's clock and the client's may differ by: the server stamps a request when it has read it.
  int64_t slack_ns = 2'000'000;
  // A request begins no sooner after the end of the last one to its host than this many times its duration, …
  double delay_factor = 0;
  int64_t delay_factor_max_ns = 30'000'000'000;  // … but this is the longest required wait.

  uint32_t connections = 0;       // requests in progress at a host at once
  uint32_t open_connections = 0;  // connections open to a host at once, idle ones too; each from its first request on
  uint32_t ip_sockets = 0;        // connections open to an address at once, with a request or without

  bool robots = true;                            // robots.txt is asked for and obeyed
  bool crawl_delay = false;                      // Crawl-delay is kept, from the second request after robots.txt on
  int64_t crawl_delay_max_ns = 300'000'000'000;  // longer ones are kept as this
  int64_t robots_ttl_ns = 0;                     // how long an answered robots.txt may be used

  bool retry_after = true;
  int64_t retry_after_max_ns = 3'600'000'000'000;  // longer ones are kept as this
  uint32_t fetches_per_url = 0;                    // of numbered pages; tries after failures are not counted
  uint32_t tries_per_url = 20;                     // and those are no more than this in all
  bool unknown_urls = true;                        // URLs that do not exist must not be requested
  bool complete = false;                           // everything reachable was fetched
};

}  // namespace portolan::sim
