// portolan warc cat: one record, by its place in a file, or by URL and time out of a crawl's archive.

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/crawl_place.h"
#include "cli/crawl_sources.h"
#include "cli/shard_dirs.h"
#include "cli/verb_app.h"
#include "cli/warc_input.h"
#include "cli/warc_parts.h"
#include "outputs/find_captures.h"
#include "url/surt.h"
#include "url/url.h"
#include "warc/arc_line.h"
#include "warc/payload_decoder.h"
#include "warc/reader.h"
#include "warc/warc_format.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

struct CatFlags {
  std::string file;  // or the crawl's directory
  std::string what;  // an offset, or a URL
  std::string time;
  bool payload = false;
  bool block = false;
  bool headers = false;
  bool list = false;
};

void WriteOut(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }

// The header as text: WARC fields line by line, an ARC line as one.
std::string HeaderText(const WarcRecord& record) {
  std::string text;
  if (record.is_arc()) {
    for (size_t i = 0; i < record.fields.size(); ++i) {
      text += (i > 0 ? " " : "") + std::string(record.fields[i].value);
    }
    return text + "\n";
  }
  text = fmt::format("WARC/{}\r\n", record.version);
  for (size_t i = 0; i < record.fields.size(); ++i) {
    text += fmt::format("{}: {}\r\n", record.fields[i].name, record.fields[i].value);
  }
  return text + "\r\n";
}

int CatPayload(WarcReader& reader) {
  PayloadDecoder decoder(reader.record().http.fields, WriteOut);
  for (;;) {
    const auto piece = reader.ReadPayload();
    if (!piece) return Complain(piece.error());
    if (piece->empty()) break;
    if (const auto status = decoder.Feed(*piece); !status) return Complain(status.error());
  }
  if (const auto status = decoder.Finish(); !status) return Complain(status.error());
  if (!decoder.coding_left().empty()) {
    PrintError(fmt::format("the payload is still coded as '{}'", Printable(decoder.coding_left())));
  }
  return kExitOk;
}

Result<bool> OpenRecord(WarcReader& reader, uint64_t offset) {
  ASSIGN_OR_RETURN(const bool more, reader.Next());
  return more && reader.record().offset == offset;
}

int PrintRecord(const std::string& file, uint64_t offset, const CatFlags& flags) {
  auto input = WarcInput::Open(file);
  if (!input) return Complain(input.error());
  WarcReaderOptions options;
  options.start = offset;
  WarcReader reader(input->Source(), options);
  const auto here = OpenRecord(reader, offset);
  if (!here) return Complain(here.error());
  if (!*here) {
    PrintError(fmt::format("{}: no record begins at offset {}", Printable(file), offset));
    return kExitBadInput;
  }
  if (flags.payload) return CatPayload(reader);
  if (!flags.block) WriteOut(HeaderText(reader.record()));
  uint64_t left = flags.headers ? reader.record().http.length : reader.record().block_length;
  while (left > 0) {
    const auto piece = reader.ReadBlock();
    if (!piece) return Complain(piece.error());
    if (piece->empty()) break;
    const std::string_view part = piece->substr(0, left);
    WriteOut(part);
    left -= part.size();
  }
  return kExitOk;
}

// The directories of the crawl's archive: of the shard that the URL belongs to; without a URL of all that are here.
Result<std::vector<std::string>> ArchivesOf(const std::string& dir, const std::string& url) {
  if (!Env::Posix().Exists(JoinPath(dir, kConfigFile)) && ShardDirsIn(dir).empty()) {
    return std::vector<std::string>{dir};  // of WARC files
  }
  ASSIGN_OR_RETURN(const CrawlSources crawl, url.empty() ? OpenCrawlSources(dir) : OpenCrawlSourceOf(dir, url));
  return crawl.Archives();
}

// The capture whose payload a revisit record has.
Result<FoundCapture> OriginalOf(const FoundCapture& revisit, const std::vector<std::string>& archives) {
  auto input = WarcInput::Open(revisit.path);
  if (!input) return std::unexpected(input.error());
  WarcReaderOptions options;
  options.start = revisit.offset;
  WarcReader reader(input->Source(), options);
  ASSIGN_OR_RETURN(const bool here, OpenRecord(reader, revisit.offset));
  if (!here) return Fail(ErrorCode::kCorrupt, fmt::format("{}: no record at {}", revisit.path, revisit.offset));
  const std::string url(reader.record().fields.Get(warc_field::kRefersToTargetUri));
  const auto date = ParseWarcDate(reader.record().fields.Get(warc_field::kRefersToDate));
  const std::string wanted = url.empty() ? revisit.url : url;
  ASSIGN_OR_RETURN(const auto captures, FindCaptures(Env::Posix(), archives, SurtKey(wanted), wanted));
  const FoundCapture* best = nullptr;
  for (const FoundCapture& capture : captures) {
    if (capture.revisit || (!revisit.digest.empty() && capture.digest != revisit.digest)) continue;
    if (best == nullptr || (date && capture.timestamp == Format14(*date))) best = &capture;
  }
  if (best != nullptr) return *best;
  return Fail(ErrorCode::kNotFound, fmt::format("{} of {} repeats a capture of {}, which is not in this archive",
                                                Printable(revisit.url), revisit.timestamp, Printable(wanted)));
}

