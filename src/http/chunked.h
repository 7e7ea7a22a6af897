// ChunkedDecoder: decodes the chunked transfer coding (RFC 9112 section 7.1), in pieces of any size.
//
// Tolerated, as browsers and curl do: blanks after a size, extensions of any form (skipped unread), lines and chunks
// that end in LF alone. Refused: sizes that are not a number or exceed 64 bits, a CR without LF, a chunk longer than
// its size.
//
// Bound: no memory except the trailer, at most kMaxTrailer bytes; a size line is at most kMaxLine bytes.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

class ChunkedDecoder {
 public:
  static constexpr size_t kMaxLine = 16 << 10;
  static constexpr size_t kMaxTrailer = 64 << 10;

  enum class State : uint8_t {
    kSize,
    kExtension,
    kSizeEnd,  // at the LF of a size line
    kData,
    kDataEnd,      // before the CR or LF of a chunk
    kDataLineEnd,  // at the LF
    kTrailer,
    kDone,
    kBad,
  };

  // Uses bytes from the front of `in` and appends data to `out` until the input or `room` is used up, or the state is
  // kDone or kBad. Bytes after the end stay in `in`.
  State Feed(std::string_view& in, std::string& out, uint64_t room = UINT64_MAX);

  State state() const { return state_; }
  // All data has come; perhaps not yet the trailer's empty line.
  bool data_done() const { return state_ == State::kTrailer || state_ == State::kDone; }
  // The trailer's lines, once done.
  std::string_view trailer() const { return trailer_; }

  // For tests and for readers of whole buffers: the size of the chunk being read.
  uint64_t chunk_size() const { return size_; }

 private:
  State state_ = State::kSize;
  uint64_t size_ = 0;
  uint64_t left_ = 0;
  size_t line_bytes_ = 0;
  bool digits_ = false;  // the size has at least one digit
  bool blank_ = false;   // a blank followed it
  std::string trailer_;
};

}  // namespace portolan
