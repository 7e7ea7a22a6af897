#include "html/utf8_check.h"

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"
#include "base/utf8.h"

#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

namespace portolan {
namespace {

// Steps over well-formed characters from `at` to at least `until`; returns where it stopped, which is before `until`
// only where a broken or cut character stands.
size_t StepOver(std::string_view bytes, size_t at, size_t until) {
  while (at < until) {
    const size_t length = Utf8SequenceLength(bytes.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

#ifdef __SSSE3__

// Errors that two neighbouring bytes can show, one bit each. Three looks at nibbles (high and low of the first byte,
// high of the second) give for each the errors it allows; what all three allow is there. (The idea is Keiser and
// Lemire's "Validating UTF-8 in less than one instruction per byte", 2020.)
constexpr uint8_t kTooShort = 1 << 0;      // lead, then no continuation
constexpr uint8_t kTooLong = 1 << 1;       // ASCII, then a continuation
constexpr uint8_t kOverlong3 = 1 << 2;     // e0 80…9f
constexpr uint8_t kTooLarge = 1 << 3;      // f4 90…bf, f5…ff
constexpr uint8_t kSurrogate = 1 << 4;     // ed a0…bf
constexpr uint8_t kOverlong2 = 1 << 5;     // c0, c1
constexpr uint8_t kTooLarge1000 = 1 << 6;  // f5…ff 80…8f
constexpr uint8_t kOverlong4 = 1 << 6;     // f0 80…8f
constexpr uint8_t kTwoConts = 1 << 7;      // two continuations: right only as third or fourth byte
constexpr uint8_t kCarry = kTooShort | kTooLong | kTwoConts;

__m128i Lookup(__m128i nibbles, const uint8_t (&table)[16]) {
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)), nibbles);
}

constexpr uint8_t kFirstHigh[16] = {kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTooLong,
                                    kTwoConts,
                                    kTwoConts,
                                    kTwoConts,
                                    kTwoConts,
                                    kTooShort | kOverlong2,
                                    kTooShort,
                                    kTooShort | kOverlong3 | kSurrogate,
                                    kTooShort | kTooLarge | kTooLarge1000 | kOverlong4};
constexpr uint8_t kFirstLow[16] = {kCarry | kOverlong3 | kOverlong2 | kOverlong4,
                                   kCarry | kOverlong2,
                                   kCarry,
                                   kCarry,
                                   kCarry | kTooLarge,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000 | kSurrogate,
                                   kCarry | kTooLarge | kTooLarge1000,
                                   kCarry | kTooLarge | kTooLarge1000};
constexpr uint8_t kSecondHigh[16] = {kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooLong | kOverlong2 | kTwoConts | kOverlong3 | kTooLarge1000 | kOverlong4,
                                     kTooLong | kOverlong2 | kTwoConts | kOverlong3 | kTooLarge,
                                     kTooLong | kOverlong2 | kTwoConts | kSurrogate | kTooLarge,
                                     kTooLong | kOverlong2 | kTwoConts | kSurrogate | kTooLarge,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort,
                                     kTooShort};

// Whether `block`, read after `before`, shows an error. A sequence that `block` cuts is not one yet.
bool BlockFails(__m128i before, __m128i block) {
  const __m128i low_nibble = _mm_set1_epi8(0x0f);
  const __m128i prev1 = _mm_alignr_epi8(block, before, 15);
  const __m128i prev2 = _mm_alignr_epi8(block, before, 14);
  const __m128i prev3 = _mm_alignr_epi8(block, before, 13);
  const __m128i special =
      _mm_and_si128(_mm_and_si128(Lookup(_mm_and_si128(_mm_srli_epi16(prev1, 4), low_nibble), kFirstHigh),
                                  Lookup(_mm_and_si128(prev1, low_nibble), kFirstLow)),
                    Lookup(_mm_and_si128(_mm_srli_epi16(block, 4), low_nibble), kSecondHigh));
  // Two continuations in a row must be, and may only be, where a third or fourth byte is due.
  const __m128i third = _mm_subs_epu8(prev2, _mm_set1_epi8(static_cast<char>(0xe0 - 0x80)));
  const __m128i fourth = _mm_subs_epu8(prev3, _mm_set1_epi8(static_cast<char>(0xf0 - 0x80)));
  const __m128i due = _mm_and_si128(_mm_or_si128(third, fourth), _mm_set1_epi8(static_cast<char>(0x80)));
  const __m128i wrong = _mm_xor_si128(due, special);
  return _mm_movemask_epi8(_mm_cmpeq_epi8(wrong, _mm_setzero_si128())) != 0xffff;
}

#endif

}  // namespace

size_t AsciiPrefix(std::string_view bytes) {
  size_t at = 0;
  for (; at + 16 <= bytes.size(); at += 16) {
    const uint64_t both = (LoadLe<uint64_t>(bytes.data() + at) | LoadLe<uint64_t>(bytes.data() + at + 8));
    if ((both & 0x8080808080808080) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at;
}

size_t ValidUtf8Prefix(std::string_view bytes) {
  size_t at = 0;
#ifdef __SSSE3__
  // Blocks without an error, as far as there are any; `at` is then checked up to the sequences that a block may cut.
  __m128i before = _mm_setzero_si128();
  while (at + 64 <= bytes.size()) {
    const auto* from = reinterpret_cast<const __m128i*>(bytes.data() + at);
    const __m128i a = _mm_loadu_si128(from);
    const __m128i b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2);
    const __m128i d = _mm_loadu_si128(from + 3);
    const bool ascii = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) == 0;
    if (ascii && _mm_movemask_epi8(before) == 0) {
      before = d;
      at += 64;
      continue;
    }
    if (BlockFails(before, a) || BlockFails(a, b) || BlockFails(b, c) || BlockFails(c, d)) break;
    before = d;
    at += 64;
  }
  // Back to the start of a character, at most three bytes: the checked part is whole up to there.
  for (size_t back = 0; back < 3 && at > 0 && (static_cast<unsigned char>(bytes[at - 1]) & 0xc0) == 0x80; ++back) --at;
  if (at > 0 && static_cast<unsigned char>(bytes[at - 1]) >= 0xc0) --at;
#endif
  while (at < bytes.size()) {
    at += AsciiPrefix(bytes.substr(at));
    const size_t until = std::min(bytes.size(), at + 64);
    const size_t reached = StepOver(bytes, at, until);
    if (reached < until) return reached;
    at = reached;
  }
  return at;
}

}  // namespace portolan
