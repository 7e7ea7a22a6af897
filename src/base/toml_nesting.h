// Checks how deeply TOML is nested, before the library reads it.
//
// toml++ reads, and frees, nested values and dotted keys by recursion, so a few hundred kilobytes of "[[[[" or
// "a.a.a.a" crash the program. Settings need two levels; deeper nesting is refused with an error message.
//
// Strings and comments are skipped as TOML defines them. If the text is not TOML, the library stops at the first
// error, and up to there both read the same. Thread: any. Bound: one pass, no memory.

#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace portolan {

inline constexpr size_t kMaxTomlNesting = 16;

// kInvalidArgument: "line 3: …" if brackets are nested deeper than kMaxTomlNesting, or a line has more dots.
Status CheckTomlNesting(std::string_view text);

}  // namespace portolan
