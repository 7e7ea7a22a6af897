#include "url/percent.h"

#include "base/utf8.h"

namespace portolan::url_internal {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

// REQUIRES: `sequence` is one well-formed sequence.
uint32_t CodePointOf(std::string_view sequence) {
  const auto lead = static_cast<uint8_t>(sequence[0]);
  if (sequence.size() == 1) return lead;
  uint32_t value = lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1)) value = value << 6 | (static_cast<uint8_t>(c) & 0x3fU);
  return value;
}

}  // namespace

void AppendEscape(uint8_t byte, TextBuffer& out) {
  char* to = out.Reserve(3);
  to[0] = '%';
  to[1] = kHexDigits[byte >> 4];
  to[2] = kHexDigits[byte & 15];
  out.SetSize(out.size() + 3);
}

size_t BrokenUtf8Length(std::string_view text) {
  // A lead byte and as many continuation bytes as some well-formed sequence has: try each completion by asking whether
  // the prefix, filled up with continuation bytes that are valid anywhere (0x80 or, for E0 and F0 leads, 0xBF), is one.
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t whole = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead <= 0xef ? 3 : 0;
  if (whole == 0) return 1;
  char filled[4] = {text[0]};
  size_t good = 1;
  for (size_t taken = 2; taken < whole && taken <= text.size(); ++taken) {
    filled[taken - 1] = text[taken - 1];
    for (size_t i = taken; i < whole; ++i) filled[i] = '\x80';
    if (Utf8SequenceLength({filled, whole}) != whole) break;
    good = taken;
  }
  return good;
}

void AppendEncoded(std::string_view text, ByteClass set, TextBuffer& out) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && !Is(text[end], set)) ++end;
    out.Append(text.substr(at, end - at));
    if (end == text.size()) return;
    const auto byte = static_cast<uint8_t>(text[end]);
    if (byte < 0x80) {
      AppendEscape(byte, out);
      at = end + 1;
      continue;
    }
    const std::string_view rest = text.substr(end);
    if (const size_t length = Utf8SequenceLength(rest); length != 0) {
      for (const char c : rest.substr(0, length)) AppendEscape(static_cast<uint8_t>(c), out);
      at = end + length;
    } else {
      out.Append("%EF%BF%BD");
      at = end + BrokenUtf8Length(rest);
    }
  }
}

void AppendEncoded(std::string_view text, ByteClass set, QueryEncoder& encoder, TextBuffer& out) {
  std::string bytes;  // of one character
  const auto write = [&] {
    for (const char c : bytes) {
      if (Is(c, set)) {
        AppendEscape(static_cast<uint8_t>(c), out);
      } else {
        out.Push(c);
      }
    }
    bytes.clear();
  };
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const uint32_t code = length != 0 ? CodePointOf(text.substr(0, length)) : 0xfffd;
    text.remove_prefix(length != 0 ? length : BrokenUtf8Length(text));
    const uint32_t missing = encoder.Encode(code, bytes);
    write();
    if (missing == 0) continue;
    out.Append("%26%23");
    out.Append(std::to_string(missing));
    out.Append("%3B");
  }
  encoder.End(bytes);
  write();
}

void AppendDecoded(std::string_view text, std::string& out) {
  for (size_t at = 0; at < text.size();) {
    if (const int byte = EscapeAt(text, at); byte >= 0) {
      out += static_cast<char>(byte);
      at += 3;
    } else {
      out += text[at++];
    }
  }
}

}  // namespace portolan::url_internal
