#include "http/content_coding.h"

#include "base/ascii.h"

namespace portolan {

std::string_view ContentCodingName(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kDeflate:
      return "deflate";
    case ContentCoding::kBrotli:
      return "br";
    case ContentCoding::kZstd:
      return "zstd";
  }
  return "unknown";
}

CodingStack CodingStack::Parse(std::string_view field) {
  CodingStack stack;
  while (!field.empty()) {
    const size_t comma = field.find(',');
    const std::string_view name = TrimBlanks(field.substr(0, comma));
    field = comma == std::string_view::npos ? std::string_view() : field.substr(comma + 1);
    if (name.empty() || EqualsIgnoringCase(name, "identity")) continue;
    ContentCoding coding;
    if (EqualsIgnoringCase(name, "gzip") || EqualsIgnoringCase(name, "x-gzip")) {
      coding = ContentCoding::kGzip;
    } else if (EqualsIgnoringCase(name, "deflate")) {
      coding = ContentCoding::kDeflate;
    } else if (EqualsIgnoringCase(name, "br")) {
      coding = ContentCoding::kBrotli;
    } else if (EqualsIgnoringCase(name, "zstd")) {
      coding = ContentCoding::kZstd;
    } else {
      stack.supported_ = false;
      continue;
    }
    if (stack.count_ == kMaxDepth) {
      stack.supported_ = false;
      continue;
    }
    stack.codings_[stack.count_++] = coding;
  }
  return stack;
}

CodingStack CodingStack::Of(ContentCoding coding) {
  CodingStack stack;
  stack.codings_[0] = coding;
  stack.count_ = 1;
  return stack;
}

}  // namespace portolan
