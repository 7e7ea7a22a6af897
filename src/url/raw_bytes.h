// URLs as raw bytes, from header fields and archives.
//
// The URL parser reads text. Bytes that are not UTF-8 (a Latin-1 "é" in a Location field, or in the WARC-Target-URI of
// an old archive) would all become U+FFFD there, and different URLs would become equal.

#pragma once

#include <string>
#include <string_view>

namespace portolan {

// `text` with each byte that is in no well-formed UTF-8 sequence percent-encoded ("%E9"), so that it stays what it is;
// the rest as it is.
std::string EscapeBrokenUtf8(std::string_view text);

}  // namespace portolan
