// Small text algorithms that several parts share.

#pragma once

#include <span>
#include <string_view>

namespace portolan {

// Number of single-character insertions, deletions, substitutions and swaps of neighbours between a and b.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or an empty view when none is near enough to be what was meant.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace portolan
