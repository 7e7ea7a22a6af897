#include "html/charset_decoder.h"

#include <algorithm>

#include "base/utf8.h"
#include "html/charset_tables.h"
#include "html/utf8_check.h"

namespace portolan {
namespace {

// The bytes at the start of `bytes` that could begin a character, or the one that could not, and whether more might
// complete them. REQUIRES: no whole character stands there.
struct Broken {
  size_t length = 0;
  bool may_go_on = false;
};

Broken BeginningOf(std::string_view bytes) {
  if (bytes.empty()) return {};
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const size_t needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  size_t length = 1;
  while (length < needed && length < bytes.size()) {
    const auto byte = static_cast<uint8_t>(bytes[length]);
    if (!ByteIsIn(byte, length == 1 ? low : 0x80, length == 1 ? high : 0xbf)) break;
    ++length;
  }
  return {length, length == bytes.size() && length < needed};
}

}  // namespace

void CharsetDecoder::Emit(uint32_t code) { AppendUtf8(out_, code); }

const char* CharsetDecoder::CopyAscii(const char* p, const char* end) {
  const size_t length = AsciiPrefix({p, end});
  out_.append(p, length);
  return p + length;
}

std::string_view CharsetDecoder::Decode(std::string_view piece, bool last) {
  out_.clear();
  if (encoding_ == Encoding::kUtf8) return Utf8(piece, last);
  const bool idle = lead_ == 0 && !has_byte_ && high_surrogate_ == 0;
  const bool ascii_compatible = encoding_ != Encoding::kUtf16Le && encoding_ != Encoding::kUtf16Be &&
                                encoding_ != Encoding::kIso2022Jp && encoding_ != Encoding::kReplacement;
  if (idle && ascii_compatible && AsciiPrefix(piece) == piece.size()) return piece;
  switch (encoding_) {
    case Encoding::kGbk:
    case Encoding::kGb18030:
      Gb18030(piece);
      break;
    case Encoding::kBig5:
      Big5(piece);
      break;
    case Encoding::kEucJp:
      EucJp(piece);
      break;
    case Encoding::kIso2022Jp:
      Iso2022Jp(piece);
      break;
    case Encoding::kShiftJis:
      ShiftJis(piece);
      break;
    case Encoding::kEucKr:
      EucKr(piece);
      break;
    case Encoding::kReplacement:
      if (!piece.empty() && !replaced_) Error();
      replaced_ |= !piece.empty();
      break;
    case Encoding::kUtf16Be:
      Utf16(piece, true);
      break;
    case Encoding::kUtf16Le:
      Utf16(piece, false);
      break;
    default:
      SingleByte(piece);
      break;
  }
  if (last) End();
  return out_;
}

void CharsetDecoder::End() {
  if (encoding_ == Encoding::kIso2022Jp) {
    if (jis_state_ == Jis::kTrail || jis_state_ == Jis::kEscapeStart) {
      Error();
    } else if (jis_state_ == Jis::kEscape) {
      const uint8_t pending = lead_;  // the '$' or '(' of a broken escape
      lead_ = 0;
      jis_state_ = jis_output_state_;
      Error();
      Iso2022JpByte(pending);
      if (jis_state_ == Jis::kTrail) Error();
    }
    jis_state_ = jis_output_state_ = Jis::kAscii;
    jis_output_ = false;
  } else if (lead_ != 0 || has_byte_ || high_surrogate_ != 0) {
    Error();
  }
  lead_ = second_ = third_ = 0;
  jis0212_ = has_byte_ = false;
  high_surrogate_ = 0;
}

// The standard's decoder gives one U+FFFD for each longest beginning of a character that goes wrong.
std::string_view CharsetDecoder::Utf8(std::string_view piece, bool last) {
  std::string joined;
  if (!tail_.empty()) {
    joined = tail_;
    joined += piece;
    piece = joined;
    tail_.clear();
  }
  bool in_place = joined.empty();  // nothing had to be put together or replaced yet
  while (!piece.empty()) {
    const size_t valid = ValidUtf8Prefix(piece);
    const std::string_view good = piece.substr(0, valid);
    piece.remove_prefix(valid);
    const Broken broken = BeginningOf(piece);
    const bool cut = !last && broken.may_go_on;
    if (cut) {
      tail_.assign(piece);
      piece = {};
    }
    if (in_place && piece.empty()) return good;
    in_place = false;
    out_.append(good);
    if (piece.empty()) break;
    Error();
    piece.remove_prefix(broken.length);
  }
  return out_;
}

// Written past the string's own bookkeeping: a page in Cyrillic has a letter for nearly every byte. No byte gives more
// than three.
void CharsetDecoder::SingleByte(std::string_view piece) {
  const auto& table = SingleByteTable(encoding_);
  const size_t before = out_.size();
  out_.resize_and_overwrite(before + 3 * piece.size(), [&](char* begin, size_t) {
    char* out = begin + before;
    const char* p = piece.data();
    const char* end = p + piece.size();
    while (p < end) {
      const size_t ascii = AsciiPrefix({p, end});
      out = std::copy_n(p, ascii, out);
      p += ascii;
      for (; p < end && static_cast<uint8_t>(*p) >= 0x80; ++p) {
        const char16_t code = table[static_cast<uint8_t>(*p) - 0x80];
        const uint32_t letter = code != 0 ? code : 0xfffd;
        if (letter < 0x800) {
          *out++ = static_cast<char>(0xc0 | (letter >> 6));
        } else {
          *out++ = static_cast<char>(0xe0 | (letter >> 12));
          *out++ = static_cast<char>(0x80 | ((letter >> 6) & 0x3f));
        }
        *out++ = static_cast<char>(0x80 | (letter & 0x3f));
      }
    }
    return static_cast<size_t>(out - begin);
  });
}

void CharsetDecoder::Utf16(std::string_view piece, bool big_endian) {
  for (const char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    if (!has_byte_) {
      lead_ = byte;
      has_byte_ = true;
      continue;
    }
    has_byte_ = false;
    Utf16Unit(big_endian ? (uint32_t{lead_} << 8) | byte : (uint32_t{byte} << 8) | lead_);
    lead_ = 0;
  }
}

void CharsetDecoder::Utf16Unit(uint32_t unit) {
  const uint32_t high = high_surrogate_;
  high_surrogate_ = 0;
  if (high != 0) {
    if (unit >= 0xdc00 && unit < 0xe000) return Emit(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
    Error();
  }
  if (unit >= 0xd800 && unit < 0xdc00) {
    high_surrogate_ = unit;
  } else if (unit >= 0xdc00 && unit < 0xe000) {
    Error();
  } else {
    Emit(unit);
  }
}

}  // namespace portolan
