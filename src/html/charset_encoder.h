// CharsetEncoder: encodes characters in any encoding of the web, for queries in links (url/query_encoder.h).
//
// The encoders are those of the WHATWG Encoding Standard, sections 9 to 14. They are not always the inverse of the
// decoders: of several ways to write a character one is chosen, and some characters are written as another (U+2212 as
// U+FF0D in the Japanese encodings, the yen sign as 0x5C).
//
// Replacement and UTF-16 have no encoder: documents in these encodings use UTF-8.
//
// ISO-2022-JP is the one with a state, kept from character to character as the standard has it; End goes back to ASCII.
// Its two-byte characters are printable ASCII ("%1B$B%F%9%H%1B(B" is テスト), so a percent sign among them stands
// unescaped, as in browsers, and the canonical form makes %25 of it where it begins no escape.
//
// Thread: one owner. Memory bound: only the reverse tables, made at first use: 0.9 MB if all are used.

#pragma once

#include <cstdint>
#include <string>

#include "html/charset.h"
#include "url/query_encoder.h"

namespace portolan {

class CharsetEncoder : public QueryEncoder {
 public:
  explicit CharsetEncoder(Encoding encoding) : encoding_(OutputEncoding(encoding)) {}

  Encoding encoding() const { return encoding_; }

  uint32_t Encode(uint32_t code_point, std::string& bytes) override;
  void End(std::string& bytes) override;

 private:
  enum class Jis : uint8_t { kAscii, kRoman, kKanji };

  uint32_t Iso2022Jp(uint32_t code, std::string& bytes);
  // With the escape sequence, where the state is another.
  void Enter(Jis state, std::string& bytes);

  const Encoding encoding_;
  Jis jis_state_ = Jis::kAscii;
};

}  // namespace portolan
