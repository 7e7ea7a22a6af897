// Small text algorithms that several parts share.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace portolan {

// Number of single-character insertions, deletions, substitutions and swaps of neighbours between a and b.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or an empty view when none is near enough to be what was meant.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

// The code point of a UTF-8 sequence (of a length that Utf8SequenceLength gave) if printing it has side effects:
// controls (C0, DEL, C1), line separators, and marks that turn the direction of writing, by which a text can be made to
// look like another. Else 0xffffffff.
inline constexpr uint32_t kShowable = 0xffffffff;
uint32_t ControlOf(std::string_view sequence);

// Untrusted text for a terminal, in one line: such controls as \xNN or \u{NNNN}, bytes that are not UTF-8 as \xNN.
std::string Printable(std::string_view text);

// Untrusted text for HTML, in an element or in an attribute with quotes: & < > " ' escaped, the rest as by Printable.
std::string EscapeHtml(std::string_view text);

}  // namespace portolan
