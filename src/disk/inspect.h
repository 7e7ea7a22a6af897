// Looking into the files of this folder without the structures they belong to: what is in them, and is it whole.
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

// Reads the whole file and everything in it. The error names file and offset of the first thing that is wrong. A
// manifest is checked with the files that it names.
Result<FileReport> CheckFile(Env& env, const std::string& path);

// A line for each block and each record, to the limit of records. Stops at the first error and returns it.
Status DumpFile(Env& env, const std::string& path, uint64_t limit, const std::function<void(const std::string&)>& line);

}  // namespace portolan
