// Finding the next byte that matters, sixteen at a time.
//
// Reading HTML fast means skipping most of it: text up to the next '<', an attribute value up to its quote. Every
// function looks only at [p, end): a block of sixteen is loaded only where sixteen bytes are left. SSE2 where the
// compiler has it, a plain loop elsewhere; scan_test compares the two byte by byte.

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace portolan {

// "ASCII whitespace" of the standard, and CR, which the input preprocessing turns into LF.
constexpr bool IsHtmlSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
constexpr bool IsAsciiAlpha(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }
constexpr bool IsAsciiDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The first of kStops in [p, end), or end.
template <char... kStops>
inline const char* FindAny(const char* p, const char* end) {
#ifdef __SSE2__
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    __m128i hit = _mm_setzero_si128();
    ((hit = _mm_or_si128(hit, _mm_cmpeq_epi8(block, _mm_set1_epi8(kStops)))), ...);
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(hit));
    if (mask != 0) return p + std::countr_zero(mask);
    p += 16;
  }
#endif
  while (p < end && !((*p == kStops) || ...)) ++p;
  return p;
}

// The same for a byte known only at run time.
inline const char* FindByte(const char* p, const char* end, char stop) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(stop);
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
    if (mask != 0) return p + std::countr_zero(mask);
    p += 16;
  }
#endif
  while (p < end && *p != stop) ++p;
  return p;
}

// The first byte in [p, end) that is one of kStops or at most kLow, or end.
template <unsigned char kLow, char... kStops>
inline const char* FindLowOr(const char* p, const char* end) {
#ifdef __SSE2__
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    __m128i hit = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(static_cast<char>(kLow))), block);
    ((hit = _mm_or_si128(hit, _mm_cmpeq_epi8(block, _mm_set1_epi8(kStops)))), ...);
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(hit));
    if (mask != 0) return p + std::countr_zero(mask);
    p += 16;
  }
#endif
  while (p<end&& static_cast<unsigned char>(*p)> kLow && !((*p == kStops) || ...)) ++p;
  return p;
}

// The end of an attribute's name: blank, '/', '>' or '='. Other control characters belong to the name.
inline const char* FindAttributeNameEnd(const char* p, const char* end) {
  for (;; ++p) {
    p = FindLowOr<' ', '/', '>', '='>(p, end);
    if (p == end || *p > ' ' || IsHtmlSpace(*p)) return p;
  }
}

// The end of a tag's name: blank, '/' or '>'.
inline const char* FindTagNameEnd(const char* p, const char* end) {
  for (;; ++p) {
    p = FindLowOr<' ', '/', '>'>(p, end);
    if (p == end || *p > ' ' || IsHtmlSpace(*p)) return p;
  }
}

// The end of an unquoted attribute value: blank or '>'.
inline const char* FindUnquotedEnd(const char* p, const char* end) {
  for (;; ++p) {
    p = FindLowOr<' ', '>'>(p, end);
    if (p == end || *p > ' ' || IsHtmlSpace(*p)) return p;
  }
}

inline const char* SkipHtmlSpace(const char* p, const char* end) {
  while (p < end && IsHtmlSpace(*p)) ++p;
  return p;
}

constexpr bool IsControlOrBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

inline const char* SkipControlsAndBlanks(const char* p, const char* end) {
#ifdef __SSE2__
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(' ')), block);
    const auto text = static_cast<uint32_t>(_mm_movemask_epi8(low)) ^ 0xffff;
    if (text != 0) return p + std::countr_zero(text);
    p += 16;
  }
#endif
  while (p < end && IsControlOrBlank(*p)) ++p;
  return p;
}

}  // namespace portolan