int PrintCapture(const CatFlags& flags, bool quiet) {
  const auto url = Url::Parse(flags.what);
  if (!url || !url->is_http()) {
    PrintError(fmt::format("'{}' is not a URL; in a directory, records are found by their URL", Printable(flags.what)));
    return kExitUsage;
  }
  const auto archives = ArchivesOf(flags.file, std::string(url->href()));
  if (!archives) return Complain(archives.error());
  const auto captures = FindCaptures(Env::Posix(), *archives, SurtKey(url->href()), url->href());
  if (!captures) return Complain(captures.error());
  if (captures->empty()) {
    PrintError(fmt::format("{}: {} was not captured", Printable(flags.file), Printable(flags.what)));
    return kExitBadInput;
  }
  if (flags.list) {
    for (const FoundCapture& capture : *captures) {
      fmt::print("{} {} {} {}{}\n", capture.timestamp, Printable(capture.path), capture.offset, Printable(capture.url),
                 capture.revisit ? " revisit" : "");
    }
    return kExitOk;
  }
  FoundCapture capture = CaptureAt(*captures, flags.time);
  if (capture.revisit) {
    const auto all = ArchivesOf(flags.file, "");
    if (!all) return Complain(all.error());
    auto original = OriginalOf(capture, *all);
    if (!original) return Complain(original.error());
    if (!quiet) {
      fmt::print(stderr, "{} at {} was the same as {} at {}, which follows\n", Printable(capture.url),
                 capture.timestamp, Printable(original->url), original->timestamp);
    }
    capture = *std::move(original);
  }
  return PrintRecord(capture.path, capture.offset, flags);
}

bool IsDirectory(const std::string& path) { return Env::Posix().List(path).has_value(); }

}  // namespace

int RunWarcCat(int argc, char** argv) {
  VerbApp app("warc cat",
              "Prints one record, header and block, or a part of it: by its offset in a file, or the capture of a\n"
              "URL out of the archive of a crawl, found by its index. If that capture only says that nothing has\n"
              "changed, the one to which it refers is printed.");
  CatFlags flags;
  app->add_option("FILE", flags.file,
                  "Archive, plain or gzip; or the directory of a crawl, or of WARC files with indexes")
      ->required()
      ->type_name("");
  app->add_option("OFFSET", flags.what, "Where the record begins, as 'warc ls' or an index says; in a directory a URL")
      ->required()
      ->type_name("");
  app->add_option("--time", flags.time,
                  "Of a URL's captures the newest up to this time, UTC: 2024, 20240501, 20240501123000; "
                  "default the newest")
      ->type_name("TIME");
  auto* p = app->add_flag("--payload", flags.payload, "The document alone: chunked, gzip and deflate are decoded");
  auto* b = app->add_flag("--block", flags.block, "The block as it is stored: HTTP head and body")->excludes(p);
  app->add_flag("--headers", flags.headers, "The record's header and the HTTP head")->excludes(p)->excludes(b);
  app->add_flag("--list", flags.list, "List a URL's captures, oldest first: time, file, offset, URL");
  app.Footer(
      "Examples:\n"
      "  portolan warc cat crawl.warc.gz 784\n"
      "  portolan warc cat crawl.warc.gz 784 --payload > page.html\n"
      "  portolan warc cat crawl-example.org https://example.org/ --payload\n"
      "  portolan warc cat crawl-example.org https://example.org/ --time 202405");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (flags.file == "-") {
    PrintError("standard input has no offsets: 'warc cat' needs a file");
    return kExitUsage;
  }
  if (flags.time.size() > 14 || flags.time.find_first_not_of("0123456789") != std::string::npos) {
    PrintError(fmt::format("'{}' is not a time: use up to 14 digits, 20240501123000", Printable(flags.time)));
    return kExitUsage;
  }
  if (IsDirectory(flags.file)) return PrintCapture(flags, app.quiet());
  const auto offset = ParseDecimal(flags.what);
  if (!offset) {
    PrintError(fmt::format("'{}' is not an offset: use the first number of a line of 'portolan warc ls'", flags.what));
    return kExitUsage;
  }
  if (flags.list || !flags.time.empty()) {
    PrintError("--time and --list are for a URL in a crawl's directory");
    return kExitUsage;
  }
  return PrintRecord(flags.file, *offset, flags);
}

}  // namespace portolan
