#include "warc/payload_decoder.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace portolan {
namespace {

constexpr size_t kStep = size_t{64} << 10;

bool BeginsChunked(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 16 && std::isxdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  if (digits == 0) return false;
  return digits == text.size() || std::string_view("\r\n; \t").find(text[digits]) != std::string_view::npos;
}

}  // namespace

struct PayloadDecoder::Zlib {
  z_stream stream{};
  // 15 + 32 window bits: gzip or zlib by their first bytes; -15: raw.
  explicit Zlib(int bits) { CHECK(inflateInit2(&stream, bits) == Z_OK, "zlib has no memory"); }
  ~Zlib() { inflateEnd(&stream); }
};

PayloadDecoder::PayloadDecoder(const FieldList& fields, Sink sink) : sink_(std::move(sink)) {
  chunked_ = LowerCase(fields.Get("Transfer-Encoding")).find("chunked") != std::string::npos;
  const std::string coding = LowerCase(TrimBlanks(fields.Get("Content-Encoding")));
  if (coding == "gzip" || coding == "x-gzip" || coding == "deflate") {
    deflate_ = coding == "deflate";
    zlib_ = std::make_unique<Zlib>(15 + 32);
  } else if (coding != "identity") {
    coding_left_ = coding;
  }
}

PayloadDecoder::~PayloadDecoder() = default;

Status PayloadDecoder::Feed(std::string_view piece) {
  if (piece.empty()) return {};
  if (!started_) {
    started_ = true;
    chunked_ = chunked_ && BeginsChunked(piece);
  }
  if (!chunked_) return FeedContent(piece);
  Status status;
  chunks_.Feed(piece, [&](std::string_view bytes) {
    if (status) status = FeedContent(bytes);
  });
  return status;
}

Status PayloadDecoder::FeedContent(std::string_view piece) {
  if (!content_started_ && !piece.empty() && zlib_) {
    content_started_ = true;
    const bool gzip = piece.front() == '\x1f';
    const bool wrapped = (piece.front() & 0x0f) == 8;
    if (deflate_ && !gzip && !wrapped) zlib_ = std::make_unique<Zlib>(-15);
    if (!deflate_ && !gzip) zlib_.reset();
  }
  if (!zlib_) {
    sink_(piece);
    return {};
  }
  if (done_) return {};  // bytes behind the stream: padding
  z_stream& z = zlib_->stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  z.avail_in = static_cast<uInt>(piece.size());
  std::string out(kStep, '\0');
  for (;;) {
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    const int outcome = inflate(&z, Z_NO_FLUSH);
    const size_t made = out.size() - z.avail_out;
    if (made > 0) sink_(std::string_view(out).substr(0, made));
    if (outcome == Z_STREAM_END) {
      done_ = true;
      return {};
    }
    if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      return Fail(ErrorCode::kCorrupt, fmt::format("the payload does not decompress: {}",
                                                   z.msg != nullptr ? z.msg : "zlib gives no reason"));
    }
    if (z.avail_out > 0) return {};
  }
}

Status PayloadDecoder::Finish() {
  if (zlib_ && content_started_ && !done_) return Fail(ErrorCode::kCorrupt, "the compressed payload ends too soon");
  return {};
}

}  // namespace portolan
