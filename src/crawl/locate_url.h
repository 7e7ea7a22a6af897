// Where is a URL now? Looks it up in the last committed state of a crawl, and changes nothing.
//
// A URL that URLseen called new is in exactly one place (shard.h), so the search goes through the places in the order
// of its way, backwards, and ends where it is found: back queues (the frontier's snapshot and spill), front queues, the
// robots loop, BEAST's queues and Q_F, STAR, and what URLseen has not answered. What is in none of them and known to
// URLseen has come to its end: the crawl log tells how (log_search.h).
//
// Everything streams; a large crawl's files take as long as the disk takes to read them, and `progress` says which.
// A crawl that runs may remove files under the reader: then it begins again with the newer state, up to kTries times.
//
// Thread: one caller. Memory bound: a few MiB; 12 bytes for each block of the spill that the URL's host has.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "reputation/domain_list.h"

namespace portolan {

enum class UrlPlace : uint8_t {
  kUnknown,       // in no structure; if it was seen, it is done
  kUnchecked,     // a page links to it; whether it is new has not been checked yet
  kBudgetQueue,   // in one of BEAST's queues, or on the way there
  kBudgetFailed,  // in Q_F
  kRobots,        // in the robots loop
  kFront,         // in a front queue
  kBack,          // in its host's back queue, or in flight
};
std::string_view UrlPlaceName(UrlPlace place);

struct UrlWhereabouts {
  int64_t checkpoint_unix_ns = 0;  // when the state was written
  uint64_t sequence = 0;           // of its manifest
  bool seen = false;               // URLseen knows it, or has it to answer
  UrlPlace place = UrlPlace::kUnknown;
  std::string detail;                    // in words, where exactly; empty if there is nothing to add
  std::optional<uint64_t> queues_ahead;  // kBudgetQueue: 0 is the queue being read; none: on its way there
  uint32_t attempts = 0;                 // fetches that failed, as its record says
  std::string via;                       // the page on which it was found first, as its record says; empty: none

  bool budgets = false;                // the crawl has them
  std::string domain_name;             // its pay-level domain
  std::optional<DomainLine> domain;    // what STAR knows of that; none: nothing
  std::optional<bool> robots_allowed;  // by the rules that are kept for its origin; none: there are none
  std::string robots;                  // the same in words
};

// `state_dir` is the crawl's, `url` canonical. kNotFound: there is no checkpoint. `progress` is called before each part
// with its name and how many bytes there are to read.
struct LocateOptions {
  std::string state_dir;
  std::function<void(std::string_view part, uint64_t bytes)> progress;
};
Result<UrlWhereabouts> LocateUrl(Env& env, std::string_view url, const LocateOptions& options);

// Reads the newest manifest and does `work` with it, again while it fails and a newer manifest stands: a crawl that
// runs removed what was to be read.
Status WithCommitted(Env& env, const std::string& state_dir, const std::function<Status(const Manifest&)>& work);

}  // namespace portolan
