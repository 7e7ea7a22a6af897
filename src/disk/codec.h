// Block compression: lz4 where speed matters, zstd level 1 where size matters.
//
// Thread: one Compressor and one Decompressor per thread; each keeps its library's working memory between blocks.
// Memory bound: lz4 16 KiB; zstd about 600 KiB to compress (level 1, blocks up to 256 KiB) and 160 KiB to decompress.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "disk/block_format.h"

namespace portolan {

class Compressor {
 public:
  explicit Compressor(Codec codec);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  // Appends the compressed form of `raw` to `out` and returns the codec that was used: kNone when compression saves
  // nothing.
  Codec Append(std::string_view raw, std::string& out);

 private:
  struct State;
  Codec codec_;
  std::unique_ptr<State> state_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // False unless `stored` decodes to exactly `raw_size` bytes, which are then at `to`. Never writes past them.
  bool Decode(Codec codec, std::string_view stored, char* to, size_t raw_size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace portolan
