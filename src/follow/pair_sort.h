// PairSort: pairs of 32-bit numbers, as 64-bit numbers, come back in rising order and each once, however many there
// are.
//
// Pairs stay in memory up to the bound; beyond it they are sorted by radix (LSD, bytes that are all equal are passed
// over), and written as runs of gaps (varints): 2 to 4 bytes per link of a web graph instead of 8. The runs are merged
// at the end.
//
// Thread: one owner. Memory bound: options.memory, half of it for the sort's second buffer; while merging as much, and
// at least 4 KiB per run. Disk: the runs, in a nameless file.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "follow/replace_heap.h"
#include "follow/spool_file.h"
#include "io/env.h"

namespace portolan {

inline uint64_t MakePair(uint64_t high, uint64_t low) { return high << 32 | low; }

class PairSort {
 public:
  struct Options {
    std::string dir;  // of the file, where one is needed
    size_t memory = size_t{32} << 20;
    bool low_is_rising = false;  // the low halves never fall from Add to Add: half of the passes are not needed
  };

  // REQUIRES: env outlives this.
  PairSort(Env& env, const Options& options);

  Status Add(uint64_t pair) {
    if (pairs_.size() == most_) [[unlikely]]
      RETURN_IF_ERROR(WriteRun());
    pairs_.push_back(pair);
    return {};
  }
  // Once, after the last Add and before Next.
  Status Sort();
  Result<bool> Next(uint64_t& pair);

 private:
  struct Run {
    SpoolReader reader;
    uint64_t last = 0;
  };
  struct Head {
    uint64_t pair;
    uint32_t run;
  };
  struct Before {
    bool operator()(const Head& a, const Head& b) const { return a.pair != b.pair ? a.pair < b.pair : a.run < b.run; }
  };

  void SortPairs();
  Status WriteRun();
  Result<bool> Advance(Run& run, uint64_t& pair);

  Env& env_;
  const Options options_;
  const size_t most_;
  std::vector<uint64_t> pairs_;
  std::vector<uint64_t> other_;
  size_t next_ = 0;
  std::optional<SpoolFile> spool_;
  std::vector<SpoolPart> parts_;
  std::vector<Run> runs_;
  ReplaceHeap<Head, Before> heads_;
  std::optional<uint64_t> given_;
};

}  // namespace portolan
