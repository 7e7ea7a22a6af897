// The instantaneous codes of WebGraph, by name and by length: unary, gamma, delta, zeta and nibble.
//
// All code naturals from zero. With y = x + 1 and m = floor(log2 y):
//   unary   x zeros and a one
//   gamma   m in unary, then the m lower bits of y (Elias)
//   delta   m in gamma, then the m lower bits of y (Elias)
//   zeta_k  h = floor(m / k) in unary, then y - 2^(hk) in minimal binary coding over [0, 2^(hk+k) - 2^(hk)): the first
//           2^(hk) values take hk + k - 1 bits, the others hk + k (Boldi and Vigna, "Codes for the World Wide Web")
//   nibble  x itself in groups of three bits, the highest first, each after a bit that is one in the last group
//
// Thread: values without state.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan::graph {

enum class Code : uint8_t { kUnary, kGamma, kDelta, kZeta, kNibble };

// "GAMMA" and so on, as properties files have them.
std::string_view CodeName(Code code);
std::optional<Code> CodeByName(std::string_view name);

// Bits that `x` takes; for zeta `k` is its parameter, 1 to 16. x is below 2^64 - 1.
uint64_t CodeLength(Code code, unsigned k, uint64_t x);

// The same from a table: but for unary the length depends only on the bit width of x + 1 (of x for nibble).
class CodeLengths {
 public:
  CodeLengths() : CodeLengths(Code::kGamma, 3) {}
  CodeLengths(Code code, unsigned k);

  uint64_t operator()(uint64_t x) const {
    if (unary_) [[unlikely]]
      return x + 1;
    return by_width_[static_cast<size_t>(std::bit_width(x + plus_))];
  }

 private:
  std::array<uint8_t, 65> by_width_{};
  uint8_t plus_;
  bool unary_;
};

}  // namespace portolan::graph
