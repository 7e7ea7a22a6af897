// Appending text with its white space collapsed: runs of blanks become one, none at either end.
//
// A blank, a line end and every other control character count as white space; U+00A0 does not. Text comes in pieces of
// any size and the result does not depend on where they were cut, except that a cut at the limit falls between
// characters.

#pragma once

#include <string>
#include <string_view>

#include "html/scan.h"

namespace portolan {

class Collapser {
 public:
  enum class Gap : uint8_t { kNone, kBlank, kLine };

  void Clear() { gap_ = Gap::kNone; }

  // The next text is separated from what is there by at least this much.
  void Break(Gap gap) {
    if (gap > gap_) gap_ = gap;
  }

  // Appends to `out`, up to `limit` bytes after `start`; the text before `start` is not touched. False once something
  // was left out.
  bool Append(std::string& out, size_t start, size_t limit, std::string_view piece) {
    const char* const end = piece.data() + piece.size();
    const char* const p = SkipControlsAndBlanks(piece.data(), end);
    if (p != piece.data()) Break(Gap::kBlank);
    return p == end || AppendText(out, start, limit, p, end);
  }

  // The same for the rest of a piece behind the blanks at its beginning, which were told by Break. REQUIRES: p < end,
  // and *p is not a blank.
  bool AppendText(std::string& out, size_t start, size_t limit, const char* p, const char* end);

 private:
  bool AppendUpTo(std::string& out, size_t start, size_t limit, std::string_view piece);

  Gap gap_ = Gap::kNone;
};

}  // namespace portolan
