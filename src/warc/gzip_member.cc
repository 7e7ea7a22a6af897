#include "warc/gzip_member.h"

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

constexpr int kIsalLevel = 2;  // of ISA-L's 0 to 3: as fast as 1, and smaller

}  // namespace

struct GzipMember::Isal {
  isal_zstream stream;
  std::array<uint8_t, ISAL_DEF_LVL2_DEFAULT> level_buffer;
};

void GzipMember::FreeCompressor::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

GzipMember::GzipMember(std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate, std::unique_ptr<Isal> isal)
    : deflate_(std::move(deflate)), isal_(std::move(isal)) {}
GzipMember::GzipMember(GzipMember&&) noexcept = default;
GzipMember& GzipMember::operator=(GzipMember&&) noexcept = default;
GzipMember::~GzipMember() = default;

Result<GzipMember> GzipMember::Create(int level) {
  if (level < 1 || level > 12) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("gzip level {}: use 1 to 12", level));
  }
  std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate(libdeflate_alloc_compressor(level));
  if (deflate == nullptr) return Fail(ErrorCode::kNoSpace, "no memory for the compressor");
  return GzipMember(std::move(deflate), level == 1 ? std::make_unique<Isal>() : nullptr);
}

size_t GzipMember::PackWithIsal(std::string_view bytes, size_t room) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (isal_ == nullptr || bytes.size() > kMost) return 0;
  isal_zstream& stream = isal_->stream;
  isal_deflate_stateless_init(&stream);
  stream.level = kIsalLevel;
  stream.level_buf = isal_->level_buffer.data();
  stream.level_buf_size = static_cast<uint32_t>(isal_->level_buffer.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));  // it only reads
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  stream.next_out = reinterpret_cast<uint8_t*>(packed_.get());
  stream.avail_out = static_cast<uint32_t>(std::min(room, kMost));
  if (isal_deflate_stateless(&stream) != COMP_OK || stream.avail_in != 0) return 0;
  return stream.total_out;
}

size_t GzipMember::Append(std::string_view bytes, std::string& out) {
  const size_t bound = libdeflate_gzip_compress_bound(deflate_.get(), bytes.size());
  if (bound > room_) {
    packed_ = std::make_unique_for_overwrite<char[]>(bound);
    room_ = bound;
  }
  size_t length = PackWithIsal(bytes, bound);
  if (length == 0) {
    length = libdeflate_gzip_compress(deflate_.get(), bytes.data(), bytes.size(), packed_.get(), room_);
    CHECK(length > 0, "libdeflate's own bound was too small");
  }
  out.append(packed_.get(), length);
  if (room_ > kKeepBuffer) {
    packed_.reset();
    room_ = 0;
  }
  return length;
}

}  // namespace portolan
