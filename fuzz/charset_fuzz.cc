// Any bytes in any encoding: a decision, and UTF-8 that does not depend on the cutting. Encoded again it gives bytes
// that decode to what gives the same bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "html/charset.h"
#include "html/charset_decoder.h"
#include "html/charset_encoder.h"
#include "html/charset_sniff.h"
#include "html/utf8_check.h"

namespace {

// With numbers for what the encoding cannot write. REQUIRES: text is UTF-8.
std::string Encoded(portolan::Encoding encoding, std::string_view text) {
  portolan::CharsetEncoder encoder(encoding);
  std::string bytes;
  while (!text.empty()) {
    const size_t length = portolan::Utf8SequenceLength(text);
    uint32_t code = static_cast<uint8_t>(text[0]) & (length == 1 ? 0x7fU : 0x7fU >> length);
    for (const char c : text.substr(1, length - 1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3fU);
    if (const uint32_t missing = encoder.Encode(code, bytes)) bytes += "&#" + std::to_string(missing) + ";";
    text.remove_prefix(length);
  }
  encoder.End(bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const CharsetDecision decision = SniffCharset(bytes, data[0] < 200 ? "" : "shift_jis");
  CHECK(decision.bom_bytes <= bytes.size());
  CHECK(EncodingForLabel(EncodingName(decision.encoding)) == decision.encoding);

  const auto chosen = static_cast<Encoding>(data[0] % kEncodingCount);
  for (const Encoding encoding : {decision.encoding, chosen}) {
    CharsetDecoder whole(encoding);
    const std::string expected(whole.Decode(bytes, true));
    CHECK(IsUtf8(expected));
    CHECK(ValidUtf8Prefix(expected) == expected.size());
    CharsetDecoder pieces(encoding);
    std::string joined;
    uint64_t seed = Hash64(bytes);
    for (std::string_view rest = bytes; !rest.empty();) {
      seed = Mix64(seed + 1);
      const std::string_view piece = rest.substr(0, 1 + seed % 9);
      const std::vector<char> exact(piece.begin(), piece.end());
      joined += pieces.Decode({exact.data(), exact.size()}, false);
      rest.remove_prefix(piece.size());
    }
    joined += pieces.Decode({}, true);
    CHECK(joined == expected, "{}", EncodingName(encoding));
    const std::string encoded = Encoded(encoding, expected);
    const Encoding output = OutputEncoding(encoding);
    CHECK(Encoded(output, CharsetDecoder(output).Decode(encoded, true)) == encoded, "{}", EncodingName(encoding));
    // A decoder that has ended begins anew.
    CHECK(encoding == Encoding::kReplacement || whole.Decode(bytes, true) == expected);
  }
  size_t slow = 0;
  while (slow < bytes.size()) {
    const size_t length = Utf8SequenceLength(bytes.substr(slow));
    if (length == 0) break;
    slow += length;
  }
  CHECK(ValidUtf8Prefix(bytes) == slow);
  return 0;
}
