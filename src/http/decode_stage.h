// DecodeStage: decodes one content coding, a piece of input at a time, into the caller's buffer.
//
// The four libraries behind one call, so that ContentDecoder can stack them and count bytes in one place.
// Memory: gzip and deflate 40 KiB, br up to 16 MiB and zstd up to 2^zstd_window_log bytes
// of window, as the stream asks for.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "http/content_coding.h"

namespace portolan {

enum class StageStatus : uint8_t {
  kNeedsInput,  // all input is used; more may come
  kNeedsRoom,   // the buffer is full; call again with more room before giving more input
  kEnded,       // the stream is whole; what follows it was left out
  kCorrupt,     // these bytes are not in this coding, or break its rules
  kChecksum,    // the stream is complete but its checksum or length does not match the output
};

class DecodeStage {
 public:
  virtual ~DecodeStage() = default;

  // Uses bytes from the front of `in` and writes up to `room` bytes at `to`; `written` says how many.
  virtual StageStatus Run(std::string_view& in, char* to, size_t room, size_t& written) = 0;

  // No input is left. True if the stream may end here.
  virtual bool MayEnd() const = 0;

  // Prepares for another stream, keeping its memory. False if the library cannot do that.
  virtual bool Restart() = 0;

  // Bytes after the end of the stream that are not another member or frame.
  bool trailing_bytes() const { return trailing_bytes_; }

  static std::unique_ptr<DecodeStage> Create(ContentCoding coding, int zstd_window_log);

 protected:
  bool trailing_bytes_ = false;
};

}  // namespace portolan
