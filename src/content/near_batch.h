// NearBatch: a set of 64-bit hashes in memory that is asked for the neighbours of others: few new hashes against many
// old ones, which pass by once (the batch of queries in Manku, Jain and Das Sarma, 2007, section 3.3).
//
// k + 1 sorted copies, rotated so that another block comes first in each, with an index by the first 16 bits or fewer.
//
// Thread: one owner. Memory bound: (k + 1) × 12 bytes per hash and 256 KiB. Time per question: k + 1 places in memory,
// and n × (k + 1) / 65,536 comparisons at k = 3 if the hashes are evenly spread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace portolan {

class NearBatch {
 public:
  static constexpr int kMostBits = 4;  // more would make the blocks too short for an index
  static constexpr size_t BytesFor(size_t hashes, int bits) {
    return static_cast<size_t>(bits + 1) * (hashes * 12 + (size_t{1} << 18));
  }

  // REQUIRES: 0 <= bits <= kMostBits; fewer than 2^32 hashes, each once.
  NearBatch(std::span<const uint64_t> hashes, int bits);

  // The places, in the span, of hashes that differ from this one in 1 to `bits` bits, each once. Valid until the next
  // call.
  const std::vector<uint32_t>& Near(uint64_t hash);

 private:
  struct Copy {
    int rotation;
    int width;                   // of its first block
    std::vector<uint64_t> keys;  // rotated, sorted
    std::vector<uint32_t> places;
    std::vector<uint32_t> begins;  // by the first min(width, 16) bits
  };
  static int IndexBits(int width) { return width < 16 ? width : 16; }

  const int bits_;
  std::vector<Copy> copies_;
  std::vector<uint32_t> found_;
};

}  // namespace portolan
