// Fast paths for complete gzip data: a body decompressed in one call, and a WARC record made without compressing an
// already compressed body again.
//
// WholeGunzip: libdeflate decompresses a whole gzip body more than twice as fast as a stream decoder, but cannot handle
// limits, pieces and broken input. So it is used only if the stream's own size field is within the limits, and whatever
// it refuses goes to the slow decoder (http/content_decoder.h), which names the error.
//
// StoredGzip: a page that came gzipped does not get smaller by deflating it again, and trying costs most of what
// archiving costs. Here only the front of the record (its headers) is deflated; the rest goes into stored blocks (RFC
// 1951 section 3.2.4) of the same member. Any gunzip reads it.
//
// Thread: one owner each. Memory bound: zlib's and libdeflate's state, together under 100 KiB.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/content_decoder.h"

struct libdeflate_decompressor;

namespace portolan {

class WholeGunzip {
 public:
  WholeGunzip();

  // Replaces `out` by the decoded `body`. False if the slow decoder must be used: not one whole gzip member, or a size
  // that its trailer does not give or that is near the limits.
  bool Decode(std::string_view body, const DecodeLimits& limits, std::string& out);

 private:
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const;
  };
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
};

class StoredGzip {
 public:
  StoredGzip();
  ~StoredGzip();
  StoredGzip(StoredGzip&&) noexcept;
  StoredGzip& operator=(StoredGzip&&) noexcept;

  // Appends one gzip member with all of `bytes`, of which the first `front` are deflated and the others stored.
  void Append(std::string_view bytes, size_t front, std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace portolan
