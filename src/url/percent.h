// Percent-encoding and decoding as the URL Standard has them.

#pragma once

#include <string>
#include <string_view>

#include "url/code_points.h"
#include "url/query_encoder.h"
#include "url/text_buffer.h"

namespace portolan::url_internal {

// Appends `text` with the bytes of `set` percent-encoded. Broken UTF-8 is written as U+FFFD's bytes, escaped.
// REQUIRES: set is one of the percent-encode sets.
void AppendEncoded(std::string_view text, ByteClass set, TextBuffer& out);

// The same with the bytes that `encoder` gives ("percent-encode after encoding"). A character that it cannot write
// becomes its number, as %26%23…%3B.
void AppendEncoded(std::string_view text, ByteClass set, QueryEncoder& encoder, TextBuffer& out);

// Appends `text` with %XX decoded; other percent signs stay.
void AppendDecoded(std::string_view text, std::string& out);

// Bytes of `text` that one U+FFFD replaces, when `text` begins with no well-formed sequence: the longest prefix that
// could have begun one, at least one byte. REQUIRES: text is not empty.
size_t BrokenUtf8Length(std::string_view text);

void AppendEscape(uint8_t byte, TextBuffer& out);

// The byte that the escape at text[at] stands for, or -1 where none does.
inline int EscapeAt(std::string_view text, size_t at) {
  if (text.size() - at < 3 || text[at] != '%' || !Is(text[at + 1], kHexDigit) || !Is(text[at + 2], kHexDigit)) {
    return -1;
  }
  return HexValue(static_cast<uint8_t>(text[at + 1])) << 4 | HexValue(static_cast<uint8_t>(text[at + 2]));
}

}  // namespace portolan::url_internal
