// What a crawl reports about failures while they happen: a host that does not answer, and the URLs that wait for it.
// Plain values, for the display, status.json and the log.

#pragma once

#include <cstdint>
#include <string>

#include "flow/outcome.h"

namespace portolan {

// How an attempt failed, in one word: "connect_refused", "500".
struct Failure {
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  uint32_t attempts = 0;  // in all, at most

  std::string Words() const {
    return HasAnswer(outcome) && status != 0 ? std::to_string(status) : std::string(FetchOutcomeName(outcome));
  }
};

// A robots.txt or a name that could not be fetched or resolved: nothing of its host is fetched until it is.
struct HostTrouble {
  std::string what;  // the URL of the robots.txt, or the name
  std::string why;   // Failure::Words
  uint32_t attempt = 0;
  bool given_up = false;  // it is not tried again
};

// Something that is tried again later.
struct AwaitedUrl {
  std::string url;
  std::string why;        // empty: it failed in an earlier run
  uint32_t attempt = 0;   // number of the next attempt
  uint32_t attempts = 0;  // at most; 0: not known
  uint64_t urls = 0;      // how many wait with it
  double seconds = 0;     // until it is tried
  int64_t until_unix_ns = 0;
};

// Something that is being fetched.
struct FlyingUrl {
  std::string url;
  double seconds = 0;  // how long so far
};

}  // namespace portolan
