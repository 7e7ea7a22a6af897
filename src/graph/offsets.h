// Where each list begins in the graph file, as an Elias–Fano sequence: BASE.offsets in memory.
//
// A monotone sequence of n + 1 numbers up to u: the lowest l = floor(log2(u / n)) bits of each stand in an array, the
// rest as a bit vector in unary, with the place of each 64th one kept. Finding a number reads one sample, usually one
// to three words of the bit vector, and the low bits.
//
// Thread: immutable once built; any number of threads read.
// Memory bound: l + 2 + 1 bits per node and some words; 8 bits per node for a graph of 35 bits per node.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/codes.h"

namespace portolan::graph {

class GraphOffsets {
 public:
  GraphOffsets() = default;

  // `bytes`: nodes + 1 gaps, the first of which is the place of the first list. None may lead beyond `graph_bits`.
  // Allocates no more than the bytes can tell of: a gap takes at least a bit.
  static Result<GraphOffsets> Decode(std::string_view bytes, uint64_t nodes, uint64_t graph_bits, Code code,
                                     unsigned zeta_k);

  uint64_t size() const { return size_; }
  // REQUIRES: index < size().
  uint64_t operator[](uint64_t index) const {
    const uint64_t high = Select(index) - index;
    return high << low_bits_ | Low(index);
  }
  // In memory.
  uint64_t bits() const { return (low_.size() + high_.size() + samples_.size()) * 64; }

 private:
  void Init(uint64_t size, uint64_t last);
  void Add(uint64_t value);
  uint64_t Select(uint64_t index) const;
  uint64_t Low(uint64_t index) const {
    if (low_bits_ == 0) return 0;
    const uint64_t bit = index * low_bits_;
    const uint64_t shift = bit % 64;
    uint64_t value = low_[bit / 64] >> shift;
    if (shift + low_bits_ > 64) value |= low_[bit / 64 + 1] << (64 - shift);
    return value & ((uint64_t{1} << low_bits_) - 1);
  }

  uint64_t size_ = 0;
  uint64_t low_bits_ = 0;
  std::vector<uint64_t> low_;
  std::vector<uint64_t> high_;
  std::vector<uint64_t> samples_;  // the bit in high_ of each 64th number
};

}  // namespace portolan::graph
