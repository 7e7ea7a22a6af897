#include "html/collapse.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "html/scan.h"

namespace portolan {
namespace {

constexpr ptrdiff_t kSpare = 16;  // bytes behind its end that Copy may overwrite

#ifdef __SSE2__
// The first `count` bytes at p, which are fewer than sixteen; the others are 0.
__m128i LoadSome(const char* p, size_t count) {
  uint64_t low = 0;
  uint64_t high = 0;
  if (count >= 8) {
    low = LoadLe<uint64_t>(p);
    if (count > 8) high = LoadLe<uint64_t>(p + count - 8) >> (8 * (16 - count));
  } else if (count >= 4) {
    low = LoadLe<uint32_t>(p) | static_cast<uint64_t>(LoadLe<uint32_t>(p + count - 4)) << (8 * (count - 4));
  } else {
    for (size_t i = 0; i < count; ++i) low |= static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << (8 * i);
  }
  return _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
}
#endif

#ifdef __SSE2__
// Copies blocks of sixteen as long as there are that many, as Copy does, which has the rest.
char* CopyBlocks(const char*& p, const char* end, char* to) {
  const __m128i blank = _mm_set1_epi8(' ');
  uint32_t before = to[-1] == ' ' ? 1 : 0;
  while (end - p >= 16) {
    // Stored whole and cut behind: most have nothing to collapse.
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto low = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(block, blank), block)));
    const auto space = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, blank)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block);
    const uint32_t odd = (low & ~space) | (low & ((low << 1) | before));
    if (odd == 0) [[likely]] {
      p += 16;
      to += 16;
      before = low >> 15;
      continue;
    }
    const auto plain = static_cast<size_t>(std::countr_zero(odd));
    p += plain;
    to += plain;
    if (to[-1] != ' ') *to++ = ' ';
    p = SkipControlsAndBlanks(p, end);
    before = 1;
  }
  return to;
}
#endif

// Copies [p, end), whose first byte is no blank, with each run of blanks as one ' ', also one at the end; returns the
// end of what was written. REQUIRES: room for end - p + kSpare bytes.
char* Copy(const char* p, const char* end, char* to) {
#ifdef __SSE2__
  to = CopyBlocks(p, end, to);
#endif
  while (p < end) {
#ifdef __SSE2__
    const auto count = static_cast<size_t>(end - p);
    const __m128i block = LoadSome(p, count);
    const uint32_t valid = 0xffffU >> (16 - count);
    const auto mask = [valid](__m128i bytes) { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)) & valid; };
    const __m128i blank = _mm_set1_epi8(' ');
    const uint32_t low = mask(_mm_cmpeq_epi8(_mm_min_epu8(block, blank), block));
    const uint32_t space = mask(_mm_cmpeq_epi8(block, blank));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block);
    const uint32_t before = to[-1] == ' ' ? 1 : 0;
    const uint32_t odd = (low & ~space) | (low & ((low << 1) | before));
    if (odd == 0) return to + count;
    const auto plain = static_cast<size_t>(std::countr_zero(odd));
    p += plain;
    to += plain;
#else
    if (!IsControlOrBlank(*p)) {
      *to++ = *p++;
      continue;
    }
#endif
    if (to[-1] != ' ') *to++ = ' ';
    p = SkipControlsAndBlanks(p, end);
  }
  return to;
}

// `out` was cut before `next`: takes away what that leaves of a character, and blanks at the end.
void DropPartial(std::string& out, size_t start, char next) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  if (continues(next)) {
    while (out.size() > start && continues(out.back())) out.pop_back();
    if (out.size() > start) out.pop_back();
  }
  while (out.size() > start && IsControlOrBlank(out.back())) out.pop_back();
}

}  // namespace

bool Collapser::AppendText(std::string& out, size_t start, size_t limit, const char* p, const char* end) {
  const auto size = static_cast<size_t>(end - p);
  if (out.size() - start + 1 + size > limit) return AppendUpTo(out, start, limit, {p, size});
  const size_t before = out.size();
  const bool gap = gap_ != Gap::kNone && before > start;
  const char mark = gap_ == Gap::kLine ? '\n' : ' ';
  gap_ = Gap::kNone;
  out.resize_and_overwrite(before + 1 + size + kSpare, [&](char* data, size_t /*room*/) {
    char* to = data + before;
    if (gap) *to++ = mark;
    *to++ = *p;  // not a blank, so that Copy may look back
    to = Copy(p + 1, end, to);
    if (to[-1] == ' ') {
      --to;
      gap_ = Gap::kBlank;
    }
    return static_cast<size_t>(to - data);
  });
  return true;
}

// One stretch after the other, each tested against the limit.
bool Collapser::AppendUpTo(std::string& out, size_t start, size_t limit, std::string_view piece) {
  const char* p = piece.data();
  const char* const end = p + piece.size();
  while (p < end) {
    if (IsControlOrBlank(*p)) {
      Break(Gap::kBlank);
      ++p;
      continue;
    }
    const char* stop = p;
    while (stop < end && !IsControlOrBlank(*stop)) ++stop;
    size_t used = out.size() - start;
    const bool gap = gap_ != Gap::kNone && used > 0;
    if (used + (gap ? 1 : 0) >= limit) {
      if (!gap) DropPartial(out, start, *p);
      return false;
    }
    if (gap) {
      out += gap_ == Gap::kLine ? '\n' : ' ';
      ++used;
    }
    gap_ = Gap::kNone;
    auto size = static_cast<size_t>(stop - p);
    if (used + size > limit) {
      size = limit - used;
      out.append(p, size);
      DropPartial(out, start, p[size]);
      return false;
    }
    out.append(p, size);
    p = stop;
  }
  return true;
}

}  // namespace portolan
