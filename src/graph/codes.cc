#include "graph/codes.h"

#include <array>

namespace portolan::graph {
namespace {

constexpr std::array<std::string_view, 5> kCodeNames = {"UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE"};

}  // namespace

std::string_view CodeName(Code code) { return kCodeNames[static_cast<size_t>(code)]; }

std::optional<Code> CodeByName(std::string_view name) {
  for (size_t i = 0; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i] == name) return static_cast<Code>(i);
  }
  return std::nullopt;
}

uint64_t CodeLength(Code code, unsigned k, uint64_t x) {
  const auto msb = static_cast<unsigned>(std::bit_width(x + 1)) - 1;
  switch (code) {
    case Code::kUnary:
      return x + 1;
    case Code::kGamma:
      return 2 * msb + 1;
    case Code::kDelta:
      return 2 * (static_cast<unsigned>(std::bit_width(msb + 1U)) - 1) + 1 + msb;
    case Code::kZeta: {
      const unsigned h = msb / k;
      return h + 1 + h * k + k - (msb == h * k ? 1 : 0);
    }
    case Code::kNibble:
      return x == 0 ? 4 : (static_cast<unsigned>(std::bit_width(x)) + 2) / 3 * 4;
  }
  return 0;
}

CodeLengths::CodeLengths(Code code, unsigned k) : plus_(code == Code::kNibble ? 0 : 1), unary_(code == Code::kUnary) {
  if (unary_) return;
  for (unsigned width = plus_; width < by_width_.size(); ++width) {
    const uint64_t of_width = width == 0 ? 0 : uint64_t{1} << (width - 1);
    by_width_[width] = static_cast<uint8_t>(CodeLength(code, k, of_width - (width == 0 ? 0 : plus_)));
  }
}

}  // namespace portolan::graph
