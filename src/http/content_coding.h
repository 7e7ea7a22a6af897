// Content codings by name, and the Content-Encoding field that lists them (RFC 9110 section 8.4).

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace portolan {

enum class ContentCoding : uint8_t {
  kGzip,     // gzip, x-gzip
  kDeflate,  // deflate: zlib's format as the RFC says, or raw as many servers send
  kBrotli,   // br
  kZstd,     // zstd
};

std::string_view ContentCodingName(ContentCoding coding);

// The codings in the order in which they were applied, "identity" left out.
class CodingStack {
 public:
  // No honest server sends more than this.
  static constexpr size_t kMaxDepth = 4;

  // One Content-Encoding field, or several joined by commas. With an unknown coding, or too many, the stack is
  // unsupported.
  static CodingStack Parse(std::string_view field);
  static CodingStack Of(ContentCoding coding);

  bool supported() const { return supported_; }
  std::span<const ContentCoding> codings() const { return {codings_.data(), count_}; }

 private:
  std::array<ContentCoding, kMaxDepth> codings_{};
  uint8_t count_ = 0;
  bool supported_ = true;
};

}  // namespace portolan
