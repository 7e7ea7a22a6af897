// Indexes to ask, made without a crawl: the simulated web in parts, and the same documents in one database.
//
// Thread: functions without state. Memory: what Xapian holds until a commit (kCommitPages documents).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/benchmark.h"

namespace portolan::bench {

struct SearchIndex {
  std::vector<std::string> parts;
  std::string one;  // the same documents
  double pages_per_s = 0;
  uint64_t text_bytes = 0;
  uint64_t index_bytes = 0;  // of the parts
};

// In `dir`, where an index of so many pages and parts may be from a run before.
Result<SearchIndex> MakeSimulatedIndex(const std::string& dir, uint64_t pages, uint32_t parts, Report& report);

}  // namespace portolan::bench
