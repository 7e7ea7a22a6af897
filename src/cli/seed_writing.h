// Writes seeds into a crawl's state, before its engine is opened.
//
// Thread: one. Memory bound: SeedReader's and SeedWriter's, however many seeds there are.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/seeds.h"
#include "crawl/engine.h"

namespace portolan {

struct SeedWriting {
  bool goes_on = false;  // the crawl exists already
  bool list = false;     // all seeds are kept in the state, because they are too many for the settings
  std::vector<std::string> listed_before;  // if the list is started only now: seeds that were offered before
  std::function<bool()> stopped;           // whether a stop was requested
};

// Writes the new seeds. If a crawl has a list and the given seeds begin like the list, they are taken for the same file
// again: only what follows is new. Returns how many seeds the list has now; 0: nothing was written. kClosed: stopped.
// On an error nothing was written.
Result<uint64_t> WriteSeeds(const EngineOptions& options, GivenSeeds& given, const SeedWriting& how);

}  // namespace portolan
