// UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

// Length (1 to 4) of the well-formed sequence that `text` begins with, 0 where there is none.
size_t Utf8SequenceLength(std::string_view text);

bool IsUtf8(std::string_view text);

// REQUIRES: code_point is a Unicode scalar value.
void AppendUtf8(std::string& out, uint32_t code_point);

}  // namespace portolan
