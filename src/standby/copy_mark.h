// CopyMark: the file `copy` in a directory that holds a copy of a crawl and not the crawl itself: which history its
// bytes belong to, and whether it is whole.
//
// Two machines may have files of the same names that were equal once and differ since: one went on from a copy while
// the other one had written more. So each history has a random number, which is new when a crawl begins and when one
// goes on from a copy, and bytes of two directories are taken for equal only if they are of the same history.
//
//   "whole 00f1e2d3c4b5a697"     a whole copy of a checkpoint of that history, and perhaps newer bytes of it
//   "partial 00f1e2d3c4b5a697"   never was whole: no crawl may begin here
//
// (docs/formats/copy.md.) A crawl goes on from a copy when its owner removes the mark.
//
// Thread: one owner. Durability: durable when Write or Remove returns.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct CopyMark {
  bool whole = false;
  uint64_t history = 0;  // not 0
  bool operator==(const CopyMark&) const = default;
};

inline constexpr const char* kCopyMark = "copy";

// nullopt: the directory holds no copy. kCorrupt: the mark is damaged.
Result<std::optional<CopyMark>> ReadCopyMark(Env& env, const std::string& dir);
Status WriteCopyMark(Env& env, const std::string& dir, const CopyMark& mark);
Status RemoveCopyMark(Env& env, const std::string& dir);

}  // namespace portolan
