// Content codings: gzip, br and zstd of real pages undone by ContentDecoder, in pieces as a socket gives them, beside
// the libraries called directly on the whole body with a buffer of the right size. What the limits and the streaming
// cost.

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "http/content_decoder.h"
#include "http/fact_files.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

constexpr size_t kPiece = size_t{16} << 10;  // what a read from a socket brings

std::string Encoded(ContentCoding coding, const std::string& plain) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(plain.data());
  if (coding == ContentCoding::kBrotli) {
    size_t size = BrotliEncoderMaxCompressedSize(plain.size()) + 64;
    std::string packed(size, '\0');
    BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, plain.size(), bytes, &size,
                          reinterpret_cast<uint8_t*>(packed.data()));
    packed.resize(size);
    return packed;
  }
  if (coding == ContentCoding::kZstd) {
    std::string packed(ZSTD_compressBound(plain.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
    return packed;
  }
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = const_cast<Bytef*>(bytes);
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The library alone. REQUIRES: out has exactly the plain size.
bool LibraryDecodes(ContentCoding coding, const std::string& packed, std::string& out) {
  if (coding == ContentCoding::kBrotli) {
    size_t size = out.size();
    return BrotliDecoderDecompress(packed.size(), reinterpret_cast<const uint8_t*>(packed.data()), &size,
                                   reinterpret_cast<uint8_t*>(out.data())) == BROTLI_DECODER_RESULT_SUCCESS;
  }
  if (coding == ContentCoding::kZstd) {
    return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
  }
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  return whole;
}

// One decoder for all bodies, as a fetch loop has it.
DecodeOutcome OursDecodes(ContentDecoder& decoder, ContentCoding coding, std::string_view packed, std::string& out) {
  out.clear();
  decoder.Restart(CodingStack::Of(coding), {});
  for (; !packed.empty(); packed.remove_prefix(std::min(kPiece, packed.size()))) {
    decoder.Feed(packed.substr(0, kPiece), out);
  }
  return decoder.Finish(out);
}

template <typename Call>
double Seconds(Call call) {
  const int64_t start = Clock::Real().NowNs();
  call();
  return static_cast<double>(Clock::Real().NowNs() - start) * 1e-9;
}

Result<nlohmann::ordered_json> RunDecodeBench(int, char**, Report& report) {
  const auto index = ReadFacts("pages/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, kFacts + "pages is not here");
  std::vector<std::string> pages;
  double mb = 0;
  size_t largest = 0;
  for (const std::string_view line : LinesOf(*index)) {
    for (const std::string& folder : {std::string("pages/"), std::string()}) {
      auto page = ReadFacts(folder + std::string(line.substr(0, line.find('\t'))));
      if (!page || page->empty()) continue;
      mb += static_cast<double>(page->size()) * 1e-6;
      largest = std::max(largest, page->size());
      pages.push_back(std::move(*page));
      break;
    }
  }
  if (pages.empty()) return Fail(ErrorCode::kNotFound, "no pages are listed");
  report.Line("{} pages, {:.1f} MB, in pieces of {} bytes", pages.size(), mb, kPiece);
  report.Line("{:<8} {:>12} {:>12} {:>8}", "", "ours", "library", "ratio");

  nlohmann::ordered_json figures;
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kBrotli, ContentCoding::kZstd}) {
    std::vector<std::string> packed;
    std::vector<std::string> buffers;
    ContentDecoder decoder(CodingStack::Of(coding), {});
    std::string out;
    out.reserve(largest + (size_t{256} << 10));
    for (const std::string& page : pages) {
      packed.push_back(Encoded(coding, page));
      buffers.emplace_back(page.size(), '\0');
      if (OursDecodes(decoder, coding, packed.back(), out) != DecodeOutcome::kWhole || out != page ||
          !LibraryDecodes(coding, packed.back(), buffers.back()) || buffers.back() != page) {
        return Fail(ErrorCode::kCorrupt, "a page came back changed");
      }
    }
    // The best of several runs page by page, ours and the library's in turn: a neighbour's burst hits neither alone.
    double ours = 0;
    double library = 0;
    for (size_t i = 0; i < packed.size(); ++i) {
      double best_ours = 1e9;
      double best_library = 1e9;
      for (int round = 0; round < 9; ++round) {
        best_ours = std::min(best_ours, Seconds([&] { OursDecodes(decoder, coding, packed[i], out); }));
        best_library = std::min(best_library, Seconds([&] { LibraryDecodes(coding, packed[i], buffers[i]); }));
      }
      ours += best_ours;
      library += best_library;
    }
    const std::string name(ContentCodingName(coding));
    report.Line("{:<8} {:>7.0f} MB/s {:>7.0f} MB/s {:>8.2f}", name, mb / ours, mb / library, library / ours);
    figures[name + "_mb_per_s"] = mb / ours;
    figures[name + "_lib_mb_per_s"] = mb / library;
    figures[name + "_ratio"] = library / ours;
  }
  return figures;
}

}  // namespace

PORTOLAN_BENCHMARK("decode", "gzip, br and zstd through the streaming decoder beside the libraries", RunDecodeBench);

}  // namespace portolan::bench
