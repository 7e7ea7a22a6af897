// CheckCrawl: is a crawl's directory whole? Everything that a crawl keeps is read from one end to the other and
// compared with itself: the manifest with its files, files with their checksums, the structures with their own
// invariants and with each other (no URL is lost: each that was new is at the gate, in the frontier, or has come to an
// end), WARC records with their digests and with each other's ids, captures with the indexes and these with the merged
// one, the archive with the count of what was archived, the logs, each archived page with its records in them.
//
// Nothing is changed. Recovery itself, as `resume` runs it, is run dry (DryRunEnv), and everything is then judged as it
// would leave it; what it would cut or remove is what a crash left over, and no error. `repair` lets recovery do it,
// where nothing is damaged.
//
// Thread: one caller, and a worker. Memory bound: as a crawl with these options, before its first fetch; then
// archive_check.h's. What is to be compared in sorted order and does not fit goes to a nameless file in temp_dir.
// Time: everything is read once; digests cost about a second a gigabyte.

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
  std::function<void(uint64_t read, uint64_t all)> progress = {};  // bytes; now and then
};

struct CrawlCheck {
  uint64_t error_count = 0;
  std::vector<std::string> errors;  // the first kMaxErrors of them
  uint64_t sequence = 0;            // of the manifest; 0: there is none
  uint64_t state_files = 0;
  ArchiveCounts archive;
  LogCounts logs;
  uint64_t archived = 0;    // captures by the crawl's own count
  uint64_t urls_known = 0;  // that were found to be new
  uint64_t urls_done = 0;
  uint64_t urls_waiting = 0;  // for their budget, at the gate or in the frontier
  // What recovery does away with.
  struct Torn {
    std::string path;
    uint64_t bytes = 0;
    bool whole = false;  // the file is removed
  };
  std::vector<Torn> torn;
  uint64_t torn_bytes = 0;

  static constexpr size_t kMaxErrors = 100;
  bool ok() const { return error_count == 0; }
};

// kBusy: a crawl is running there. `options` are those that the crawl has (WireCrawl).
Result<CrawlCheck> CheckCrawl(Env& env, const EngineOptions& options, const CrawlCheckOptions& how);

}  // namespace portolan
