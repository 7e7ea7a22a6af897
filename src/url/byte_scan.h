// Finding the first byte of a set, sixteen bytes at a time where the machine has SSSE3, one at a time elsewhere.
//
// There are no bounds checks: the text is in our own buffer and is followed by kScanPadding bytes of a member of the
// set (a sentinel), so that every scan ends, and reads past the text stay within the buffer.

#pragma once

#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace portolan::url_internal {

inline constexpr size_t kScanPadding = 16;

// A set of ASCII bytes; all bytes from 0x80 on belong to every set.
class ByteSet {
 public:
  template <typename Predicate>
  static constexpr ByteSet Of(Predicate member) {
    ByteSet set;
    for (unsigned c = 0; c < 256; ++c) {
      if (c >= 0x80 || member(c)) set.members_[c] = true;
      if (c < 0x80 && member(c)) set.rows_[c & 15] = static_cast<uint8_t>(set.rows_[c & 15] | 1U << (c >> 4));
    }
    return set;
  }

  bool Has(char c) const { return members_[static_cast<uint8_t>(c)]; }

#if defined(__SSSE3__)
  // One bit for each of the sixteen bytes: is it a member? The low half of a byte chooses a row of eight bits, the high
  // half one of them.
  unsigned Members(__m128i block) const {
    const __m128i rows = _mm_load_si128(reinterpret_cast<const __m128i*>(rows_.data()));
    const __m128i bits = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(block, 4), _mm_set1_epi8(15));
    const __m128i both = _mm_and_si128(_mm_shuffle_epi8(rows, block), _mm_shuffle_epi8(bits, high));
    const auto outside = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(both, _mm_setzero_si128())));
    return (~outside & 0xffffU) | static_cast<unsigned>(_mm_movemask_epi8(block));
  }

  // REQUIRES: a member stands at or after `at`, and kScanPadding bytes after it may be read.
  const char* Find(const char* at) const {
    while (true) {
      const unsigned members = Members(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
      if (members != 0) return at + std::countr_zero(members);
      at += 16;
    }
  }
#else
  const char* Find(const char* at) const { return FindOneByOne(at); }
#endif

  const char* FindOneByOne(const char* at) const {
    while (!Has(*at)) ++at;
    return at;
  }

 private:
  alignas(16) std::array<uint8_t, 16> rows_{};
  std::array<bool, 256> members_{};
};

}  // namespace portolan::url_internal
