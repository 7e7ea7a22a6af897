// CharsetDecoder's multi-byte encodings: sections 10 to 13 of the Encoding Standard.

#include "base/utf8.h"
#include "html/charset_decoder.h"
#include "html/charset_tables.h"

namespace portolan {
namespace {

uint32_t At(std::span<const uint32_t> table, size_t pointer) { return pointer < table.size() ? table[pointer] : 0; }

}  // namespace

void CharsetDecoder::Gb18030(std::string_view piece) {
  const auto two = Gb18030Table();
  const auto four = Gb18030FourTable();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (third_ != 0) {
      if (!ByteIsIn(byte, 0x30, 0x39)) {
        // The second byte is a digit and stands for itself; the third may begin a sequence; this one is read again.
        Error();
        Emit(second_);
        lead_ = third_;
        second_ = third_ = 0;
        continue;
      }
      const size_t pointer =
          ((size_t{lead_} - 0x81) * 10 + second_ - 0x30) * 1260 + (size_t{third_} - 0x81) * 10 + byte - 0x30;
      lead_ = second_ = third_ = 0;
      ++p;
      if (pointer >= 189'000 && pointer <= 1'237'575) {
        Emit(static_cast<uint32_t>(0x10000 + pointer - 189'000));
      } else if (const uint32_t code = At(four, pointer)) {
        Emit(code);
      } else {
        Error();
      }
    } else if (second_ != 0) {
      if (ByteIsIn(byte, 0x81, 0xfe)) {
        third_ = byte;
        ++p;
      } else {
        Error();
        Emit(second_);
        lead_ = second_ = 0;
      }
    } else if (lead_ != 0) {
      if (ByteIsIn(byte, 0x30, 0x39)) {
        second_ = byte;
        ++p;
        continue;
      }
      uint32_t code = 0;
      if (ByteIsIn(byte, 0x40, 0x7e) || ByteIsIn(byte, 0x80, 0xfe)) {
        code = At(two, (size_t{lead_} - 0x81) * 190 + byte - (byte < 0x7f ? 0x40 : 0x41));
      }
      lead_ = 0;
      if (code != 0) {
        Emit(code);
        ++p;
      } else {
        Error();
        if (byte >= 0x80) ++p;
      }
    } else if (byte < 0x80) {
      p = CopyAscii(p, end);
    } else {
      ++p;
      if (byte == 0x80) {
        Emit(0x20ac);
      } else if (byte == 0xff) {
        Error();
      } else {
        lead_ = byte;
      }
    }
  }
}

void CharsetDecoder::Big5(std::string_view piece) {
  const auto table = Big5Table();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (lead_ != 0) {
      size_t pointer = table.size();
      if (ByteIsIn(byte, 0x40, 0x7e) || ByteIsIn(byte, 0xa1, 0xfe)) {
        pointer = (size_t{lead_} - 0x81) * 157 + byte - (byte < 0x7f ? 0x40 : 0x62);
      }
      lead_ = 0;
      const uint32_t code = At(table, pointer);
      if (pointer == 1133 || pointer == 1135 || pointer == 1164 || pointer == 1166) {  // Ê and ê with a second accent
        Emit(pointer < 1150 ? 0xca : 0xea);
        Emit(pointer == 1133 || pointer == 1164 ? 0x304 : 0x30c);
        ++p;
      } else if (code != 0) {
        Emit(code);
        ++p;
      } else {
        Error();
        if (byte >= 0x80) ++p;
      }
    } else if (byte < 0x80) {
      p = CopyAscii(p, end);
    } else {
      ++p;
      if (ByteIsIn(byte, 0x81, 0xfe)) {
        lead_ = byte;
      } else {
        Error();
      }
    }
  }
}

void CharsetDecoder::EucKr(std::string_view piece) {
  const auto table = EucKrTable();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (lead_ != 0) {
      const uint32_t code = ByteIsIn(byte, 0x41, 0xfe) ? At(table, (size_t{lead_} - 0x81) * 190 + byte - 0x41) : 0;
      lead_ = 0;
      if (code != 0) {
        Emit(code);
        ++p;
      } else {
        Error();
        if (byte >= 0x80) ++p;
      }
    } else if (byte < 0x80) {
      p = CopyAscii(p, end);
    } else {
      ++p;
      if (ByteIsIn(byte, 0x81, 0xfe)) {
        lead_ = byte;
      } else {
        Error();
      }
    }
  }
}

void CharsetDecoder::EucJp(std::string_view piece) {
  const auto jis0208 = Jis0208Table();
  const auto jis0212 = Jis0212Table();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (lead_ == 0x8e && ByteIsIn(byte, 0xa1, 0xdf)) {
      lead_ = 0;
      Emit(0xff61 - 0xa1 + byte);
      ++p;
    } else if (lead_ == 0x8f && ByteIsIn(byte, 0xa1, 0xfe)) {
      jis0212_ = true;
      lead_ = byte;
      ++p;
    } else if (lead_ != 0) {
      uint32_t code = 0;
      if (ByteIsIn(lead_, 0xa1, 0xfe) && ByteIsIn(byte, 0xa1, 0xfe)) {
        code = At(jis0212_ ? jis0212 : jis0208, (size_t{lead_} - 0xa1) * 94 + byte - 0xa1);
      }
      lead_ = 0;
      jis0212_ = false;
      if (code != 0) {
        Emit(code);
        ++p;
      } else {
        Error();
        if (byte >= 0x80) ++p;
      }
    } else if (byte < 0x80) {
      p = CopyAscii(p, end);
    } else {
      ++p;
      if (byte == 0x8e || byte == 0x8f || ByteIsIn(byte, 0xa1, 0xfe)) {
        lead_ = byte;
      } else {
        Error();
      }
    }
  }
}

