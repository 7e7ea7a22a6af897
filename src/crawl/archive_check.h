// Reading a crawl's archive and log from one end to the other: is every record whole, is each capture in the index at
// its place and nothing else, does each line of the log parse.
//
// Works on files as recovery leaves them (crawl_check.h runs it, dry). Read-only.
//
// Thread: one caller. Memory bound: the index lines of one WARC file; 8 bytes a capture to find those that are there
// twice, up to kMaxRepeats captures.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

// Where findings go. Each error is one line and names its file.
struct CheckSink {
  std::function<void(const std::string&)> error;
  std::function<void(uint64_t bytes)> read;  // so many more bytes were read
};

struct ArchiveCounts {
  uint64_t warc_files = 0;
  uint64_t warc_records = 0;
  uint64_t captures = 0;  // records that an index should name
  uint64_t cdxj_lines = 0;
  uint64_t log_lines = 0;
  uint64_t repeated = 0;  // captures of a URL that was captured before; robots.txt left out
  bool repeats_counted = true;
};

inline constexpr uint64_t kMaxRepeats = uint64_t{1} << 24;

// An Error only where a directory or file cannot be read at all.
Status CheckArchive(Env& env, const std::vector<std::string>& directories, const std::string& prefix,
                    const CheckSink& sink, ArchiveCounts& counts);
Status CheckCrawlLog(Env& env, const std::string& dir, const CheckSink& sink, ArchiveCounts& counts);
// A sorted index: one line a capture, in order.
Status CheckIndexOrder(Env& env, const std::string& path, const CheckSink& sink);

}  // namespace portolan
