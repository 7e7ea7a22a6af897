// HeadCollector: collects the head of the final answer from the lines that a connection delivers.
//
// Interim answers (1xx except 101, RFC 9110 section 15.2) are skipped; trailers are counted and left out. An HTTP/2
// head is written in HTTP/1.1 form, with a status line: archive readers know no other form.
//
// Memory bound: limits.max_bytes, which all lines share, so that neither interim answers nor trailers can exceed it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace portolan {

class HeadCollector {
 public:
  enum class Verdict : uint8_t {
    kGoing,
    kWhole,      // this line ended the final head
    kTooLarge,   // more bytes or lines than the limits
    kBadLength,  // Content-Lengths that differ, or one of 2^64 and above; libcurl reads such a body to the end
    kNotHttp,    // a status line that our own parser refuses; libcurl is more lenient
  };

  void Begin(const HeadLimits& limits);
  // One line with its ending, as received.
  Verdict Line(std::string_view line);

  bool whole() const { return whole_; }
  bool has_status() const { return status_ != 0; }
  int status() const { return status_; }
  uint64_t bytes() const { return bytes_; }  // of all lines
  std::optional<uint64_t> content_length() const { return content_length_; }
  // From the status line to the empty line; cleared by Begin.
  std::string_view text() const { return head_; }
  std::string TakeHead() { return std::move(head_); }

 private:
  bool StatusLine(std::string_view line);

  HeadLimits limits_;
  std::string head_;
  uint64_t bytes_ = 0;
  uint64_t lines_ = 0;
  int status_ = 0;
  bool whole_ = false;
  std::optional<uint64_t> content_length_;
};

}  // namespace portolan
