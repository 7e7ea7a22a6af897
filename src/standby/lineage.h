// Lineage: which history the files of a directory belong to. Two machines may have files of the same names that were
// equal once and differ since: one went on from a copy while the other one had written more. So each directory says
// which history it is, and the bytes of two directories are taken for equal only if they say the same.
//
// The file `lineage` beside the state, text, one line and a checksum:
//
//   "own 00f1e2d3c4b5a697"       a crawl works here, or did; its committed files are this history
//   "copy 00f1e2d3c4b5a697"      a whole copy of a checkpoint of that history, and perhaps newer bytes of it
//   "partial 00f1e2d3c4b5a697"   a copy that never was whole: no crawl may begin here
//
// A crawl that goes on from a copy begins a new history (TakeOver), because the machine it was copied from may still
// have files that it never gave away.
//
// Thread: one owner. Durability: durable when Write returns.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct Lineage {
  enum class Kind : uint8_t { kOwn, kCopy, kPartial };
  Kind kind = Kind::kPartial;
  uint64_t id = 0;  // random; not 0

  bool operator==(const Lineage&) const = default;
};

inline constexpr std::string_view kLineageFile = "lineage";

// nullopt: the directory has none. kCorrupt: the file is damaged.
Result<std::optional<Lineage>> ReadLineage(Env& env, const std::string& dir);
Status WriteLineage(Env& env, const std::string& dir, const Lineage& lineage);

// Makes the directory one in which a crawl works: its own lineage if it has one, otherwise a new one with the id
// `fresh`. kInvalidArgument: it holds a copy that is not whole.
Result<Lineage> TakeOver(Env& env, const std::string& dir, uint64_t fresh);

}  // namespace portolan
