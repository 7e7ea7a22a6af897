// Inspects the files of this folder without the structures they belong to: what they contain, and whether they are
// intact.
//
// Thread: one caller. Memory bound: one block, and for a manifest its text.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/block_format.h"
#include "io/env.h"

namespace portolan {

struct FileReport {
  std::string kind;  // in words
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t records = 0;       // of all blocks
  uint64_t raw_bytes = 0;     // of all payloads, decoded
  uint64_t stored_bytes = 0;  // of all payloads, on disk
};

// Reads and checks the whole file. The error names the file and the offset of the first fault. For a manifest the files
// that it names are checked, too.
Result<FileReport> CheckFile(Env& env, const std::string& path);

// Prints a line for each block and each record, up to the limit of records. Stops at the first error and returns it.
Status DumpFile(Env& env, const std::string& path, uint64_t limit, const std::function<void(const std::string&)>& line);

}  // namespace portolan
