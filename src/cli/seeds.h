// Seeds: where a crawl begins, as people name them: on the command line, in a file, on standard input.
//
// What is typed must be right. Of a file, which may come from elsewhere and have a million lines, a line that is no URL
// is named and left out; `strict` makes it an error.
//
// Thread: any. Memory bound: the file, to kMaxSeedBytes.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

struct SeedSource {
  std::vector<std::string> urls = {};
  std::string file = {};  // one URL per line, '#' begins a comment; "-": standard input; empty: none
  bool strict = false;
};
inline constexpr size_t kMaxSeedBytes = size_t{1} << 30;

// Canonical, sorted, each once. kInvalidArgument: a URL of the arguments; kCorrupt: the file.
Result<std::vector<std::string>> ReadSeeds(const SeedSource& source, const Config& config);

}  // namespace portolan
