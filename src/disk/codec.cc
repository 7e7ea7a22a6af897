#include "disk/codec.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "base/check.h"

namespace portolan {
namespace {

constexpr int kZstdLevel = 1;
// On front-coded links, 64 KiB blocks: acceleration 1 gives 2.87 × at 81 ns per link, 4 gives 2.53 × at 60, 8 gives
// 2.29 × at 44.
constexpr int kLz4Acceleration = 6;

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct Compressor::State {
  std::string lz4;  // LZ4's hash table
  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd;
};

Compressor::Compressor(Codec codec) : codec_(codec), state_(std::make_unique<State>()) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

Codec Compressor::Append(std::string_view raw, std::string& out) {
  const size_t before = out.size();
  size_t stored = 0;
  if (codec_ == Codec::kLz4 && !raw.empty()) {
    if (state_->lz4.empty()) state_->lz4.resize(static_cast<size_t>(LZ4_sizeofState()));
    const int bound = LZ4_compressBound(static_cast<int>(raw.size()));
    out.resize(before + static_cast<size_t>(bound));
    const int size = LZ4_compress_fast_extState(state_->lz4.data(), raw.data(), out.data() + before,
                                                static_cast<int>(raw.size()), bound, kLz4Acceleration);
    CHECK(size > 0);
    stored = static_cast<size_t>(size);
  } else if (codec_ == Codec::kZstd && !raw.empty()) {
    if (!state_->zstd) state_->zstd.reset(ZSTD_createCCtx());
    const size_t bound = ZSTD_compressBound(raw.size());
    out.resize(before + bound);
    stored = ZSTD_compressCCtx(state_->zstd.get(), out.data() + before, bound, raw.data(), raw.size(), kZstdLevel);
    CHECK(ZSTD_isError(stored) == 0, "zstd: {}", ZSTD_getErrorName(stored));
  }
  if (stored == 0 || stored >= raw.size()) {
    out.resize(before);
    out.append(raw);
    return Codec::kNone;
  }
  out.resize(before + stored);
  return codec_;
}

struct Decompressor::State {
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
};

Decompressor::Decompressor() : state_(std::make_unique<State>()) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

bool Decompressor::Decode(Codec codec, std::string_view stored, char* to, size_t raw_size) {
  switch (codec) {
    case Codec::kNone:
      if (stored.size() != raw_size) return false;
      if (raw_size > 0) std::memcpy(to, stored.data(), raw_size);
      return true;
    case Codec::kLz4:
      return LZ4_decompress_safe(stored.data(), to, static_cast<int>(stored.size()), static_cast<int>(raw_size)) ==
             static_cast<int>(raw_size);
    case Codec::kZstd:
      if (!state_->zstd) state_->zstd.reset(ZSTD_createDCtx());
      return ZSTD_decompressDCtx(state_->zstd.get(), to, raw_size, stored.data(), stored.size()) == raw_size;
  }
  return false;
}

}  // namespace portolan
