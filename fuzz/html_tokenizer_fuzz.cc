// Any bytes as HTML: the same tokens whole, byte by byte and in pieces that the input itself chooses.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "html/token_recorder.h"
#include "html/tokenizer.h"

namespace {

using portolan::TextState;
using portolan::Tokenizer;
using portolan::TokenRecorder;

constexpr TextState kStates[] = {TextState::kData,       TextState::kRcdata,    TextState::kRawtext,
                                 TextState::kScriptData, TextState::kPlaintext, TextState::kCdata};

// Pieces of up to `largest` bytes, by the numbers of `seed`; each in memory of its own size.
std::vector<portolan::RecordedToken> InPieces(std::string_view html, uint8_t setup, size_t largest, uint64_t seed) {
  TokenRecorder recorder((setup & 8) != 0, (setup & 16) != 0);
  // A small limit makes it part of what is tried.
  Tokenizer tokenizer(recorder, {.max_construct_bytes = (setup & 32) != 0 ? size_t{100} : size_t{1} << 20});
  tokenizer.StartIn(kStates[(setup & 7) % 6], "script");
  while (!html.empty()) {
    seed = portolan::Mix64(seed + 1);
    const std::string_view piece = html.substr(0, 1 + seed % largest);
    const std::vector<char> exact(piece.begin(), piece.end());
    tokenizer.Feed({exact.data(), exact.size()});
    html.remove_prefix(piece.size());
  }
  tokenizer.Finish();
  return recorder.tokens();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t setup = data[0];
  const std::string_view html(reinterpret_cast<const char*>(data) + 1, size - 1);
  TokenRecorder whole((setup & 8) != 0, (setup & 16) != 0);
  Tokenizer tokenizer(whole, {.max_construct_bytes = (setup & 32) != 0 ? size_t{100} : size_t{1} << 20});
  tokenizer.StartIn(kStates[(setup & 7) % 6], "script");
  tokenizer.Read(html);
  CHECK(whole.tokens() == InPieces(html, setup, 1, 0));
  CHECK(whole.tokens() == InPieces(html, setup, 24, portolan::Hash64(html)));
  return 0;
}
