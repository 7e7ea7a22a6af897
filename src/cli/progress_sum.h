// Adds up the pictures of several engines, for displays of a node or of a directory of shards. What cannot be added is
// left as it was: times of turns, lists of hosts.
//
// Thread: any.

#pragma once

#include "crawl/progress.h"

namespace portolan {

void AddProgress(const CrawlProgress& one, CrawlProgress& sum);

}  // namespace portolan
