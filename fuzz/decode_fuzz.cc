// Any bytes in any stack of content codings: limits hold, and output does not depend on how the bytes are cut.
// The first byte chooses the stack.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/content_decoder.h"

namespace {

struct Decoded {
  portolan::DecodeOutcome outcome;
  std::string bytes;
  bool trailing;
  bool operator==(const Decoded&) const = default;
};

Decoded Run(const portolan::CodingStack& stack, std::string_view bytes, size_t piece) {
  // The ratio is judged at moments that depend on the cuts, so it is off here.
  const portolan::DecodeLimits limits{.max_output = 100'000, .max_ratio = 1e12};
  portolan::ContentDecoder decoder(stack, limits);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece) decoder.Feed(bytes.substr(at, piece), out);
  decoder.Finish(out);
  CHECK(out.size() <= limits.max_output);
  CHECK(out.size() == decoder.bytes_out());
  return {decoder.outcome(), out, decoder.trailing_bytes()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::array<const char*, 8> kStacks = {"gzip",       "deflate",  "br",       "zstd",
                                                  "gzip, gzip", "br, zstd", "identity", "deflate, br, gzip"};
  const auto stack = portolan::CodingStack::Parse(kStacks[data[0] % kStacks.size()]);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Decoded whole = Run(stack, bytes, bytes.size() + 1);
  const Decoded cut = Run(stack, bytes, 3);
  // A stream that turns out broken may have given more of itself before the fault was met. libzstd compares a frame's
  // declared size with an empty last block only where it decodes the frame at once, so there the outcomes may differ.
  const auto codings = stack.codings();
  const bool zstd = std::find(codings.begin(), codings.end(), portolan::ContentCoding::kZstd) != codings.end();
  if (zstd) {
    CHECK(whole.bytes.starts_with(cut.bytes) || cut.bytes.starts_with(whole.bytes));
  } else if (whole.outcome == portolan::DecodeOutcome::kWhole || cut.outcome == portolan::DecodeOutcome::kWhole) {
    CHECK(whole == cut);
  } else {
    CHECK(whole.bytes.starts_with(cut.bytes) || cut.bytes.starts_with(whole.bytes));
  }

  const portolan::DecodeLimits tight{.max_output = 1 << 20, .max_ratio = 10, .ratio_from = 1000};
  const portolan::DecodedBody bounded = portolan::DecodeBody(bytes, stack, tight);
  // One step of the decoder past the ratio at most.
  CHECK(bounded.bytes.size() <= 1000 + 10 * bytes.size() + (256 << 10));
  return 0;
}
