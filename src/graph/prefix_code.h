// A canonical Huffman code of symbols whose counts are known: at most 24 bits per symbol.
//
// Symbols are ranked by code length, so a decoder gives ranks, and what belongs to a symbol stands in arrays by rank:
// the frequent ones are neighbours in memory. Codes of up to 11 bits are found by one table, longer ones by comparing
// with the first code of each length.
//
// Thread: const after Build. Memory bound: 8 KiB and a byte per symbol.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace portolan::graph {

class PrefixCode {
 public:
  static constexpr unsigned kMaxBits = 24;

  // A code for as many symbols as there are counts, at most 65,535 and at least two; a count of 0 is taken as 1.
  // Returns the symbol of each rank.
  std::vector<uint32_t> Build(std::span<const uint64_t> counts);

  struct Decoded {
    uint32_t rank;
    unsigned bits;
  };
  // The code in the highest bits of the window, of which at least 24 must be there.
  Decoded Decode(uint64_t window) const {
    const uint32_t entry = table_[window >> (64 - kTableBits)];
    if (entry != 0) [[likely]]
      return {entry >> 8, entry & 255};
    return DecodeLong(window);
  }

  unsigned bits(uint32_t rank) const { return bits_[rank]; }
  uint32_t code(uint32_t rank) const {
    const unsigned length = bits_[rank];
    return first_code_[length] + (rank - first_rank_[length]);
  }
  uint64_t memory() const { return sizeof *this + table_.capacity() * sizeof(uint32_t) + bits_.capacity(); }

 private:
  static constexpr unsigned kTableBits = 11;
  Decoded DecodeLong(uint64_t window) const;

  std::vector<uint32_t> table_;  // rank * 256 + bits; 0: longer
  std::vector<uint8_t> bits_;    // by rank
  std::array<uint32_t, kMaxBits + 1> first_code_{};
  std::array<uint32_t, kMaxBits + 1> first_rank_{};
  std::array<uint64_t, kMaxBits + 1> last_{};  // the largest window that begins with a code of this length or less
};

}  // namespace portolan::graph
