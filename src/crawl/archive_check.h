// Reading a crawl's archive and log from one end to the other: is every record whole, has each its own id, is each
// capture in the index with what its record says and nothing else, does each line of the log parse.
//
// The index is compared both ways (index_check.h). Works on files as recovery leaves them (crawl_check.h runs it, dry).
// Read-only but for sorting beyond the memory bound, which goes to a nameless file in sort.dir.
//
// Thread: one caller. Memory bound: four times sort.memory (lines of one WARC file, record ids, URLs, and all index
// lines), whatever the size of the archive.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/row_sort.h"
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
  uint64_t captures = 0;      // records that an index should name
  uint64_t repeated_ids = 0;  // records whose id another one had before: errors
  uint64_t cdxj_lines = 0;    // of the WARC files' own indexes
  uint64_t merged_lines = 0;  // of the index of the whole archive
  uint64_t log_lines = 0;
  uint64_t repeated = 0;  // captures of a URL that was captured before, robots.txt left out: no errors
};

struct ArchiveCheckOptions {
  std::vector<std::string> directories;
  std::string prefix;
  // The index of the whole archive; empty: there is to be none. While files grow it may be missing, or be there from an
  // earlier end of the crawl: then only its form and order are looked at. Once all are finished it must be there and
  // have each capture's line, as the index of the capture's file has it.
  std::string index_file;
  bool finished = false;  // no WARC file grows
  RowSort::Options sort;
  HashKey key;  // the crawl's: URLs are compared by their hashes
};

// `scratch` is where sort.dir is. An Error only where a directory or file cannot be read at all, or nothing can be
// sorted.
Status CheckArchive(Env& env, Env& scratch, const ArchiveCheckOptions& options, const CheckSink& sink,
                    ArchiveCounts& counts);
Status CheckCrawlLog(Env& env, const std::string& dir, const CheckSink& sink, ArchiveCounts& counts);

// A line of a text file.
struct FileLine {
  uint64_t number = 0;    // from 1
  uint64_t position = 0;  // of its first byte
  std::string_view text;  // without its end
};
// Calls `each` with every line, until it says an error. What follows the last line end, and a line over 4 MiB, is an
// error for the sink.
Status ForEachLine(Env& env, const std::string& path, const CheckSink& sink,
                   const std::function<Status(const FileLine&)>& each);

}  // namespace portolan
