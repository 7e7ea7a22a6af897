// Writes instantaneous codes into a growing string of bytes, highest bit first: the counterpart of BitReader.
//
// Thread: one. Memory: what was written and not taken.

#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "graph/codes.h"

namespace portolan::graph {

class BitWriter {
 public:
  // The lowest `count` bits of `value`, at most 64; the bits above them are zero.
  void WriteBits(uint64_t value, unsigned count) {
    if (count == 0) return;
    written_ += count;
    if (count < free_) {
      free_ -= count;
      word_ |= value << free_;
      return;
    }
    const unsigned rest = count - free_;
    AppendWord(word_ | value >> rest);  // rest is below 64, because free_ is at least 1
    free_ = 64 - rest;
    word_ = rest == 0 ? 0 : value << free_;
  }

  void WriteUnary(uint64_t x);
  void WriteGamma(uint64_t x) {
    const auto width = static_cast<unsigned>(std::bit_width(x + 1));
    if (width > 32) [[unlikely]] {
      WriteBits(0, width - 1);
      return WriteBits(x + 1, width);
    }
    WriteBits(x + 1, 2 * width - 1);
  }
  void WriteDelta(uint64_t x);
  void WriteZeta(uint64_t x, unsigned k);
  void WriteNibble(uint64_t x);
  // x is below 2^64 - 1, for zeta and nibble below 2^48.
  void Write(Code code, unsigned k, uint64_t x);

  // Bits written since the beginning.
  uint64_t written() const { return written_; }

  // The bytes that are full, which the writer then forgets; what is left of a word stays until the next call or Finish.
  std::string TakeBytes() { return std::exchange(bytes_, {}); }
  // Fills the last byte with zeros and gives what was not taken yet. Nothing may be written after it.
  std::string Finish();

 private:
  void AppendWord(uint64_t word) {
    const uint64_t big_endian = __builtin_bswap64(word);
    bytes_.append(reinterpret_cast<const char*>(&big_endian), sizeof big_endian);
  }

  std::string bytes_;
  uint64_t word_ = 0;
  unsigned free_ = 64;  // 1 to 64
  uint64_t written_ = 0;
};

}  // namespace portolan::graph
