// A look at TOML before the library reads it: how deep it is nested.
//
// toml++ reads, and frees, nested values and dotted keys by recursion, so a few hundred kilobytes of "[[[[" or
// "a.a.a.a" end the program. Settings need two levels; what has many more is refused by name.
//
// Strings and comments are skipped as TOML defines them. Where the text is no TOML the library stops at the first
// fault, and up to there both see the same. Thread: any. Bound: one pass, no memory.

#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace portolan {

inline constexpr size_t kMaxTomlNesting = 16;

// kInvalidArgument: "line 3: …" where brackets stand deeper than kMaxTomlNesting, or a line has more dots.
Status CheckTomlNesting(std::string_view text);

}  // namespace portolan
