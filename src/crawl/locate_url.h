// Where is a URL now? Looks it up in the last committed state of a crawl, and changes nothing.
//
// A URL that URLseen called new is in exactly one place (shard.h). The search goes backwards along the URL's path and
// ends where it is found: parked URLs, back queues (the frontier's snapshot and spill), front queues, the robots loop,
// BEAST's queues and Q_F, STAR, and the links that URLseen has not answered. A URL that is in none of them and known to
// URLseen is done: the crawl log says how it ended (log_search.h).
//
// Everything is streamed: a large crawl takes as long as the disk needs to read its files, and `progress` says which
// file is read. A running crawl may remove files that are being read: then the search begins again with the newer
// state, up to kTries times.
//
// Thread: one caller. Memory bound: a few MiB, plus 12 bytes per block of the spill that the URL's host has.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/fresh_look.h"
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
  kParked,        // its form gave nothing new (trap_park.h)
};
std::string_view UrlPlaceName(UrlPlace place);

struct UrlWhereabouts {
  int64_t checkpoint_unix_ns = 0;  // when the state was written
  uint64_t sequence = 0;           // of its manifest
  uint32_t shards = 1;             // of the crawl
  uint32_t shard = 0;              // the one that owns its domain
  bool seen = false;               // URLseen knows it, or will answer soon
  UrlPlace place = UrlPlace::kUnknown;
  std::string detail;                    // where exactly, in words; empty if there is nothing to add
  std::optional<uint64_t> queues_ahead;  // kBudgetQueue: 0 is the queue being read; none: on its way there
  uint32_t attempts = 0;                 // fetches that failed, as its record says
  std::string via;                       // the page on which it was found first, as its record says; empty: none

  std::optional<PageSchedule> schedule;  // of a crawl that comes back: when it is due, and why

  std::string form;                    // what decides about URLs of its form, with figures; empty: nothing is known
  std::vector<std::string> idle;       // parts of the URL that never change the page on its host
  std::string shorter;                 // the URL without them; empty: there are none
  bool budgets = false;                // the crawl has them
  std::string domain_name;             // its pay-level domain
  std::optional<DomainLine> domain;    // what STAR knows of that domain; empty: nothing
  std::optional<bool> robots_allowed;  // by the stored rules of its origin; empty: there are none
  std::string robots;                  // the same in words
};

// `state_dir` is the crawl's, `url` is canonical. kNotFound: there is no checkpoint. `progress` is called before each
// part with its name and the number of bytes to read.
struct LocateOptions {
  std::string state_dir;
  std::function<void(std::string_view part, uint64_t bytes)> progress;
  ShardRefresh refresh = {};  // the whole crawl's
  int64_t unix_ns = 0;        // now, for its schedule
};
Result<UrlWhereabouts> LocateUrl(Env& env, std::string_view url, const LocateOptions& options);

// Reads the newest manifest and calls `work` with it. If that fails and there is a newer manifest, it tries again: a
// running crawl has removed files that were to be read.
Status WithCommitted(Env& env, const std::string& state_dir, const std::function<Status(const Manifest&)>& work);

}  // namespace portolan
