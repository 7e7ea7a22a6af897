// How much of some bytes is valid UTF-8, at gigabytes per second.

#pragma once

#include <cstddef>
#include <string_view>

namespace portolan {

// The length of the longest prefix that is well-formed UTF-8 and ends between characters.
size_t ValidUtf8Prefix(std::string_view bytes);

// The length of the longest prefix that is ASCII.
size_t AsciiPrefix(std::string_view bytes);

}  // namespace portolan
