// CharsetDecoder: decodes bytes of any encoding of the web to UTF-8, piece by piece.
//
// The decoders are the standard's, with its errors: what cannot be decoded becomes U+FFFD, an ASCII byte is never
// consumed by a broken sequence before it. The result does not depend on where the input is cut.
//
// Most input needs no work: UTF-8 that is valid and ASCII in any ASCII-compatible encoding come back as a view of the
// input itself, at the speed of checking it.
//
// A byte order mark is not looked for: charset_sniff.h finds it and says how long it is.
// Thread: one owner. Memory bound: three bytes of output per byte of input of one Decode call.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "html/charset.h"

namespace portolan {

class CharsetDecoder {
 public:
  explicit CharsetDecoder(Encoding encoding) : encoding_(encoding) {}

  // The UTF-8 of `piece`, of what was held back before it, and, when it is the last, of the end. Valid until the next
  // call, and as long as `piece` is.
  std::string_view Decode(std::string_view piece, bool last);

 private:
  void Error() { out_ += "\xef\xbf\xbd"; }
  void Emit(uint32_t code);
  // Copies the ASCII that stands at p; returns its end.
  const char* CopyAscii(const char* p, const char* end);

  std::string_view Utf8(std::string_view piece, bool last);
  void SingleByte(std::string_view piece);
  void Utf16(std::string_view piece, bool big_endian);
  void Utf16Unit(uint32_t unit);
  void Gb18030(std::string_view piece);
  void Big5(std::string_view piece);
  void EucKr(std::string_view piece);
  void EucJp(std::string_view piece);
  void ShiftJis(std::string_view piece);
  void Iso2022Jp(std::string_view piece);
  void Iso2022JpByte(uint8_t byte);
  void End();

  enum class Jis : uint8_t { kAscii, kRoman, kKatakana, kLead, kTrail, kEscapeStart, kEscape };

  const Encoding encoding_;
  // What the standard's decoders remember: bytes of an unfinished sequence, in order; 0 for none.
  uint8_t lead_ = 0;
  uint8_t second_ = 0;
  uint8_t third_ = 0;
  bool jis0212_ = false;
  Jis jis_state_ = Jis::kAscii;
  Jis jis_output_state_ = Jis::kAscii;
  bool jis_output_ = false;
  bool has_byte_ = false;        // half a UTF-16 unit is in lead_
  uint32_t high_surrogate_ = 0;  // the first half of a pair
  bool replaced_ = false;        // the replacement encoding has given its one error
  std::string tail_;             // an unfinished UTF-8 sequence
  std::string out_;
};

}  // namespace portolan
