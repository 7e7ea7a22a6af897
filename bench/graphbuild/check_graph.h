// What a built graph holds, as the sums of LinkCrawl; and whether its levels and directions agree.
//
// Thread: one. Memory: 16 bytes per page of the graph.

#pragma once

#include "base/result.h"
#include "bench/graphbuild/link_crawl.h"
#include "follow/graph_files.h"

namespace portolan::bench {

struct GraphCounts {
  uint64_t pages = 0;
  uint64_t hosts = 0;
  uint64_t host_links = 0;
  uint64_t bytes = 0;  // of all files
  double bits_per_link = 0;
  double transpose_bits_per_link = 0;
};

// The sums of the forward graph. An Error: a file is damaged, the transpose has other links, or the host graph is not
// that of the pages.
Result<LinkSums> SumsOf(const GraphFiles& files, GraphCounts& counts);

}  // namespace portolan::bench
