// What a crawl says of failures while they happen: a host that does not answer, and what is waited for because of it.
// Plain values, for the display, status.json and the log.

#pragma once

#include <cstdint>
#include <string>

#include "flow/outcome.h"

namespace portolan {

// How an attempt failed, in the fewest words: "connect_refused", "500".
struct Failure {
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  uint32_t attempts = 0;  // so many at most, in all

  std::string Words() const {
    return HasAnswer(outcome) && status != 0 ? std::to_string(status) : std::string(FetchOutcomeName(outcome));
  }
};

// A robots.txt or a name that could not be had: nothing of its host is fetched until it can be.
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
  uint32_t attempt = 0;   // the one that comes
  uint32_t attempts = 0;  // at most; 0: not known
  uint64_t urls = 0;      // that wait with it
  double seconds = 0;     // until it is tried
  int64_t until_unix_ns = 0;
};

// Something that is being fetched.
struct FlyingUrl {
  std::string url;
  double seconds = 0;  // for so long
};

}  // namespace portolan
