#include "html/collapse.h"

#include "html/scan.h"

namespace portolan {
namespace {

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

// The end of the longest stretch from p that stays as it is: p is not a blank; single blanks inside are kept, and the
// stretch ends before a blank that is followed by another, by the end, or is not ' '.
const char* PlainEnd(const char* p, const char* end) {
#ifdef __SSE2__
  uint32_t before = 0;  // whether the byte before this block is a blank
  while (end - p >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto low =
        static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(' ')), block)));
    const auto space = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(' '))));
    const uint32_t bad = (low & ~space) | (low & ((low << 1) | before));
    if (bad != 0) {
      p += std::countr_zero(bad);
      return p[-1] == ' ' ? p - 1 : p;  // p is past the first byte: that one is not bad
    }
    before = low >> 15;
    p += 16;
  }
  if (before != 0 && (p == end || IsBlank(*p))) return p - 1;
#endif
  for (; p < end; ++p) {
    if (!IsBlank(*p)) continue;
    if (*p != ' ' || p + 1 == end || IsBlank(p[1])) return p;
  }
  return p;
}

// `out` was cut before `next`: takes away what that leaves of a character, and blanks at the end.
void DropPartial(std::string& out, size_t start, char next) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  if (continues(next)) {
    while (out.size() > start && continues(out.back())) out.pop_back();
    if (out.size() > start) out.pop_back();
  }
  while (out.size() > start && IsBlank(out.back())) out.pop_back();
}

}  // namespace

bool Collapser::Append(std::string& out, size_t start, size_t limit, std::string_view piece) {
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    if (IsBlank(*p)) {
      Break(Gap::kBlank);
      ++p;
      continue;
    }
    const char* stop = PlainEnd(p, end);
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
