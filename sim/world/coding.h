// Content codings of answers: what a client accepts, compression at the fastest levels, and bombs.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/world/atlas.h"

namespace portolan::sim {

// The host's coding where the client accepts it, else gzip where accepted, else identity.
ContentCoding Negotiate(ContentCoding wanted, std::string_view accept_encoding);
std::string_view CodingName(ContentCoding coding);  // as in Content-Encoding

std::string Compress(ContentCoding coding, std::string_view bytes);

// A gzip member that decodes to `bytes` zeros; its size is about a thousandth of that.
std::string GzipBomb(uint64_t bytes);

// "Sun, 06 Nov 1994 08:49:37 GMT", and back; -1 for anything else.
std::string HttpDate(int64_t unix_s);
int64_t ParseHttpDate(std::string_view text);

}  // namespace portolan::sim
