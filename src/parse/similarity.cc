#include "parse/similarity.h"

#include <array>
#include <bit>

#include "base/ascii.h"
#include "base/hash.h"

namespace portolan {
namespace {

// Bit i of the byte in lane i.
constexpr std::array<uint64_t, 256> MakeLanes() {
  std::array<uint64_t, 256> lanes{};
  for (size_t byte = 0; byte < 256; ++byte) {
    for (size_t bit = 0; bit < 8; ++bit) lanes[byte] |= ((byte >> bit) & 1) << (8 * bit);
  }
  return lanes;
}
constexpr std::array<uint64_t, 256> kLanes = MakeLanes();

class Votes {
 public:
  void Add(uint64_t hash) {
    for (size_t byte = 0; byte < 8; ++byte) lanes_[byte] += kLanes[(hash >> (8 * byte)) & 0xff];
    ++features_;
    if (++pending_ == 255) Collect();
  }

  uint64_t Result() {
    Collect();
    uint64_t result = 0;
    for (size_t bit = 0; bit < 64; ++bit) {
      if (2 * ones_[bit] > features_) result |= uint64_t{1} << bit;
    }
    // 0 stands for "not taken".
    return features_ != 0 && result == 0 ? 1 : result;
  }

 private:
  void Collect() {
    for (size_t bit = 0; bit < 64; ++bit) ones_[bit] += (lanes_[bit / 8] >> (8 * (bit % 8))) & 0xff;
    lanes_.fill(0);
    pending_ = 0;
  }

  std::array<uint64_t, 8> lanes_{};
  std::array<uint64_t, 64> ones_{};
  uint64_t features_ = 0;
  int pending_ = 0;
};

constexpr bool IsGap(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

}  // namespace

uint64_t SimilarityHash(std::string_view text) {
  Votes votes;
  uint64_t before = 0;
  uint64_t two_before = 0;
  uint64_t words = 0;
  for (size_t at = 0; at < text.size();) {
    if (IsGap(text[at])) {
      ++at;
      continue;
    }
    uint64_t word = 0xcbf29ce484222325;  // FNV-1a: words are short, and Mix64 below does the spreading
    for (; at < text.size() && !IsGap(text[at]); ++at) {
      word = (word ^ static_cast<uint8_t>(AsciiLower(text[at]))) * 0x100000001b3;
    }
    if (++words >= 3) votes.Add(Mix64(word + std::rotl(before, 21) + std::rotl(two_before, 42)));
    two_before = before;
    before = word;
  }
  return votes.Result();
}

}  // namespace portolan
