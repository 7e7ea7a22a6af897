// Reads the link log and the text log from one end to the other and checks: each block is intact, each record parses,
// and each archived HTML page (an answer of 2xx) has exactly one record in each log that was on since the crawl began.
//
// Pages are compared by sorting hashes of URL and time (RowSort), so memory does not depend on the crawl's size. Works
// on files as recovery leaves them (crawl_check.h runs recovery dry for that).
//
// Thread: one caller. Memory bound: a block, and sort.memory.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/archive_check.h"
#include "disk/manifest.h"
#include "disk/row_sort.h"
#include "io/env.h"
#include "outputs/outputs.h"

namespace portolan {

struct LogCounts {
  uint64_t link_pages = 0;
  uint64_t links = 0;
  uint64_t text_pages = 0;
};

// `scratch` is the Env of sort.dir. An Error only if something cannot be read at all, or nothing can be sorted.
Status CheckRecordLogs(Env& env, Env& scratch, const Manifest& manifest, const OutputsOptions& options,
                       const RowSort::Options& sort, const CheckSink& sink, LogCounts& counts);

}  // namespace portolan
