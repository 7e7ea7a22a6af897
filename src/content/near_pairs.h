// NearPairs: all pairs of 64-bit hashes that differ in at most k bits, however many hashes there are.
//
// Manku, Jain and Das Sarma ("Detecting near-duplicates for web crawling", 2007): cut the 64 bits into k + 1 blocks;
// two hashes that differ in at most k bits are equal in one of them. So the hashes are sorted k + 1 times, rotated so
// that another block comes first each time, and only hashes with an equal first block (a bucket) are compared. Each
// order is written from the one before, so the input is read once. Where the paper makes the equal part longer with
// more copies (20 for 10^10 hashes), a bucket is cut again in memory: the bits in which its hashes differ at all are
// cut into k + 1 groups, it is sorted by each, and so on until few hashes are left to compare. So four copies are
// enough, and hashes that crowd in one corner cost no more than others.
//
// Equal hashes count as one. A pair is reported once: where the first of its equal blocks, and of its equal groups, is
// sorted by. With `forest` only pairs that join what the bucket has not joined yet are reported: at most k + 1 per
// hash, enough for clusters, however many pairs there are.
//
// Thread: one owner. Memory bound: options.memory: a third each for two sorts (disk/row_sort.h) and a bucket.
// A bucket larger than its third (10^10 evenly spread hashes have 150,000 in each; 64 MiB hold 930,000) is compared in
// parts of neighbours: then pairs may be missed, and parts() says how often it was cut.
// Disk: 16 bytes per hash while it runs. Time: (k + 1)² sorts of n in the usual case, so n log n.

#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/row_sort.h"
#include "io/env.h"

namespace portolan {

inline constexpr int kNearBits = 3;       // the paper's k for 64 bits
inline constexpr int kMostNearBits = 16;  // NearPairs takes no more

inline int BitsApart(uint64_t a, uint64_t b) { return std::popcount(a ^ b); }

class NearPairs {
 public:
  struct Options {
    std::string dir;  // of the sorts' files
    size_t memory = size_t{64} << 20;
    int bits = kNearBits;
    bool forest = false;
  };
  using Each = std::function<Status(uint64_t a, uint64_t b)>;

  static constexpr size_t kMinMemory = size_t{1} << 20;

  // REQUIRES: env outlives this; 0 <= bits <= kMostNearBits; memory >= kMinMemory.
  NearPairs(Env& env, const Options& options);

  Status Add(uint64_t hash) { return next_->Add({hash}); }
  // To be called once, after the last Add.
  Status Find(const Each& each);

  uint64_t distinct() const { return distinct_; }  // hashes
  uint64_t compared() const { return compared_; }  // pairs
  uint64_t parts() const { return parts_; }        // times that a bucket was cut because it was too large

 private:
  struct Item {
    uint64_t key;  // rotated
    uint32_t at;   // in parents_
  };
  using Sort = RowSortOf<1>;

  std::unique_ptr<Sort> MakeSort() const;
  Status JoinBucket(const Each& each);
  Status Join(std::span<Item> items, const Each& each);
  Status Compare(std::span<const Item> items, const Each& each);
  bool IsFirst(uint64_t differing) const;  // no earlier block or group would report a pair that differs so
  bool Unite(uint32_t a, uint32_t b);      // false: they were united already

  Env& env_;
  const Options options_;
  const size_t most_;  // of a bucket
  std::unique_ptr<Sort> next_;
  int rotation_ = 0;
  std::vector<Item> bucket_;
  std::vector<uint32_t> parents_;  // of the bucket's items
  std::vector<uint64_t> earlier_;  // masks: a pair that is equal in one of them was reported already
  uint64_t distinct_ = 0;
  uint64_t compared_ = 0;
  uint64_t parts_ = 0;
};

}  // namespace portolan
