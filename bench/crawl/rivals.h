// The rivals of a crawl: wrk, which fetches pages and looks at nothing, and wget2, which crawls.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/crawl/served_world.h"

namespace portolan::bench {

struct WrkFigures {
  double per_s = 0;
  double per_cpu_s = 0;  // of wrk
  double server_us = 0;  // CPU of the server, a page
};
// Pages that answer 200, one after the other from a list, each on a connection of its own. `dir` is for scratch files.
Result<WrkFigures> RunWrk(const ServedWorld& served, uint64_t pages, double seconds, int core, const std::string& dir);

struct Wget2Figures {
  uint64_t pages = 0;  // answers of class 2xx that are no robots.txt, as the server saw them
  double per_s = 0;
  double per_cpu_s = 0;
};
// In network and mount namespaces of its own, where the simulated web has the real ports and is the only name server.
// kUnsupported where namespaces are not allowed or wget2 is not installed.
Result<Wget2Figures> RunWget2(const WorldChoice& choice, uint32_t threads, double seconds, int server_core,
                              int client_core, const std::string& dir);

}  // namespace portolan::bench
