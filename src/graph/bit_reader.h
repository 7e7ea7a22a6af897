// Reads instantaneous codes from bytes, highest bit first, as WebGraph's bit streams have them.
//
// The next 56 to 64 bits stand in a register. Short gamma and zeta_3 codes, nearly all that a web graph has, are found
// by a table of their first bits; the rest is decoded from the register.
//
// Bounds: past the end of the bytes there are zeros, and the position goes on. So no bit is checked on its own: a
// caller reads a record, whose values it checks anyhow, and asks overrun() once. A code that no 64-bit number has puts
// the position past the end, where it stays until Seek. Each read takes at least a bit and ends.
//
// Thread: one. Memory: none of its own; the bytes must outlive it.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "graph/codes.h"

namespace portolan::graph {

inline constexpr unsigned kGammaTableBits = 10;
inline constexpr unsigned kZeta3TableBits = 12;

// value * 16 + bits; 0: the code is longer than the table's bits.
extern const std::array<uint16_t, 1 << kGammaTableBits> kGammaTable;
extern const std::array<uint16_t, 1 << kZeta3TableBits> kZeta3Table;

class BitReader {
 public:
  BitReader() = default;
  explicit BitReader(std::string_view bytes)
      : data_(reinterpret_cast<const uint8_t*>(bytes.data())), size_(bytes.size()) {}

  // To bit `position` from the beginning; beyond the end is an overrun.
  void Seek(uint64_t position) {
    if (position > size_ * 8) return Overrun();
    at_ = position / 8;
    window_ = 0;
    filled_ = 0;
    Refill();
    Skip(position % 8);
  }

  uint64_t position() const { return at_ * 8 - filled_; }
  bool overrun() const { return position() > size_ * 8; }
  uint64_t remaining() const { return overrun() ? 0 : size_ * 8 - position(); }

  uint64_t ReadUnary() {
    Refill();
    const auto zeros = static_cast<uint64_t>(std::countl_zero(window_));
    if (zeros >= filled_) [[unlikely]]
      return LongUnary();
    Skip(zeros + 1);
    return zeros;
  }

  // `count` bits as a number, at most 64.
  uint64_t ReadBits(uint64_t count) {
    if (count > 56) [[unlikely]] {
      const uint64_t high = ReadBits(count - 32);
      return high << 32 | ReadBits(32);
    }
    if (count == 0) return 0;
    Refill();
    const uint64_t value = window_ >> (64 - count);
    Skip(count);
    return value;
  }

  uint64_t ReadGamma() {
    Refill();
    const uint64_t entry = kGammaTable[window_ >> (64 - kGammaTableBits)];
    if (entry == 0) [[unlikely]]
      return MiddleGamma();
    Skip(entry & 15);
    return entry >> 4;
  }

  uint64_t ReadZeta3() {
    Refill();
    const uint64_t entry = kZeta3Table[window_ >> (64 - kZeta3TableBits)];
    if (entry == 0) [[unlikely]]
      return MiddleZeta3();
    Skip(entry & 15);
    return entry >> 4;
  }

  uint64_t ReadDelta();
  uint64_t ReadZeta(unsigned k) { return k == 3 ? ReadZeta3() : LongZeta(k); }
  uint64_t ReadNibble();

  uint64_t Read(Code code, unsigned k);

 private:
  // At least 56 bits in the window. Its bits below the counted ones are the stream's too, or zero.
  void Refill() {
    if (at_ + 8 > size_) [[unlikely]]
      return RefillAtEnd();
    window_ |= __builtin_bswap64(LoadLe<uint64_t>(data_ + at_)) >> filled_;
    at_ += (63 - filled_) >> 3;
    filled_ |= 56;
  }
  void RefillAtEnd();
  void Skip(uint64_t count) {
    window_ <<= count;
    filled_ -= count;
  }
  void Overrun() {
    at_ = size_ + 16;
    window_ = 0;
    filled_ = 0;
  }
  // A code of the refilled window that no table has: if it is in the window as a whole it is computed from it.
  uint64_t MiddleGamma() {
    const auto zeros = static_cast<unsigned>(std::countl_zero(window_));
    if (zeros > 27) [[unlikely]]
      return LongGamma();
    const uint64_t value = (window_ >> (63 - 2 * zeros)) - 1;
    Skip(2 * zeros + 1);
    return value;
  }
  uint64_t MiddleZeta3() {
    const auto h = static_cast<unsigned>(std::countl_zero(window_));
    if (h > 12) [[unlikely]]
      return LongZeta(3);
    const uint64_t rest = window_ << (h + 1);
    const uint64_t left = uint64_t{1} << (3 * h);
    const uint64_t short_tail = rest >> (62 - 3 * h);
    const uint64_t long_tail = rest >> (61 - 3 * h);
    const bool is_short = short_tail < left;
    Skip(4 * h + (is_short ? 3 : 4));
    return (is_short ? short_tail + left : long_tail) - 1;
  }
  uint64_t LongUnary();
  uint64_t LongGamma();
  uint64_t LongZeta(unsigned k);

  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t at_ = 0;      // the next byte that is not counted in the window
  uint64_t window_ = 0;  // the next bits, the first one highest
  uint64_t filled_ = 0;  // how many of them count: 0 to 63
};

}  // namespace portolan::graph
