#include "disk/gap_code.h"

#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr size_t kHeader = 9;
constexpr size_t kPadding = 16;

size_t BytesFor(uint64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

// Remainder bits for `gaps` gaps (each less 1) that sum to `sum`: floor(log2(mean × ln 2)).
unsigned RemainderBits(uint64_t sum, size_t gaps) {
  const double mean = static_cast<double>(sum) / static_cast<double>(gaps) * 0.6931471805599453;
  return mean < 2 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(mean)) - 1);
}

uint64_t LoadBits(const char* bytes, uint64_t bit, uint64_t mask) {
  Wide wide;
  std::memcpy(&wide, bytes + bit / 8, sizeof wide);
  return static_cast<uint64_t>(wide >> (bit % 8)) & mask;
}

void OrBits(char* bytes, uint64_t bit, uint64_t value) {
  Wide wide;
  std::memcpy(&wide, bytes + bit / 8, sizeof wide);
  wide |= static_cast<Wide>(value) << (bit % 8);
  std::memcpy(bytes + bit / 8, &wide, sizeof wide);
}

}  // namespace

void AppendGapCoded(std::span<const uint64_t> keys, std::string& out) {
  CHECK(!keys.empty());
  const size_t gaps = keys.size() - 1;
  const uint64_t sum = keys.back() - keys.front() - gaps;
  const unsigned width = gaps == 0 ? 0 : RemainderBits(sum, gaps);
  const uint64_t mask = (uint64_t{1} << width) - 1;

  // Quotients sum to at most sum / 2^width, which is below 3 per gap by the choice of width.
  const size_t start = out.size();
  const size_t remainder_bytes = BytesFor(uint64_t{gaps} * width);
  out.resize(start + kHeader + remainder_bytes + BytesFor(gaps + (sum >> width)) + kPadding, '\0');
  char* remainders = out.data() + start + kHeader;
  char* quotients = remainders + remainder_bytes;
  StoreLe<uint64_t>(out.data() + start, keys.front());
  out[start + 8] = static_cast<char>(width);

  uint64_t remainder_at = 0;
  uint64_t quotient_at = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    DCHECK(keys[i] > keys[i - 1]);
    const uint64_t gap = keys[i] - keys[i - 1] - 1;
    OrBits(remainders, remainder_at, gap & mask);
    remainder_at += width;
    quotient_at += gap >> width;
    quotients[quotient_at / 8] = static_cast<char>(quotients[quotient_at / 8] | (1 << (quotient_at % 8)));
    ++quotient_at;
  }
  out.resize(start + kHeader + remainder_bytes + BytesFor(quotient_at) + kPadding);
  // Remainders were OR-ed 16 bytes wide; only zeros went past their end, so the quotients and the padding are as they
  // should be.
}

size_t DecodeGapCoded(std::string_view bytes, size_t count, uint64_t* keys) {
  if (count == 0 || bytes.size() < kHeader + kPadding) return 0;
  const auto width = static_cast<uint8_t>(bytes[8]);
  const size_t gaps = count - 1;
  if (width > 63 || gaps > bytes.size() * 8) return 0;
  const size_t remainder_bytes = BytesFor(uint64_t{gaps} * width);
  if (remainder_bytes > bytes.size() - kHeader - kPadding) return 0;
  const char* remainders = bytes.data() + kHeader;
  const char* quotients = remainders + remainder_bytes;
  const uint64_t quotient_limit = (bytes.size() - kHeader - kPadding - remainder_bytes) * 8;
  const uint64_t mask = (uint64_t{1} << width) - 1;

  uint64_t key = LoadLe<uint64_t>(bytes.data());
  keys[0] = key;
  uint64_t remainder_at = 0;
  uint64_t word_at = 0;  // bit where `word` begins
  uint64_t word = LoadLe<uint64_t>(quotients);
  uint64_t quotient_at = 0;
  for (size_t i = 1; i <= gaps; ++i) {
    while (word == 0) {
      word_at += 64;
      if (word_at >= quotient_limit) return 0;
      // The padding makes this load legal wherever a bit of the code remains.
      word = LoadLe<uint64_t>(quotients + word_at / 8);
    }
    const uint64_t one = word_at + static_cast<uint64_t>(std::countr_zero(word));
    word &= word - 1;
    const uint64_t quotient = one - quotient_at;
    quotient_at = one + 1;
    const uint64_t gap = (quotient << width) + LoadBits(remainders, remainder_at, mask) + 1;
    remainder_at += width;
    if (key + gap <= key) return 0;
    key += gap;
    keys[i] = key;
  }
  if (quotient_at > quotient_limit) return 0;
  return kHeader + remainder_bytes + BytesFor(quotient_at) + kPadding;
}

}  // namespace portolan
