// The rival: the same graph with everything in memory. URLs in a hash map, links as pairs of numbers, sorted once in
// each direction and compressed by the same GraphWriter; no anchor texts, no host and domain graphs, no files.
//
// Thread: one. Memory: not bounded: some 200 bytes per URL and 16 per link.

#pragma once

#include <functional>

#include "base/result.h"
#include "bench/graphbuild/link_crawl.h"
#include "follow/output_reader.h"
#include "io/env.h"

namespace portolan::bench {

struct MemoryBuild {
  double seconds = 0;
  uint64_t pages = 0;
  uint64_t links = 0;
  uint64_t graph_bytes = 0;  // both directions
  uint64_t link_sum = 0;     // as LinkSums
};

Result<MemoryBuild> BuildInMemory(Env& env, const OutputSource& links);

}  // namespace portolan::bench