void CharsetDecoder::ShiftJis(std::string_view piece) {
  const auto table = Jis0208Table();
  const char* p = piece.data();
  const char* end = p + piece.size();
  while (p < end) {
    const auto byte = static_cast<uint8_t>(*p);
    if (lead_ != 0) {
      uint32_t code = 0;
      if (ByteIsIn(byte, 0x40, 0x7e) || ByteIsIn(byte, 0x80, 0xfc)) {
        const size_t pointer =
            (size_t{lead_} - (lead_ < 0xa0 ? 0x81 : 0xc1)) * 188 + byte - (byte < 0x7f ? 0x40 : 0x41);
        const bool private_use = pointer >= 8836 && pointer <= 10'715;
        code = private_use ? static_cast<uint32_t>(0xe000 - 8836 + pointer) : At(table, pointer);
      }
      lead_ = 0;
      if (code != 0) {
        Emit(code);
        ++p;
      } else {
        Error();
        if (byte >= 0x80) ++p;
      }
    } else if (byte < 0x80) {
      p = CopyAscii(p, end);
    } else {
      ++p;
      if (byte == 0x80) {
        Emit(byte);
      } else if (ByteIsIn(byte, 0xa1, 0xdf)) {
        Emit(0xff61 - 0xa1 + byte);
      } else if (ByteIsIn(byte, 0x81, 0x9f) || ByteIsIn(byte, 0xe0, 0xfc)) {
        lead_ = byte;
      } else {
        Error();
      }
    }
  }
}

void CharsetDecoder::Iso2022Jp(std::string_view piece) {
  for (const char c : piece) Iso2022JpByte(static_cast<uint8_t>(c));
}

// One byte in the state the last escape sequence left. A byte that is put back is read again by a call: at most two.
void CharsetDecoder::Iso2022JpByte(uint8_t byte) {
  constexpr uint8_t kEscapeByte = 0x1b;
  const bool plain = byte < 0x80 && byte != 0x0e && byte != 0x0f;
  switch (jis_state_) {
    case Jis::kAscii:
    case Jis::kRoman:
      if (byte == kEscapeByte) {
        jis_state_ = Jis::kEscapeStart;
        return;
      }
      jis_output_ = false;
      if (!plain) return Error();
      if (jis_state_ == Jis::kRoman && byte == 0x5c) return Emit(0xa5);
      if (jis_state_ == Jis::kRoman && byte == 0x7e) return Emit(0x203e);
      return Emit(byte);
    case Jis::kKatakana:
      if (byte == kEscapeByte) {
        jis_state_ = Jis::kEscapeStart;
        return;
      }
      jis_output_ = false;
      return ByteIsIn(byte, 0x21, 0x5f) ? Emit(0xff61 - 0x21 + byte) : Error();
    case Jis::kLead:
      if (byte == kEscapeByte) {
        jis_state_ = Jis::kEscapeStart;
        return;
      }
      jis_output_ = false;
      if (!ByteIsIn(byte, 0x21, 0x7e)) return Error();
      lead_ = byte;
      jis_state_ = Jis::kTrail;
      return;
    case Jis::kTrail: {
      if (byte == kEscapeByte) {
        jis_state_ = Jis::kEscapeStart;
        return Error();
      }
      jis_state_ = Jis::kLead;
      const uint32_t code =
          ByteIsIn(byte, 0x21, 0x7e) ? At(Jis0208Table(), (size_t{lead_} - 0x21) * 94 + byte - 0x21) : 0;
      return code != 0 ? Emit(code) : Error();
    }
    case Jis::kEscapeStart:
      if (byte == 0x24 || byte == 0x28) {
        lead_ = byte;
        jis_state_ = Jis::kEscape;
        return;
      }
      jis_output_ = false;
      jis_state_ = jis_output_state_;
      Error();
      return Iso2022JpByte(byte);
    case Jis::kEscape:
      break;
  }
  const uint8_t lead = lead_;
  lead_ = 0;
  Jis next = Jis::kEscape;
  if (lead == 0x28 && byte == 0x42) next = Jis::kAscii;
  if (lead == 0x28 && byte == 0x4a) next = Jis::kRoman;
  if (lead == 0x28 && byte == 0x49) next = Jis::kKatakana;
  if (lead == 0x24 && (byte == 0x40 || byte == 0x42)) next = Jis::kLead;
  if (next != Jis::kEscape) {
    const bool twice = jis_output_;  // an escape right after another
    jis_state_ = jis_output_state_ = next;
    jis_output_ = true;
    if (twice) Error();
    return;
  }
  jis_output_ = false;
  jis_state_ = jis_output_state_;
  Error();
  Iso2022JpByte(lead);
  Iso2022JpByte(byte);
}

}  // namespace portolan
