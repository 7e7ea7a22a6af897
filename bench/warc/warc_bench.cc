// Archiving speed on one core: 25 KB responses into gzip WARC records with both digests, and reading them back.
//
// The pages are markup around words with the skew of text and compress about as HTML does; the rival writes
// the same records with zlib at its fastest level. Both files are read back strictly before anything is timed.

#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "io/rng.h"
#include "warc/reader.h"
#include "warc/writer.h"

namespace portolan::bench {
namespace {

constexpr size_t kPage = 25'000;
constexpr size_t kPages = 400;  // 10 MB: more than the caches, less than a second a round

// Letters as often as in English, so that words look alike to a compressor.
std::string MakeWord(Rng& rng) {
  constexpr std::string_view kLetters = "eeeeeeeetttttaaaaaoooooiiiinnnnsssshhhrrrddllluucmmwfgypbvk";
  std::string word;
  for (uint64_t letters = 2 + rng.Below(8); letters > 0; --letters) word += kLetters[rng.Below(kLetters.size())];
  return word;
}

std::vector<std::string> MakePages() {
  Rng rng(1);
  std::vector<std::string> words(3000);
  for (std::string& word : words) word = MakeWord(rng);
  // Zipf-like: low ranks come most often.
  const auto word = [&] {
    const double u = rng.Uniform();
    return words[static_cast<size_t>(u * u * u * u * static_cast<double>(words.size()))];
  };
  std::vector<std::string> pages(kPages);
  for (std::string& page : pages) {
    page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" + word() +
           "</title></head>\n<body>\n";
    while (page.size() < kPage) {
      switch (rng.Below(3)) {
        case 0:
          page += "<li class=\"nav-item menu-item\"><a class=\"nav-link\" href=\"/" + word() + "/" + word() + "\">" +
                  word() + " " + word() + "</a></li>\n";
          break;
        case 1:
          page += "<div class=\"card card-body\"><img src=\"/images/" + word() + ".jpg\" alt=\"" + word() +
                  "\" width=\"320\" height=\"240\"><h2 class=\"card-title\">" + word() + "</h2></div>\n";
          break;
        default:
          page += "<p class=\"text\">";
          for (uint64_t count = 10 + rng.Below(30); count > 0; --count) page += word() + " ";
          page += "</p>\n";
      }
    }
    page.resize(kPage);
  }
  return pages;
}

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nDate: Sat, 31 Jan 2026 12:30:01 GMT\r\nServer: nginx\r\nContent-Type: text/html; "
    "charset=utf-8\r\nContent-Length: 25000\r\nConnection: keep-alive\r\n\r\n";

WarcRecordSpec SpecOf(const std::string& page, const std::string& url, size_t number) {
  WarcRecordSpec spec;
  spec.id = {number, number * 77};
  spec.date = {1769862601, 250'000'000, 3};
  spec.target_uri = url;
  spec.ip_address = "192.0.2.1";
  spec.http_head = kHead;
  spec.payload = page;
  return spec;
}

// The rival: the same bytes, compressed by zlib with one stream that is reset from record to record.
class ZlibGzip {
 public:
  ZlibGzip() { deflateInit2(&z_, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); }
  ~ZlibGzip() { deflateEnd(&z_); }
  void Append(const std::string& record, std::string& out) {
    deflateReset(&z_);
    const size_t start = out.size();
    out.resize(start + deflateBound(&z_, record.size()));
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(record.data()));
    z_.avail_in = static_cast<uInt>(record.size());
    z_.next_out = reinterpret_cast<Bytef*>(out.data() + start);
    z_.avail_out = static_cast<uInt>(out.size() - start);
    deflate(&z_, Z_FINISH);
    out.resize(start + z_.total_out);
  }

 private:
  z_stream z_{};
};

Result<uint64_t> CountClean(const std::string& file) {
  WarcReaderOptions options;
  options.strict = true;
  WarcReader reader(MemorySource(file), options);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) break;
  }
  if (reader.stats().faults > 0) return Fail(ErrorCode::kCorrupt, "what was written has faults");
  return reader.stats().records;
}

