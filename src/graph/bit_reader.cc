#include "graph/bit_reader.h"

namespace portolan::graph {
namespace {

// The table of a code over its first `bits` bits: each short code stands at all numbers that begin with it.
template <size_t kSize, typename Decode>
constexpr std::array<uint16_t, kSize> MakeCodeTable(unsigned bits, Decode decode) {
  std::array<uint16_t, kSize> table{};
  for (uint32_t prefix = 0; prefix < kSize; ++prefix) {
    uint32_t value = 0;
    uint32_t length = 0;
    decode(prefix << (32 - bits), value, length);
    if (length <= bits) table[prefix] = static_cast<uint16_t>(value << 4 | length);
  }
  return table;
}

// `bits`: the beginning of a stream, highest bit first.
constexpr void DecodeShortGamma(uint32_t bits, uint32_t& value, uint32_t& length) {
  const auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
  length = 2 * zeros + 1;
  if (length <= 15) value = (bits >> (32 - length)) - 1;
}

constexpr void DecodeShortZeta3(uint32_t bits, uint32_t& value, uint32_t& length) {
  const auto h = static_cast<uint32_t>(std::countl_zero(bits));
  length = 4 * h + 3;
  if (length > 15) return;
  const uint32_t left = 1U << (3 * h);
  const uint32_t tail = (bits << (h + 1)) >> (32 - (3 * h + 2));
  if (tail < left) {
    value = tail + left - 1;
    return;
  }
  value = ((bits << (h + 1)) >> (32 - (3 * h + 3))) - 1;
  ++length;
}

}  // namespace

constexpr std::array<uint16_t, 1 << kGammaTableBits> kGammaTable =
    MakeCodeTable<1 << kGammaTableBits>(kGammaTableBits, DecodeShortGamma);
constexpr std::array<uint16_t, 1 << kZeta3TableBits> kZeta3Table =
    MakeCodeTable<1 << kZeta3TableBits>(kZeta3TableBits, DecodeShortZeta3);

void BitReader::RefillAtEnd() {
  while (filled_ < 56) {
    const uint64_t byte = at_ < size_ ? data_[at_] : 0;
    window_ |= byte << (56 - filled_);
    ++at_;
    filled_ += 8;
  }
}

uint64_t BitReader::LongUnary() {
  uint64_t zeros = 0;
  for (;;) {
    zeros += filled_;
    Skip(filled_);
    window_ = 0;
    Refill();
    const auto more = static_cast<uint64_t>(std::countl_zero(window_));
    if (more < filled_) {
      Skip(more + 1);
      return zeros + more;
    }
    if (at_ > size_) {
      Overrun();
      return 0;
    }
  }
}

uint64_t BitReader::LongGamma() {
  const uint64_t msb = ReadUnary();
  if (msb > 63) {
    Overrun();
    return 0;
  }
  return (uint64_t{1} << msb | ReadBits(msb)) - 1;
}

uint64_t BitReader::ReadDelta() {
  const uint64_t msb = ReadGamma();
  if (msb > 63) {
    Overrun();
    return 0;
  }
  return (uint64_t{1} << msb | ReadBits(msb)) - 1;
}

uint64_t BitReader::LongZeta(unsigned k) {
  const uint64_t h = ReadUnary();
  if (h * k > 63) {
    Overrun();
    return 0;
  }
  const uint64_t low_bits = h * k + k - 1;
  if (low_bits > 63) {
    Overrun();
    return 0;
  }
  const uint64_t left = uint64_t{1} << (h * k);
  const uint64_t tail = ReadBits(low_bits);
  if (tail < left) return tail + left - 1;
  return (tail << 1 | ReadBits(1)) - 1;
}

uint64_t BitReader::ReadNibble() {
  uint64_t value = 0;
  for (int group = 0; group < 22; ++group) {
    const uint64_t bits = ReadBits(4);
    value = value << 3 | (bits & 7);
    if ((bits & 8) != 0) return value;
  }
  Overrun();
  return 0;
}

uint64_t BitReader::Read(Code code, unsigned k) {
  switch (code) {
    case Code::kUnary:
      return ReadUnary();
    case Code::kGamma:
      return ReadGamma();
    case Code::kDelta:
      return ReadDelta();
    case Code::kZeta:
      return ReadZeta(k);
    case Code::kNibble:
      return ReadNibble();
  }
  return 0;
}

}  // namespace portolan::graph
