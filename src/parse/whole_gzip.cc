#include "parse/whole_gzip.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

constexpr size_t kSmallestGzip = 18;  // head and trailer
constexpr size_t kMaxStored = 65'535;

}  // namespace

void WholeGunzip::Free::operator()(libdeflate_decompressor* decompressor) const {
  libdeflate_free_decompressor(decompressor);
}

WholeGunzip::WholeGunzip() : decompressor_(libdeflate_alloc_decompressor()) {}

bool WholeGunzip::Decode(std::string_view body, const DecodeLimits& limits, std::string& out) {
  if (decompressor_ == nullptr || body.size() < kSmallestGzip || !body.starts_with("\x1f\x8b\x08")) return false;
  const uint32_t size = LoadLe<uint32_t>(body.data() + body.size() - 4);
  // Deflate cannot pack more than about 1032 to 1; a trailer that says more is not valid.
  if (size == 0 || size > limits.max_output || size / 1032 > body.size()) return false;
  if (size >= limits.ratio_from && static_cast<double>(size) > limits.max_ratio * static_cast<double>(body.size())) {
    return false;
  }
  out.resize(size);
  size_t used = 0;
  size_t written = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(decompressor_.get(), body.data(), body.size(),
                                                                 out.data(), out.size(), &used, &written);
  if (result == LIBDEFLATE_SUCCESS && used == body.size() && written == size) return true;
  out.clear();
  return false;
}

struct StoredGzip::State {
  z_stream stream{};
  State() {
    // Headers are short: a window of 4 KiB and a small table cost little to begin anew.
    const int status = deflateInit2(&stream, 1, Z_DEFLATED, -12, 5, Z_DEFAULT_STRATEGY);
    CHECK(status == Z_OK, "zlib's deflate cannot begin: {}", status);
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

StoredGzip::StoredGzip() : state_(std::make_unique<State>()) {}
StoredGzip::~StoredGzip() = default;
StoredGzip::StoredGzip(StoredGzip&&) noexcept = default;
StoredGzip& StoredGzip::operator=(StoredGzip&&) noexcept = default;

void StoredGzip::Append(std::string_view bytes, size_t front, std::string& out) {
  // Magic, deflate, no name, no time, system unknown: the same record gives the same bytes.
  out.append("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  z_stream& stream = state_->stream;
  deflateReset(&stream);
  const size_t start = out.size();
  const size_t bound = deflateBound(&stream, front) + 16;
  out.resize(start + bound);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(front);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + start);
  stream.avail_out = static_cast<uInt>(bound);
  // The flush ends at a byte, where stored blocks can follow.
  const int status = deflate(&stream, Z_SYNC_FLUSH);
  CHECK(status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0, "zlib's own bound was too small");
  out.resize(start + bound - stream.avail_out);

  std::string_view rest = bytes.substr(front);
  do {
    const size_t size = std::min(rest.size(), kMaxStored);
    out += size == rest.size() ? '\1' : '\0';  // the last block says so
    AppendLe(out, static_cast<uint16_t>(size));
    AppendLe(out, static_cast<uint16_t>(~size));
    out += rest.substr(0, size);
    rest.remove_prefix(size);
  } while (!rest.empty());
  AppendLe(out, static_cast<uint32_t>(libdeflate_crc32(0, bytes.data(), bytes.size())));
  AppendLe(out, static_cast<uint32_t>(bytes.size()));
}

}  // namespace portolan
