#include "sim/world/coding.h"

#include <brotli/encode.h>
#include <fmt/core.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "base/ascii.h"
#include "base/check.h"

namespace portolan::sim {
namespace {

constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool Accepts(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t comma = header.find(',');
    std::string_view item = TrimBlanks(header.substr(0, comma));
    header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
    const size_t semicolon = item.find(';');
    const std::string_view quality = semicolon == std::string_view::npos ? "" : TrimBlanks(item.substr(semicolon + 1));
    item = TrimBlanks(item.substr(0, semicolon));
    if (EqualsIgnoringCase(item, name)) return quality != "q=0" && quality != "q=0.0";
  }
  return false;
}

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};

}  // namespace

std::string_view CodingName(ContentCoding coding) {
  constexpr std::string_view kNames[] = {"identity", "gzip", "deflate", "br", "zstd"};
  return kNames[static_cast<size_t>(coding)];
}

ContentCoding Negotiate(ContentCoding wanted, std::string_view accept_encoding) {
  if (wanted == ContentCoding::kIdentity || accept_encoding.empty()) return ContentCoding::kIdentity;
  if (Accepts(accept_encoding, CodingName(wanted))) return wanted;
  return Accepts(accept_encoding, "gzip") ? ContentCoding::kGzip : ContentCoding::kIdentity;
}

std::string Compress(ContentCoding coding, std::string_view bytes) {
  thread_local const std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate(libdeflate_alloc_compressor(1));
  std::string out;
  switch (coding) {
    case ContentCoding::kIdentity:
      return std::string(bytes);
    case ContentCoding::kGzip:
      out.resize(libdeflate_gzip_compress_bound(deflate.get(), bytes.size()));
      out.resize(libdeflate_gzip_compress(deflate.get(), bytes.data(), bytes.size(), out.data(), out.size()));
      return out;
    case ContentCoding::kDeflate:
      out.resize(libdeflate_zlib_compress_bound(deflate.get(), bytes.size()));
      out.resize(libdeflate_zlib_compress(deflate.get(), bytes.data(), bytes.size(), out.data(), out.size()));
      return out;
    case ContentCoding::kBrotli: {
      size_t size = BrotliEncoderMaxCompressedSize(bytes.size()) + 16;
      out.resize(size);
      const int done = BrotliEncoderCompress(1, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.size(),
                                             reinterpret_cast<const uint8_t*>(bytes.data()), &size,
                                             reinterpret_cast<uint8_t*>(out.data()));
      CHECK(done != 0);
      out.resize(size);
      return out;
    }
    case ContentCoding::kZstd: {
      out.resize(ZSTD_compressBound(bytes.size()));
      const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
      CHECK(ZSTD_isError(size) == 0);
      out.resize(size);
      return out;
    }
  }
  return out;
}

std::string GzipBomb(uint64_t bytes) {
  // A mebibyte of zeros is compressed once, up to a flush that forgets what was before; the rest is repetition.
  constexpr uint64_t kPiece = 1 << 20;
  const uint64_t pieces = std::max<uint64_t>(1, bytes / kPiece);
  const std::string zeros(kPiece, '\0');
  std::string block(1 << 16, '\0');
  z_stream stream{};
  CHECK(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(block.data());
  stream.avail_out = static_cast<uInt>(block.size());
  CHECK(deflate(&stream, Z_FULL_FLUSH) == Z_OK && stream.avail_in == 0);
  block.resize(block.size() - stream.avail_out);
  deflateEnd(&stream);
  const uLong piece_crc = crc32(0, reinterpret_cast<const Bytef*>(zeros.data()), static_cast<uInt>(zeros.size()));
  uLong crc = piece_crc;
  for (uint64_t i = 1; i < pieces; ++i) crc = crc32_combine(crc, piece_crc, static_cast<z_off_t>(kPiece));
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  out.reserve(block.size() * pieces + 32);
  for (uint64_t i = 0; i < pieces; ++i) out += block;
  out += std::string_view("\x03\0", 2);  // an empty last block
  for (const uint64_t word : {uint64_t{crc}, pieces * kPiece}) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(word >> shift & 0xff);
  }
  return out;
}

std::string HttpDate(int64_t unix_s) {
  using std::chrono::days;
  using std::chrono::sys_days;
  const int64_t day = unix_s >= 0 ? unix_s / 86400 : -((86399 - unix_s) / 86400);
  const int64_t second = unix_s - day * 86400;
  const std::chrono::year_month_day date{sys_days(days(day))};
  const unsigned weekday = std::chrono::weekday(sys_days(days(day))).c_encoding();
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[weekday], static_cast<unsigned>(date.day()),
                     kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()), second / 3600,
                     second / 60 % 60, second % 60);
}

int64_t ParseHttpDate(std::string_view text) {
  if (text.size() != 29 || !text.ends_with(" GMT")) return -1;
  const auto number = [&](size_t at, size_t size) {
    int64_t value = 0;
    for (const char c : text.substr(at, size)) {
      if (!IsDigit(c)) return int64_t{-1};
      value = value * 10 + (c - '0');
    }
    return value;
  };
  int month = 0;
  while (month < 12 && text.substr(8, 3) != kMonths[month]) ++month;
  const int64_t day = number(5, 2);
  const int64_t year = number(12, 4);
  const int64_t hour = number(17, 2);
  const int64_t minute = number(20, 2);
  const int64_t second = number(23, 2);
  if (month == 12 || day < 1 || year < 0 || hour < 0 || minute < 0 || second < 0) return -1;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month) + 1),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return -1;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + minute * 60 + second;
}

}  // namespace portolan::sim
