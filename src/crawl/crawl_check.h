// CheckCrawl: is a crawl's directory intact? Everything that a crawl stores is read from one end to the other and
// compared: the manifest with its files; files with their checksums; the structures with their own invariants and with
// each other (no URL is lost: each new one is at the gate, in the frontier, or done); WARC records with their digests
// and with each other's ids; captures with the indexes, and these with the merged one; the archive with the count of
// archived captures; the logs; each archived page with its records in the logs.
//
// Nothing is changed. Recovery, as `resume` runs it, is run dry (DryRunEnv), and the check sees the files as recovery
// would leave them. What recovery would cut or remove was left over by a crash, and is not an error. `repair` lets
// recovery do it for real, if nothing is damaged.
//
// Thread: one caller, and a worker. Memory bound: as a crawl with these options before its first fetch; then
// archive_check.h's. What is compared in sorted order and does not fit goes to a nameless file in temp_dir.
// Time: everything is read once; digests cost about one second per gigabyte.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/archive_check.h"
#include "crawl/engine.h"
#include "crawl/log_check.h"
#include "io/env.h"

namespace portolan {

struct CrawlCheckOptions {
  bool repair = false;
  std::string temp_dir = "/tmp";
  std::function<void(uint64_t read, uint64_t all)> progress = {};  // in bytes; called repeatedly
};

struct CrawlCheck {
  uint64_t error_count = 0;
  std::vector<std::string> errors;  // the first kMaxErrors of them
  uint64_t sequence = 0;            // of the manifest; 0: there is none
  uint64_t state_files = 0;
  ArchiveCounts archive;
  LogCounts logs;
  uint64_t archived = 0;    // captures, as the crawl counted them
  uint64_t urls_known = 0;  // new ones
  uint64_t urls_done = 0;
  uint64_t urls_waiting = 0;  // for their budget, at the gate or in the frontier
  // What recovery cuts or removes.
  struct Torn {
    std::string path;
    uint64_t bytes = 0;
    bool whole = false;  // the whole file is removed
  };
  std::vector<Torn> torn;
  uint64_t torn_bytes = 0;

  static constexpr size_t kMaxErrors = 100;
  bool ok() const { return error_count == 0; }
};

// kBusy: the crawl is running. `options` are those of the crawl (WireCrawl).
Result<CrawlCheck> CheckCrawl(Env& env, const EngineOptions& options, const CrawlCheckOptions& how);

}  // namespace portolan
