// FetchLine: what the shard knows about a fetch besides its result, for the crawl log.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flow/address.h"
#include "flow/visit.h"

namespace portolan {

struct FetchLine {
  std::string url;
  Address address;
  uint16_t depth = 0;
  uint8_t attempt = 1;           // 0: it was not fetched at all
  bool again = false;            // it will be tried again
  std::string via = {};          // the page on which it was found; empty: a seed, or unknown
  std::string_view denied = {};  // why it was not fetched, instead of the outcome: a name that lives for ever
  std::string rule = {};         // "rule 3 at rules.toml:17": the rule that decided about it; usually empty
  bool dropped = false;          // fetched, but because of that rule neither archived nor were its links followed
  // The page with the same payload that was captured first, and when. The URL may be unknown (late findings).
  std::string duplicate_of = {};
  int64_t duplicate_unix_ms = 0;  // 0: not a duplicate
  // The page whose text nearly equals this one's (content/near_seen.h), and in how many bits their hashes differ.
  std::string near_duplicate_of = {};
  int near_bits = 0;
  bool revisit = false;  // the archive gets a revisit record instead of the response
  // Only of a visit after the first:
  bool visited = false;
  PayloadChange change = PayloadChange::kUnknown;
  bool gone = false;  // it was there, and now it is 404 or 410
};

}  // namespace portolan
