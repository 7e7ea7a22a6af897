// QueryEncoder: how the encoding of a document writes characters, for the queries of the links in it.
//
// The URL Standard percent-encodes a query in the encoding of its document, and everything else in UTF-8. This module
// has no encodings: html/charset_encoder.h has them. Without an encoder a query is UTF-8.
//
// It is called only for queries of special URLs that are neither ws: nor wss:, and only if a byte is not printable
// ASCII, which is the same in all encodings.
//
// Thread: one owner. Invariant: after End an encoder is as new; only ISO-2022-JP has a state before that.

#pragma once

#include <cstdint>
#include <string>

namespace portolan {

class QueryEncoder {
 public:
  virtual ~QueryEncoder() = default;

  // Appends the bytes of a character and gives 0. Where the encoding cannot write it, gives the code point to be named
  // in its place ("&#8364;"), and what was appended goes before that name. REQUIRES: a Unicode scalar value.
  virtual uint32_t Encode(uint32_t code_point, std::string& bytes) = 0;

  // Appends what must follow the last character.
  virtual void End(std::string& bytes) = 0;
};

}  // namespace portolan
