// An array of HyperLogLog counters: how many different nodes a set has, in m = 2^log2m bytes per set.
//
// Source: P. Flajolet, E. Fusy, O. Gandouet, F. Meunier, "HyperLogLog: the analysis of a near-optimal cardinality
// estimation algorithm", 2007. An element's hash chooses one of m registers and gives it the number of zeros before its
// first one, plus 1, if that is more than it has. The estimate is alpha_m m^2 / (sum of 2^-register), or below 2.5 m,
// while a register is still 0, m ln(m / number of those) (linear counting). The union of two sets is the maximum of
// each register. Relative standard deviation: 1.04 / sqrt(m).
//
// Departures: hashes have 64 bits, so there is no correction for large sets; a register is a byte, not 5 bits, so that
// sixteen of them are united by one instruction.
//
// Thread: one owner. Memory bound: 2^log2m bytes per counter.

#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/hash.h"

namespace portolan::graph {

inline constexpr unsigned kMinLog2m = 4;
inline constexpr unsigned kMaxLog2m = 16;

// 1.04 / sqrt(m).
inline double HyperLogLogError(unsigned log2m) { return 1.04 / std::sqrt(static_cast<double>(uint64_t{1} << log2m)); }

class HyperLogLogArray {
 public:
  // REQUIRES: kMinLog2m <= log2m <= kMaxLog2m.
  HyperLogLogArray(uint64_t counters, unsigned log2m)
      : log2m_(log2m), registers_(counters << log2m), alpha_m2_(Alpha(log2m) * Square(log2m)) {
    for (unsigned i = 0; i < powers_.size(); ++i) powers_[i] = std::ldexp(1.0, -static_cast<int>(i));
  }

  size_t registers() const { return size_t{1} << log2m_; }
  uint8_t* operator[](uint64_t counter) { return registers_.data() + (counter << log2m_); }
  const uint8_t* operator[](uint64_t counter) const { return registers_.data() + (counter << log2m_); }

  void Add(uint64_t counter, uint64_t hash) {
    uint8_t& has = (*this)[counter][hash & (registers() - 1)];
    // The bit that is set bounds a hash whose other bits are all 0.
    const auto rank = static_cast<uint8_t>(1 + std::countr_zero(hash >> log2m_ | uint64_t{1} << (63 - log2m_)));
    if (rank > has) has = rank;
  }

  // into = the union of `into` and `from`: registers() bytes each.
  void Unite(uint8_t* into, const uint8_t* from) const {
    using Sixteen [[gnu::vector_size(16)]] = uint8_t;
    for (size_t at = 0; at < registers(); at += sizeof(Sixteen)) {
      Sixteen a;
      Sixteen b;
      std::memcpy(&a, into + at, sizeof a);
      std::memcpy(&b, from + at, sizeof b);
      a = a > b ? a : b;
      std::memcpy(into + at, &a, sizeof a);
    }
  }

  double Estimate(const uint8_t* counter) const {
    const size_t m = registers();
    double sum = 0;
    uint64_t zeros = 0;
    for (size_t i = 0; i < m; ++i) {
      sum += powers_[counter[i]];
      zeros += counter[i] == 0;
    }
    const double raw = alpha_m2_ / sum;
    if (zeros == 0 || raw > 2.5 * static_cast<double>(m)) return raw;
    return static_cast<double>(m) * std::log(static_cast<double>(m) / static_cast<double>(zeros));
  }

  void swap(HyperLogLogArray& other) noexcept { registers_.swap(other.registers_); }

 private:
  static double Square(unsigned log2m) { return std::ldexp(1.0, static_cast<int>(2 * log2m)); }
  static double Alpha(unsigned log2m) {
    if (log2m == 4) return 0.673;
    if (log2m == 5) return 0.697;
    if (log2m == 6) return 0.709;
    return 0.7213 / (1 + 1.079 / static_cast<double>(uint64_t{1} << log2m));
  }

  unsigned log2m_;
  std::vector<uint8_t> registers_;
  double alpha_m2_;
  std::array<double, 64> powers_;  // 2^-i
};

}  // namespace portolan::graph
