// ResponseParser: one HTTP/1 response from the bytes of a connection or of an archive record, in pieces of any size.
//
// Interim answers (1xx except 101) are skipped. Bytes after the response's end are left to the caller. The result does
// not depend on how the bytes were cut.
//
// Bound: the head is at most limits.head.max_bytes, the body at most limits.max_body; interim answers at most
// kMaxInterim.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/chunked.h"
#include "http/headers.h"

namespace portolan {

enum class ResponseOutcome : uint8_t {
  kGoing,      // more bytes are expected
  kComplete,   // the whole response is here
  kTruncated,  // the connection closed inside a body of known length
  kCutHead,    // the connection closed inside the head; what was there has been read, as browsers do
  kEmpty,      // closed before any byte of a status line
  kBadHead,    // see head().outcome
  kBadLength,  // Content-Lengths that differ, or one of 2^64 and above
  kBadChunk,   // not the chunked coding; the body holds what came before
  kTooLarge,   // a body beyond the limit; the body holds exactly the limit
  kTooManyInterim,
};

std::string_view ResponseOutcomeName(ResponseOutcome outcome);

struct ResponseLimits {
  HeadLimits head = {};
  uint64_t max_body = uint64_t{64} << 20;
};

class ResponseParser {
 public:
  static constexpr int kMaxInterim = 32;

  explicit ResponseParser(const ResponseLimits& limits = {}, bool answers_head_request = false)
      : limits_(limits), answers_head_request_(answers_head_request) {}

  // Uses bytes from the front of `in`; none once the outcome is not kGoing.
  ResponseOutcome Feed(std::string_view& in);
  // The connection closed.
  ResponseOutcome Finish();

  ResponseOutcome outcome() const { return outcome_; }
  bool head_done() const { return in_body_; }
  const ResponseHead& head() const { return head_; }
  const Framing& framing() const { return framing_; }
  const std::string& body() const { return body_; }
  std::string& mutable_body() { return body_; }
  // After a chunked body.
  std::string_view trailer() const { return chunked_.trailer(); }
  int interim_answers() const { return interim_; }

 private:
  void FeedHead(std::string_view& in);
  void ReadHead();
  void FeedBody(std::string_view& in);

  ResponseLimits limits_;
  bool answers_head_request_;
  bool in_body_ = false;
  ResponseOutcome outcome_ = ResponseOutcome::kGoing;
  int interim_ = 0;
  std::string head_bytes_;
  size_t line_begin_ = 0;  // of the last line in head_bytes_
  ResponseHead head_;
  Framing framing_;
  ChunkedDecoder chunked_;
  std::string body_;
};

}  // namespace portolan
