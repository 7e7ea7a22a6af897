// Sorting and merging of text files by lines, in bounded memory: how the log of an archive's captures becomes its
// index.
//
// SortLines reads as much as the bound allows, sorts it, and either is done or writes it as a run; runs are merged, at
// most kFanIn at a time. Lines compare as bytes (memcmp), which is the order of CDXJ and of `LC_ALL=C sort`. Equal
// lines are all kept. The output is written beside its place, synced and renamed: whole or not there.
//
// Temporary files are named OUTPUT.tmp and OUTPUT.tmp.N and removed; after a crash the owner removes them.
// Memory bound: `memory` for sorting, kFanIn buffers of kLineBuffer for merging; a line over kMaxLine is kCorrupt.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

inline constexpr size_t kMergeFanIn = 64;
inline constexpr size_t kLineBuffer = size_t{256} << 10;
inline constexpr size_t kMaxLine = size_t{16} << 20;

// `input` without the part past `length` bytes. `memory` is at least 64 KiB.
Status SortLines(Env& env, const std::string& input, uint64_t length, const std::string& output, size_t memory);

// Of sorted files. No inputs give an empty file.
Status MergeLines(Env& env, std::span<const std::string> inputs, const std::string& output);

}  // namespace portolan
