// NearGroups: which numbers belong together, given pairs of them: the connected components, on disk beyond RAM.
//
// Kiveris et al., "Connected components in MapReduce and beyond" (2014), as sorts: in a large star each number gives
// its larger neighbours to the smallest number that it sees, in a small star its smaller ones; alternately, until each
// group is a star around its smallest number. Both are one pass over sorted pairs, whatever a number's neighbours are.
// The paper proves O(log² n) rounds; a chain of 10^5 numbers in random order takes 14 here, short ones two to four.
//
// Thread: one owner. Memory bound: options.memory, for two sorts. Disk: up to 48 bytes per pair while it runs.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "disk/row_sort.h"
#include "io/env.h"

namespace portolan {

class NearGroups {
 public:
  struct Options {
    std::string dir;
    size_t memory = size_t{64} << 20;
  };
  // REQUIRES: env outlives this.
  NearGroups(Env& env, const Options& options);

  Status Add(uint64_t a, uint64_t b);
  // To be called once, after the last Add and before the next two functions.
  Status Merge();

  struct Member {
    uint64_t number = 0;
    uint64_t first = 0;  // the smallest number of its group
  };
  // Numbers rise. The smallest of a group is not given; nor is a number without a pair. False: there are no more.
  Result<bool> Next(Member& member);
  Status Rewind();

  int rounds() const { return rounds_; }

 private:
  using Pairs = RowSortOf<2>;

  std::unique_ptr<Pairs> MakePairs() const;
  // Both change `changed` if something moved.
  Status LargeStar(Pairs& from, Pairs& to, bool& changed) const;
  Status SmallStar(Pairs& from, Pairs& to, bool& changed) const;

  Env& env_;
  const Options options_;
  std::unique_ptr<Pairs> pairs_;
  int rounds_ = 0;
  Pairs::Row last_{};
  bool any_ = false;
};

}  // namespace portolan
