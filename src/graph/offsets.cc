#include "graph/offsets.h"

#include <fmt/core.h>

#include <array>
#include <bit>

#include "graph/bit_reader.h"

namespace portolan::graph {
namespace {

// The place of the one with r ones below it in a byte: [r][byte].
constexpr auto kSelectInByte = [] {
  std::array<std::array<uint8_t, 256>, 8> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0, rank = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) table[rank++][byte] = static_cast<uint8_t>(bit);
    }
  }
  return table;
}();

// The place of the one with `rank` ones below it, without branches (Vigna, "Broadword implementation of rank/select
// queries"). REQUIRES: there are that many.
uint64_t SelectInWord(uint64_t word, uint64_t rank) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  uint64_t sums = word - (word >> 1 & 0x5555555555555555);
  sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * kOnes;            // in byte i: ones in bytes 0 to i, at most 64
  const uint64_t not_above = ((rank * kOnes | kHighs) - sums) & kHighs;  // bytes whose sum is at most rank
  const auto at = static_cast<uint64_t>(std::popcount(not_above)) * 8;
  const uint64_t below = (sums << 8) >> at & 0xff;
  return at + kSelectInByte[rank - below][word >> at & 0xff];
}

}  // namespace

void GraphOffsets::Init(uint64_t size, uint64_t last) {
  low_bits_ = last / size <= 1 ? 0 : static_cast<uint64_t>(std::bit_width(last / size)) - 1;
  low_.assign((size * low_bits_ + 63) / 64, 0);
  high_.assign((size + (last >> low_bits_)) / 64 + 1, 0);
  samples_.reserve(size / 64 + 1);
}

void GraphOffsets::Add(uint64_t value) {
  const uint64_t one = (value >> low_bits_) + size_;
  high_[one / 64] |= uint64_t{1} << (one % 64);
  if (size_ % 64 == 0) samples_.push_back(one);
  if (low_bits_ > 0) {
    const uint64_t low = value & ((uint64_t{1} << low_bits_) - 1);
    const uint64_t bit = size_ * low_bits_;
    low_[bit / 64] |= low << (bit % 64);
    if (bit % 64 + low_bits_ > 64) low_[bit / 64 + 1] |= low >> (64 - bit % 64);
  }
  ++size_;
}

uint64_t GraphOffsets::Select(uint64_t index) const {
  const uint64_t sample = samples_[index / 64];
  uint64_t rank = index % 64;
  uint64_t at = sample / 64;
  uint64_t word = high_[at] & (~uint64_t{0} << (sample % 64));
  for (;;) {
    const auto ones = static_cast<uint64_t>(std::popcount(word));
    if (rank < ones) break;
    rank -= ones;
    word = high_[++at];
  }
  return at * 64 + SelectInWord(word, rank);
}

Result<GraphOffsets> GraphOffsets::Decode(std::string_view bytes, uint64_t nodes, uint64_t graph_bits, Code code,
                                          unsigned zeta_k) {
  if (nodes + 1 > bytes.size() * 8) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("graph offsets: {} bytes are too few for {} nodes", bytes.size(), nodes));
  }
  GraphOffsets offsets;
  offsets.Init(nodes + 1, graph_bits);
  BitReader reader(bytes);
  uint64_t at = 0;
  for (uint64_t node = 0; node <= nodes; ++node) {
    const uint64_t gap = reader.Read(code, zeta_k);
    if (reader.overrun()) return Fail(ErrorCode::kCorrupt, fmt::format("graph offsets: end at node {}", node));
    if (gap > graph_bits - at) {
      return Fail(ErrorCode::kCorrupt, fmt::format("graph offsets: node {} is beyond the graph file", node));
    }
    at += gap;
    offsets.Add(at);
  }
  return offsets;
}

}  // namespace portolan::graph
