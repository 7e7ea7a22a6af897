#include "graph/bit_writer.h"

namespace portolan::graph {

void BitWriter::WriteUnary(uint64_t x) {
  while (x >= 63) {
    WriteBits(0, 63);
    x -= 63;
  }
  WriteBits(1, static_cast<unsigned>(x) + 1);
}

void BitWriter::WriteDelta(uint64_t x) {
  const auto msb = static_cast<unsigned>(std::bit_width(x + 1)) - 1;
  WriteGamma(msb);
  WriteBits((x + 1) ^ (uint64_t{1} << msb), msb);
}

void BitWriter::WriteZeta(uint64_t x, unsigned k) {
  const uint64_t y = x + 1;
  const unsigned h = (static_cast<unsigned>(std::bit_width(y)) - 1) / k;
  const uint64_t left = uint64_t{1} << (h * k);
  WriteUnary(h);
  if (y - left < left) {
    WriteBits(y - left, h * k + k - 1);
  } else {
    WriteBits(y, h * k + k);
  }
}

void BitWriter::WriteNibble(uint64_t x) {
  unsigned groups = x == 0 ? 1 : (static_cast<unsigned>(std::bit_width(x)) + 2) / 3;
  while (groups-- > 0) WriteBits((x >> (3 * groups) & 7) | (groups == 0 ? 8 : 0), 4);
}

void BitWriter::Write(Code code, unsigned k, uint64_t x) {
  switch (code) {
    case Code::kUnary:
      return WriteUnary(x);
    case Code::kGamma:
      return WriteGamma(x);
    case Code::kDelta:
      return WriteDelta(x);
    case Code::kZeta:
      return WriteZeta(x, k);
    case Code::kNibble:
      return WriteNibble(x);
  }
}

std::string BitWriter::Finish() {
  if (free_ < 64) AppendWord(word_);
  bytes_.resize(bytes_.size() - (free_ == 64 ? 0 : free_ / 8));
  word_ = 0;
  free_ = 64;
  return std::exchange(bytes_, {});
}

}  // namespace portolan::graph
