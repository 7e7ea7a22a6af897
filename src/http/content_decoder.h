// ContentDecoder: decodes a body's content codings as its bytes arrive, within limits.
//
// Bytes go in by pieces of any size and decoded bytes are appended to the caller's string. An error is a named outcome,
// and what was decoded before it is kept: a truncated or broken stream still gives its first part, as in a browser. Two
// limits stop bombs: the size of the output, and its ratio to the input once there is enough output to judge.
//
// Bound: no stage, and so no intermediate form of a stack, puts out more than the limits; beyond the output itself the
// memory is that of the stages (decode_stage.h) and 64 KiB for each stage but the last.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/content_coding.h"
#include "http/decode_stage.h"

namespace portolan {

enum class DecodeOutcome : uint8_t {
  kGoing,        // nothing wrong so far; only Finish() says kWhole
  kWhole,        // every stream ended as it should
  kTruncated,    // the input ended inside a stream
  kCorrupt,      // not this coding, or broken
  kChecksum,     // complete, but the checksum differs
  kTooLarge,     // more output than max_output; exactly that much was given
  kBomb,         // more than max_ratio bytes out for each byte in
  kUnsupported,  // a coding that we do not know; nothing was decoded
};

std::string_view DecodeOutcomeName(DecodeOutcome outcome);

struct DecodeLimits {
  uint64_t max_output = uint64_t{64} << 20;
  // Pages are packed 4 to 20 times, the plainest tables 100 times; deflate at its best 1030 times. A bomb of 64 MiB
  // costs a third of a second to unpack and read, during which a loop's other connections wait.
  double max_ratio = 250;
  // The ratio is not checked below this output: a page of blanks compresses very well.
  uint64_t ratio_from = uint64_t{1} << 20;
  // RFC 9659: the coding zstd needs no window above 8 MiB, and browsers refuse one.
  int zstd_window_log = 23;
};

class ContentDecoder {
 public:
  ContentDecoder(const CodingStack& stack, const DecodeLimits& limits) { Restart(stack, limits); }

  // As if new, but reuses the memory of stages that stay the same: for one body after another.
  void Restart(const CodingStack& stack, const DecodeLimits& limits);

  // Appends what `in` decodes to. An outcome other than kGoing is final: later calls change nothing.
  DecodeOutcome Feed(std::string_view in, std::string& out);

  // No more input.
  DecodeOutcome Finish(std::string& out);

  DecodeOutcome outcome() const { return outcome_; }
  // Bytes after the end of a stream, which were ignored.
  bool trailing_bytes() const;
  uint64_t bytes_in() const { return bytes_in_; }
  uint64_t bytes_out() const { return bytes_out_; }

 private:
  struct Level {
    ContentCoding coding;
    std::unique_ptr<DecodeStage> stage;
    std::unique_ptr<char[]> buffer;  // what it hands to the next level; none for the last
    uint64_t out = 0;
  };

  // Runs `in` through the level and all above it.
  void Push(size_t level, std::string_view in, std::string& out);
  void PushLast(Level& last, std::string_view in, std::string& out);
  // False, and the outcome set, where a level has now put out too much.
  bool WithinLimits(uint64_t out_bytes);
  void Note(StageStatus status);

  std::vector<Level> levels_;
  DecodeLimits limits_;
  DecodeOutcome outcome_ = DecodeOutcome::kGoing;
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
};

// A whole body at once.
struct DecodedBody {
  std::string bytes;
  DecodeOutcome outcome;
  bool trailing_bytes;
};
DecodedBody DecodeBody(std::string_view body, const CodingStack& stack, const DecodeLimits& limits);

}  // namespace portolan