// CPU time of this thread: what one core needs, also on a machine that others use at the same time.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Call>
double BestSeconds(Call call) {
  double best = 1e9;
  for (int round = 0; round < 9; ++round) {
    const double start = CpuSeconds();
    call();
    best = std::min(best, CpuSeconds() - start);
  }
  return best;
}

Result<nlohmann::ordered_json> RunWarcBench(int, char**, Report& report) {
  const std::vector<std::string> pages = MakePages();
  std::vector<std::string> urls;
  for (size_t i = 0; i < pages.size(); ++i) urls.push_back(fmt::format("https://example.org/page/{}", i));
  const double mb = static_cast<double>(kPages * (kPage + kHead.size())) * 1e-6;
  nlohmann::ordered_json figures;

  const auto write_all = [&](WarcWriter& writer, std::string& file) {
    file.clear();
    for (size_t i = 0; i < pages.size(); ++i) writer.Append(SpecOf(pages[i], urls[i], i), file);
  };
  ASSIGN_OR_RETURN(WarcWriter plain, WarcWriter::Create({.gzip = false}));
  std::string plain_file;
  write_all(plain, plain_file);

  ZlibGzip zlib;
  std::string zlib_file;
  std::string record;
  const auto zlib_all = [&] {
    zlib_file.clear();
    for (size_t i = 0; i < pages.size(); ++i) {
      record.clear();
      plain.Append(SpecOf(pages[i], urls[i], i), record);
      zlib.Append(record, zlib_file);
    }
  };
  zlib_all();

  report.Line("{:<34} {:>10} {:>8}", "25 KB responses, both SHA-1", "MB/s", "ratio");
  std::string file;
  for (const int level : {1, 2, 3, 6}) {
    ASSIGN_OR_RETURN(WarcWriter writer, WarcWriter::Create({.level = level}));
    write_all(writer, file);
    ASSIGN_OR_RETURN(const uint64_t records, CountClean(file));
    if (records != kPages) return Fail(ErrorCode::kCorrupt, "records are missing");
    const double speed = mb / BestSeconds([&] { write_all(writer, file); });
    const double ratio = static_cast<double>(plain_file.size()) / static_cast<double>(file.size());
    report.Line("{:<34} {:>10.0f} {:>8.2f}", fmt::format("write, libdeflate {}", level), speed, ratio);
    figures[level == 1 ? "write_mb_per_s" : fmt::format("write_level{}_mb_per_s", level)] = speed;
    if (level == 1) figures["ratio"] = ratio;
  }
  ASSIGN_OR_RETURN(const uint64_t zlib_records, CountClean(zlib_file));
  if (zlib_records != kPages) return Fail(ErrorCode::kCorrupt, "records of the rival are missing");
  const double zlib_speed = mb / BestSeconds(zlib_all);
  report.Line("{:<34} {:>10.0f} {:>8.2f}", "write, zlib 1", zlib_speed,
              static_cast<double>(plain_file.size()) / static_cast<double>(zlib_file.size()));
  const double plain_speed = mb / BestSeconds([&] { write_all(plain, plain_file); });
  report.Line("{:<34} {:>10.0f} {:>8}", "write, no gzip", plain_speed, "1.00");

  ASSIGN_OR_RETURN(WarcWriter writer, WarcWriter::Create({}));
  write_all(writer, file);
  const auto read_all = [&](bool strict) {
    WarcReaderOptions options;
    options.strict = strict;
    WarcReader reader(MemorySource(file), options);
    while (reader.Next().value_or(false)) {
    }
    if (reader.stats().records != kPages) std::abort();
  };
  const double read_speed = mb / BestSeconds([&] { read_all(false); });
  const double strict_speed = mb / BestSeconds([&] { read_all(true); });
  report.Line("{:<34} {:>10.0f}", "read", read_speed);
  report.Line("{:<34} {:>10.0f}", "read strictly, both digests", strict_speed);
  figures["zlib_write_mb_per_s"] = zlib_speed;
  figures["plain_write_mb_per_s"] = plain_speed;
  figures["read_mb_per_s"] = read_speed;
  figures["read_strict_mb_per_s"] = strict_speed;
  return figures;
}

}  // namespace

PORTOLAN_BENCHMARK("warc", "archive 25 KB pages and read them back, beside zlib", RunWarcBench);

}  // namespace portolan::bench
