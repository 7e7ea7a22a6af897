// Reads a crawl's archive and crawl log from one end to the other and checks: each record is complete and has an id of
// its own; the index has each capture with the values of its record, and nothing else; each line of the log parses.
//
// The index is compared both ways (index_check.h). Works on files as recovery leaves them (crawl_check.h runs recovery
// dry for that). Read-only, except that sorting beyond the memory bound uses a nameless file in sort.dir.
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
  std::function<void(uint64_t bytes)> read;  // this many more bytes were read
};

struct ArchiveCounts {
  uint64_t warc_files = 0;
  uint64_t warc_records = 0;
  uint64_t captures = 0;      // records that an index should name
  uint64_t repeated_ids = 0;  // records with an id that another record had before: errors
  uint64_t cdxj_lines = 0;    // of the WARC files' own indexes
  uint64_t merged_lines = 0;  // of the index of the whole archive
  uint64_t log_lines = 0;
  uint64_t repeated = 0;  // captures of a URL that was captured before, without robots.txt: not errors
};

struct ArchiveCheckOptions {
  std::vector<std::string> directories;
  std::string prefix;
  // The index of the whole archive; empty: there must be none. While files grow it may be missing, or be left from an
  // earlier end of the crawl: then only its form and order are checked. Once all files are finished it must exist and
  // have each capture's line, identical to the line in the index of the capture's file.
  std::string index_file;
  bool finished = false;  // no WARC file grows
  RowSort::Options sort;
  HashKey key;  // the crawl's; URLs are compared by their hashes
};

// `scratch` is the Env of sort.dir. An Error only if a directory or file cannot be read at all, or nothing can be
// sorted.
Status CheckArchive(Env& env, Env& scratch, const ArchiveCheckOptions& options, const CheckSink& sink,
                    ArchiveCounts& counts);
Status CheckCrawlLog(Env& env, const std::string& dir, const CheckSink& sink, ArchiveCounts& counts);

// A line of a text file.
struct FileLine {
  uint64_t number = 0;    // from 1
  uint64_t position = 0;  // of its first byte
  std::string_view text;  // without the line end
};
// Calls `each` with every line, until it returns an error. Bytes after the last line end, and a line over 4 MiB, are
// reported to the sink as errors.
Status ForEachLine(Env& env, const std::string& path, const CheckSink& sink,
                   const std::function<Status(const FileLine&)>& each);

}  // namespace portolan
