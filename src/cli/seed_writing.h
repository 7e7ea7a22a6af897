// Seeds on their way into a crawl's state, before its engine is opened.
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
  bool goes_on = false;  // the crawl is there already
  bool list = false;     // all seeds are kept in the state, because they are too many for the settings
  std::vector<std::string> listed_before;  // where the list begins only now: seeds that were offered before
  std::function<bool()> stopped;           // somebody asks to stop
};

// Writes what is new. Of a crawl with a list, what is given and begins as the list does is taken for the same file
// again: only what follows is new. Returns how many seeds the list has now; 0: nothing was written. kClosed: stopped.
// On an error nothing was written.
Result<uint64_t> WriteSeeds(const EngineOptions& options, GivenSeeds& given, const SeedWriting& how);

}  // namespace portolan
