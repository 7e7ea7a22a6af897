#include "parse/similarity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/bytes.h"
#include "base/hash.h"

namespace portolan {
namespace {

// How many of the hashes that were added have bit i, for each i of 64 at once. Counters stand upright: bit i of
// planes_[p] is bit p of the counter of bit i, so that adding a hash is adding a number of one bit in 64 lanes. Eight
// hashes are added together, by a tree of carry-save adders: seven of them for eight hashes.
class Votes {
 public:
  void Add(uint64_t hash) {
    pending_[features_++ % kTogether] = hash;
    if (features_ % kTogether == 0) Collect();
  }

  // Bits that more than half of the hashes have.
  uint64_t Result() {
    const size_t left = features_ % kTogether;
    if (left != 0) {
      std::fill(pending_.begin() + static_cast<ptrdiff_t>(left), pending_.end(), 0);
      Collect();
    }
    // In all lanes: counter > features_ / 2, compared from the highest bit down.
    const uint64_t half = features_ / 2;
    uint64_t more = 0;
    uint64_t equal = ~uint64_t{0};
    for (size_t plane = kPlanes; plane-- > 0;) {
      if ((half >> plane & 1) != 0) {
        equal &= planes_[plane];
      } else {
        more |= equal & planes_[plane];
        equal &= ~planes_[plane];
      }
    }
    // 0 stands for "not taken".
    return features_ != 0 && more == 0 ? 1 : more;
  }

 private:
  static constexpr size_t kTogether = 8;
  static constexpr size_t kPlanes = 40;  // texts are shorter than 2^40 words

  // a + b + c in each lane: the sum stays in a, the carry is returned.
  static uint64_t AddThree(uint64_t& a, uint64_t b, uint64_t c) {
    const uint64_t either = a ^ b;
    const uint64_t carry = (a & b) | (either & c);
    a = either ^ c;
    return carry;
  }

  void Collect() {
    const auto& p = pending_;
    const uint64_t two_a = AddThree(planes_[0], p[0], p[1]);
    const uint64_t two_b = AddThree(planes_[0], p[2], p[3]);
    const uint64_t two_c = AddThree(planes_[0], p[4], p[5]);
    const uint64_t two_d = AddThree(planes_[0], p[6], p[7]);
    const uint64_t four_a = AddThree(planes_[1], two_a, two_b);
    const uint64_t four_b = AddThree(planes_[1], two_c, two_d);
    uint64_t carry = AddThree(planes_[2], four_a, four_b);
    for (size_t plane = 3; carry != 0; ++plane) {
      const uint64_t next = planes_[plane] & carry;
      planes_[plane] ^= carry;
      carry = next;
    }
  }

  std::array<uint64_t, kTogether> pending_{};
  std::array<uint64_t, kPlanes> planes_{};
  uint64_t features_ = 0;
};

constexpr bool IsGap(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

// Calls `each` with the bounds of each word.
void ForEachWord(std::string_view text, const auto& each) {
  size_t begin = 0;
  const auto end_word = [&](size_t gap) {
    if (gap > begin) each(begin, gap);
    begin = gap + 1;
  };
  size_t at = 0;
#ifdef __SSE2__
  // 64 bytes a step: how many words a step has is what branch prediction fails at.
  const auto gaps = [&](size_t from) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + from));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
    const __m128i found =
        _mm_or_si128(_mm_or_si128(is(' '), is('\n')), _mm_or_si128(_mm_or_si128(is('\t'), is('\r')), is('\f')));
    return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(found)));
  };
  for (; at + 64 <= text.size(); at += 64) {
    uint64_t rest = gaps(at) | gaps(at + 16) << 16 | gaps(at + 32) << 32 | gaps(at + 48) << 48;
    for (; rest != 0; rest &= rest - 1) end_word(at + static_cast<size_t>(std::countr_zero(rest)));
  }
#endif
  for (; at < text.size(); ++at) {
    if (IsGap(text[at])) end_word(at);
  }
  end_word(text.size());
}

// By number of bytes: what of eight loaded ones belongs to them.
constexpr std::array<uint64_t, 9> kFirstBytes = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~uint64_t{0}};

// Of text[begin, end): sixteen bytes without a branch, as nearly all words are shorter; the spreading is Mix64's below.
// One bit is set in each byte, which makes letters of ASCII lower-case; a few other characters become one.
uint64_t WordHash(std::string_view text, size_t begin, size_t end) {
  constexpr size_t kStep = 16;
  constexpr uint64_t kLower = 0x2020202020202020;
  // Any odd numbers do.
  constexpr uint64_t kLowFactor = 0x9bbc8be1b747db21;
  constexpr uint64_t kHighFactor = 0xc2b24627fc9ae35f;
  uint64_t hash = 0;
  const auto add = [&](uint64_t low, uint64_t high) {
    hash = ((hash ^ low) * kLowFactor) ^ std::rotl(high * kHighFactor, 32);
  };
  for (; end - begin > kStep; begin += kStep) {
    add(LoadLe<uint64_t>(text.data() + begin) | kLower, LoadLe<uint64_t>(text.data() + begin + 8) | kLower);
  }
  std::array<char, kStep> bytes{};
  const char* from = text.data() + begin;
  const size_t size = end - begin;
  if (begin + kStep > text.size()) [[unlikely]] {
    std::memcpy(bytes.data(), from, size);
    from = bytes.data();
  }
  const size_t low = std::min<size_t>(size, 8);
  add((LoadLe<uint64_t>(from) | kLower) & kFirstBytes[low],
      (LoadLe<uint64_t>(from + 8) | kLower) & kFirstBytes[size - low]);
  return hash;
}

}  // namespace

uint64_t SimilarityHash(std::string_view text) {
  Votes votes;
  uint64_t before = 0;
  uint64_t two_before = 0;
  uint64_t words = 0;
  ForEachWord(text, [&](size_t begin, size_t end) {
    const uint64_t word = WordHash(text, begin, end);
    if (++words >= 3) votes.Add(Mix64(word + std::rotl(before, 21) + std::rotl(two_before, 42)));
    two_before = before;
    before = word;
  });
  return votes.Result();
}

}  // namespace portolan
