// A quick look at the WARC files of an archive that are finished: are they what their index says?
//
// Not a check of every byte (crawl/archive_check.h does that): each file costs a few reads, whatever its size. It finds
// what can happen to finished files: they are missing, cut short, overwritten with zeros, or their beginning or end is
// not gzip any more.
//
//   first member   decodes, and is a WARC record
//   last member    decodes, and ends where the file ends
//   index          the captures of its first and last kIndexPiece bytes lie within the file
//
// REQUIRES: the directories are recovered (recovery.h): a file is finished when it has a sorted index.
// Thread: one caller. Memory bound: the end of one file, 256 KiB and only where a record is longer 40 MiB; a piece of
// its index.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/env.h"

namespace portolan {

inline constexpr size_t kIndexPiece = size_t{64} << 10;

// One line for each file that is damaged; it begins with the path. `prefix` as in the settings.
std::vector<std::string> DamageOfFinished(Env& env, const std::vector<std::string>& directories,
                                          const std::string& prefix);

}  // namespace portolan
