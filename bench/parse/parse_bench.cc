// What a fetched page costs until the shard has it: the whole of PageMaker, and each of its stages alone.
//
//   portolan bench parse [--pages DIR | --world PROFILE] [--rounds N] [--level N]
//
// Input: real pages, gzipped as servers send them, in memory; or pages of a simulated web (web2007, web2026). First the
// answer: the links of each page are those of the plain reader over the plain text. Then processor time on one thread,
// the best of N rounds.

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bench/benchmark.h"
#include "bench/parse/samples.h"
#include "bench/parse/text_costs.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "http/content_decoder.h"
#include "http/sniff.h"
#include "parse/page_maker.h"
#include "parse/whole_gzip.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kWorldPages = 400;

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Result<nlohmann::ordered_json> RunParseBench(int argc, char** argv, Report& report) {
  std::string folder = "../shared/data/pages";
  int rounds = 7;
  int level = 1;
  std::string world;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--pages") {
      folder = argv[i + 1];
    } else if (flag == "--rounds") {
      rounds = std::max(3, std::atoi(argv[i + 1]));
    } else if (flag == "--world") {
      world = argv[i + 1];
    } else if (flag == "--level") {
      level = std::atoi(argv[i + 1]);
    } else {
      return Fail(ErrorCode::kInvalidArgument, "usage: parse [--pages DIR | --world PROFILE] [--rounds N] [--level N]");
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Sample> samples,
                   world.empty() ? LoadSamples(folder) : MakeSamples(world, kWorldPages));
  const auto pages = static_cast<double>(samples.size());
  double bytes = 0;
  double coded = 0;
  for (const Sample& sample : samples) {
    bytes += static_cast<double>(sample.html.size());
    coded += static_cast<double>(sample.response.body.size());
  }
  const auto maker_of = [&](bool archive, bool similarity) {
    PageMakerOptions options;
    options.archive = archive;
    options.archive_level = level;
    options.similarity = similarity;
    return PageMaker::Create(options);
  };
  ASSIGN_OR_RETURN(PageMaker maker, maker_of(true, false));
  ASSIGN_OR_RETURN(PageMaker no_archive, maker_of(false, false));
  ASSIGN_OR_RETURN(PageMaker similar, maker_of(false, true));

  // The answers first.
  PageReader reader({.anchor_text = false});
  PageLinks resolved;
  const PageLinksOptions navigation{.embeds = false, .resources = false};
  size_t links = 0;
  double archived = 0;
  for (const Sample& sample : samples) {
    const PageResult result = maker.Make(CopyOf(sample.response));
    CharsetDecoder utf8(Encoding::kUtf8);
    const Page& page = reader.Read(utf8.Decode(sample.html, true));
    resolved.Resolve(page, sample.url, navigation);
    std::set<uint64_t> expected;
    for (const ResolvedLink& link : resolved.links) {
      if (page.links[link.source].attribute != LinkAttribute::kAction) expected.insert(link.hash);
    }
    if (result.links.links.size() != expected.size() || result.fingerprint != Hash64(sample.html)) {
      return Fail(ErrorCode::kCorrupt, std::string(sample.url.href()) + ": other links than the plain reader");
    }
    links += expected.size();
    archived += static_cast<double>(result.archive.bytes.size());
  }
  report.Line("{} pages of {:.1f} KB, {:.1f} KB gzipped; {:.0f} distinct links and {:.1f} KB of WARC a page",
              samples.size(), bytes / pages / 1000, coded / pages / 1000, static_cast<double>(links) / pages,
              archived / pages / 1000);

  uint64_t sum = 0;
  const auto best = [&](const auto& call) {
    double seconds = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double start = CpuSeconds();
      for (const Sample& sample : samples) call(sample);
      seconds = std::min(seconds, CpuSeconds() - start);
    }
    return seconds / pages * 1e6;
  };
  // A response is consumed, so each call copies it: its cost is taken off.
  const double copy = best([&](const Sample& s) { sum += CopyOf(s.response).body.size(); });
  const double all = best([&](const Sample& s) { sum += maker.Make(CopyOf(s.response)).fingerprint; }) - copy;
  const double bare = best([&](const Sample& s) { sum += no_archive.Make(CopyOf(s.response)).fingerprint; }) - copy;
  const double simhash = best([&](const Sample& s) { sum += similar.Make(CopyOf(s.response)).similarity; }) - copy;

  std::string decoded;
  WholeGunzip gunzip;
  ContentDecoder decoder(CodingStack::Of(ContentCoding::kGzip), {});
  const double head = best([&](const Sample& s) { sum += ParseResponseHead(s.response.response_head).status; });
  const double decode = best([&](const Sample& s) { sum += gunzip.Decode(s.response.body, {}, decoded) ? 1 : 0; });
  const double stream = best([&](const Sample& s) {
    decoded.clear();
    decoder.Restart(CodingStack::Of(ContentCoding::kGzip), {});
    decoder.Feed(s.response.body, decoded);
    decoder.Finish(decoded);
    sum += decoded.size();
  });
  const double sniff = best([&](const Sample& s) {
    sum +=
        SniffContent("text/html; charset=utf-8", std::string_view(s.html).substr(0, kSniffBytes), false).essence.size();
  });
  const double charset = best([&](const Sample& s) {
    const CharsetDecision decision = SniffCharset(std::string_view(s.html).substr(0, kDetectBytes), "utf-8");
    CharsetDecoder utf8(decision.encoding);
    sum += utf8.Decode(s.html, true).size();
  });
  const double hash = best([&](const Sample& s) { sum += Hash64(s.html); });
  const double read = best([&](const Sample& s) { sum += reader.Read(s.html).links.size(); });
  const double resolve = best([&](const Sample& s) {
                           resolved.Resolve(reader.Read(s.html), s.url, navigation);
                           sum += resolved.links.size();
                         }) -
                         read;
  const double records = all - bare;
  const double rest = all - head - decode - sniff - charset - hash - read - resolve - records;
  const double detect = best([&](const Sample& s) {
    sum += static_cast<uint64_t>(SniffCharset(std::string_view(s.html).substr(0, kDetectBytes), "").encoding);
  });

  nlohmann::ordered_json figures;
  figures["pages_per_s"] = 1e6 / all;
  figures["mb_per_s"] = bytes / pages / all;
  figures["page_bytes"] = bytes / pages;
  const auto line = [&](std::string_view name, const char* key, double us) {
    report.Line("  {:<34} {:>8.1f} us {:>6.1f} %", name, us, 100 * us / all);
    figures[key] = us;
  };
  report.Line("everything: {:.1f} us per page, {:.0f} pages/s, {:.0f} MB/s of HTML", all, 1e6 / all,
              bytes / pages / all);
  line("head", "head_us", head);
  line("gzip off", "decode_us", decode);
  line("type", "sniff_us", sniff);
  line("charset, UTF-8 check", "charset_us", charset);
  line("fingerprint", "fingerprint_us", hash);
  line("links as written", "read_us", read);
  line("canonical URLs and hashes", "resolve_us", resolve);
  line("WARC records, CDXJ", "records_us", records);
  line("links once each, the rest", "rest_us", rest);
  report.Line("beside it:");
  line("gzip off by the stream decoder", "stream_decode_us", stream);
  line("similarity of the text, if asked", "similarity_us", simhash - bare);
  line("charset where the server has none", "detect_us", detect);
  figures["check"] = sum;
  ASSIGN_OR_RETURN(const nlohmann::ordered_json text, MeasureTextCosts(samples, rounds, report));
  figures.update(text);
  return figures;
}

}  // namespace

PORTOLAN_BENCHMARK("parse", "a fetched page until the shard has it, by stage", RunParseBench);

}  // namespace portolan::bench
