// portolan warc: inspects WARC and ARC files. Each of its four parts has a parser of its own, so that `portolan warc ls
// --help` shows what `ls` takes.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "cli/warc_input.h"
#include "cli/warc_parts.h"
#include "outputs/record_ids.h"
#include "warc/arc_line.h"
#include "warc/indexer.h"
#include "warc/payload_decoder.h"
#include "warc/reader.h"

namespace portolan {
namespace {

std::string OrDash(std::string_view text) { return text.empty() ? "-" : Printable(text); }

void Write(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }

std::string_view MimeOf(const WarcRecord& record) {
  const bool answer = record.http.present && !record.http.request;
  return MediaType(answer ? record.http.fields.Get("Content-Type") : record.content_type());
}

void WarnSkipped(const WarcInput& input, const WarcReaderStats& stats) {
  if (stats.skipped_bytes + stats.raw_skipped == 0) return;
  PrintError(fmt::format("{}: skipped {} bytes that belong to no record; 'portolan warc check' says where",
                         input.path(), stats.skipped_bytes + stats.raw_skipped));
}

void PrintRecordLine(const WarcRecord& record, bool json) {
  const auto time = record.time();
  const std::string date = time ? FormatWarcDate(*time) : std::string();
  if (!json) {
    fmt::print("{:>10} {:>9} {:<12} {:>3} {:<24} {:<20} {}\n", record.offset, record.length, OrDash(record.type_name()),
               record.http.status > 0 ? fmt::format("{}", record.http.status) : "-", OrDash(MimeOf(record)),
               OrDash(date), OrDash(record.uri()));
    return;
  }
  std::string line = fmt::format("{{\"offset\":{},\"length\":{},\"type\":{}", record.offset, record.length,
                                 JsonQuote(record.type_name()));
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) line += fmt::format(",{}:{}", JsonQuote(name), JsonQuote(value));
  };
  if (record.http.status > 0) line += fmt::format(",\"status\":{}", record.http.status);
  add("mime", MimeOf(record));
  add("date", date);
  add("uri", record.uri());
  add("id", record.fields.Get(warc_field::kRecordId));
  add("digest", record.fields.Get(warc_field::kPayloadDigest));
  add("truncated", record.fields.Get(warc_field::kTruncated));
  line += fmt::format(",\"block\":{}}}\n", record.block_length);
  Write(line);
}

int RunLs(int argc, char** argv) {
  VerbApp app("warc ls",
              "Lists the records of WARC and ARC files, one per line: offset, length, type, status, media\n"
              "type, date, URI. Damaged places are skipped.");
  std::vector<std::string> files;
  bool json = false;
  app->add_option("FILE", files, "Archives, plain or gzip; - is standard input")->required()->type_name("");
  app->add_flag("--json", json, "One JSON object per line");
  app.Footer(
      "Examples:\n"
      "  portolan warc ls crawl.warc.gz\n"
      "  portolan warc ls --json crawl.warc.gz | grep '\"status\":404'\n"
      "  cat *.warc.gz | portolan warc ls -");
  if (const auto code = app.Parse(argc, argv)) return *code;
  int code = kExitOk;
  for (const std::string& path : files) {
    auto input = WarcInput::Open(path);
    if (!input) return Complain(input.error());
    WarcReader reader(input->Source(), {});
    for (;;) {
      const auto more = reader.Next();
      if (!more) return Complain(more.error());
      if (!*more) break;
      if (const auto status = reader.Finish(); !status) return Complain(status.error());
      PrintRecordLine(reader.record(), json);
    }
    WarnSkipped(*input, reader.stats());
    if (reader.stats().records == 0) {
      PrintError(fmt::format("{}: no WARC or ARC record in it", path));
      code = kExitBadInput;
    }
  }
  return code;
}

// Faults as they are found, and how many each file has.
class FaultPrinter {
 public:
  FaultPrinter(bool json, bool quiet) : json_(json), quiet_(quiet) {}

  void Print(const std::string& path, const Fault& fault) const {
    if (quiet_) return;
    if (json_) {
      fmt::print("{{\"file\":{},\"offset\":{},\"kind\":{},\"detail\":{}}}\n", JsonQuote(path), fault.offset,
                 JsonQuote(FaultName(fault.kind)), JsonQuote(fault.detail));
    } else {
      fmt::print("{}:{}: {}: {}\n", path, fault.offset, FaultName(fault.kind), Printable(fault.detail));
    }
  }
  void PrintSum(const std::string& path, uint64_t records, uint64_t faults) const {
    if (!quiet_ && !json_) fmt::print("{}: {} records, {} faults\n", path, records, faults);
  }

 private:
  const bool json_;
  const bool quiet_;
};

int RunWarcCheck(int argc, char** argv) {
  VerbApp app("warc check",
              "Reads archives strictly: versions, fields, lengths, dates, digests, gzip, and whether a record\n"
              "has the id of another one in any file. Every fault is a line 'FILE:OFFSET: KIND: what'.\n"
              "Exit code 1 when there is any.");
  std::vector<std::string> files;
  bool json = false;
  app->add_option("FILE", files, "Archives, plain or gzip; - is standard input")->required()->type_name("");
  app->add_flag("--json", json, "One JSON object per fault");
  app->get_option("--quiet")->description("Only the exit code");
  app.Footer(
      "Examples:\n"
      "  portolan warc check *.warc.gz\n"
      "  portolan warc check --json crawl.warc.gz | grep digest\n"
      "Ids are compared in 32 MiB of memory; for more than a million records a temporary file in TMPDIR\n"
      "(or /tmp) takes 32 bytes each.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const FaultPrinter printer(json, app.quiet());
  RecordIds ids(Env::Posix(), {.dir = TempDirectory()});
  struct Sum {
    uint64_t records = 0;
    uint64_t faults = 0;
  };
  std::vector<Sum> sums(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    auto input = WarcInput::Open(files[i]);
    if (!input) return Complain(input.error());
    WarcReaderOptions options;
    options.strict = true;
    options.faults = [&](const Fault& fault) { printer.Print(files[i], fault); };
    WarcReader reader(input->Source(), options);
    for (;;) {
      const auto more = reader.Next();
      if (!more) return Complain(more.error());
      if (!*more) break;
      const WarcRecord& record = reader.record();
      const Status added = ids.Add(record.fields.Get(warc_field::kRecordId), {.file = i, .offset = record.offset});
      if (!added) return Complain(added.error());
    }
    sums[i] = {reader.stats().records, reader.stats().faults};
  }
  const auto repeats = ids.ForEachRepeat([&](const RecordIds::Place& place, const RecordIds::Place& first) {
    ++sums[place.file].faults;
    printer.Print(files[place.file], {FaultKind::kRepeatedId, place.offset,
                                      fmt::format("the id of the record at {}:{}", files[first.file], first.offset)});
  });
  if (!repeats) return Complain(repeats.error());
  for (size_t i = 0; i < files.size(); ++i) printer.PrintSum(files[i], sums[i].records, sums[i].faults);
  return std::ranges::all_of(sums, [](const Sum& sum) { return sum.faults == 0; }) ? kExitOk : kExitVerdict;
}

struct IndexFlags {
  std::vector<std::string> files;
  std::string output;
  std::string format = "cdxj";
  std::string style = "portolan";
  std::string fields;
  std::string records;
  bool unsorted = false;
  bool post = false;
  bool no_post = false;
  bool paths = false;
};

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

Result<IndexOptions> OptionsOf(const IndexFlags& flags) {
  ASSIGN_OR_RETURN(IndexOptions options, IndexStyle(flags.style));
  if (flags.format == "cdxj") {
    options.format = IndexFormat::kCdxj;
  } else if (flags.format == "cdx11") {
    options.format = IndexFormat::kCdx11;
  } else if (flags.format == "cdx9") {
    options.format = IndexFormat::kCdx9;
  } else if (flags.format == "json") {
    options.format = IndexFormat::kJson;
  } else {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an index format: use cdxj, cdx11, cdx9 or json", flags.format));
  }
  if (!flags.fields.empty()) options.fields = SplitCommas(flags.fields);
  if (!flags.records.empty()) options.records = SplitCommas(flags.records);
  if (flags.post) options.post_append = true;
  if (flags.no_post) options.post_append = false;
  return options;
}

int IndexFiles(const IndexFlags& flags, IndexOptions options) {
  std::vector<std::string> lines;
  const std::string header = options.cdx_header && options.format == IndexFormat::kCdx11
                                 ? " CDX N b a m s k r M S V g\n"
                             : options.cdx_header && options.format == IndexFormat::kCdx9 ? " CDX N b a m s k r V g\n"
                                                                                          : "";
  options.cdx_header = false;
  const bool digests = std::ranges::find(options.fields, "recordDigest") != options.fields.end();
  for (const std::string& path : flags.files) {
    auto input = WarcInput::Open(path);
    if (!input) return Complain(input.error());
    if (input->is_stdin() && digests) {
      PrintError("recordDigest needs a file: standard input cannot be read twice");
      return kExitUsage;
    }
    options.filename = flags.paths ? path : input->Name();
    const auto result =
        IndexArchive(input->Source(), options, [&](std::string_view line) { lines.emplace_back(line); });
    if (!result) return Complain(result.error());
    WarnSkipped(*input, result->stats);
    if (result->unreachable > 0) {
      PrintError(
          fmt::format("{}: {} records share a gzip member with others and were left out: recompress it with one "
                      "member per record",
                      path, result->unreachable));
    }
    if (result->stats.records == 0) {
      PrintError(fmt::format("{}: no WARC or ARC record in it", path));
      return kExitBadInput;
    }
  }
  if (!flags.unsorted) std::ranges::sort(lines);
  std::string text = header;
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
    if (flags.output.empty() && text.size() > (size_t{1} << 20)) {
      Write(text);
      text.clear();
    }
  }
  if (flags.output.empty()) {
    Write(text);
    return kExitOk;
  }
  const auto status = ReplaceFile(Env::Posix(), flags.output, text);
  return status ? kExitOk : Complain(status.error());
}

int RunIndex(int argc, char** argv) {
  VerbApp app("warc index",
              "Writes the index of archives: one CDXJ line per capture, sorted by bytes, with Common Crawl's\n"
              "keys. Lines are held in memory until they are sorted, about 300 bytes each.");
  IndexFlags flags;
  app->add_option("FILE", flags.files, "Archives, plain or gzip; - is standard input")->required()->type_name("");
  app->add_option("-o,--output", flags.output, "Write to this file, which appears only when it is complete")
      ->type_name("FILE");
  app->add_option("--format", flags.format, "cdxj (default), cdx11, cdx9 or json")->type_name("FORMAT");
  app->add_option("--style", flags.style, "Write as 'cdxj-indexer' or 'warcio' do; default portolan")
      ->type_name("STYLE");
  app->add_option("--fields", flags.fields,
                  "These fields in this order: url, mime, status, digest, length, offset, "
                  "filename, timestamp, urlkey, method, referrer, recordDigest, http:NAME or "
                  "a WARC field")
      ->type_name("A,B");
  app->add_option("--records", flags.records,
                  "These types of record, or 'all'; default response, revisit, resource "
                  "and metadata")
      ->type_name("A,B");
  auto* post = app->add_flag("--post", flags.post, "Tell POST captures apart by what was sent (__wb_method=POST&…)");
  app->add_flag("--no-post", flags.no_post, "Index POST captures by their URL alone")->excludes(post);
  app->add_flag("--paths", flags.paths, "The field filename is FILE as given, not its last part");
  app->add_flag("--unsorted", flags.unsorted, "Lines in the order of the file");
  app.Footer(
      "Examples:\n"
      "  portolan warc index *.warc.gz -o crawl.cdxj\n"
      "  portolan warc index --format json --fields offset,warc-type,http:server crawl.warc.gz\n"
      "  portolan warc index --style cdxj-indexer --records all crawl.warc.gz");
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto options = OptionsOf(flags);
  if (!options) return Complain(options.error());
  return IndexFiles(flags, *std::move(options));
}

struct Part {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};
constexpr std::array kParts = {
    Part{"ls", "list the records: offset, length, type, status, media type, date, URI", &RunLs},
    Part{"cat", "print one record, its block or its payload", &RunWarcCat},
    Part{"check", "read strictly and report every fault; exit code 1 if there is one", &RunWarcCheck},
    Part{"index", "write a sorted CDXJ index", &RunIndex},
};

void PrintPage() {
  std::string page =
      "Inspects WARC (0.17 to 1.1) and ARC files, plain or gzip.\n\nusage: portolan warc PART [FLAGS] FILE…\n"
      "       portolan warc PART --help\n\n";
  for (const Part& part : kParts) page += fmt::format("  {:<6} {}\n", part.name, part.summary);
  page +=
      "\nExamples:\n"
      "  portolan warc ls crawl.warc.gz\n"
      "  portolan warc cat crawl.warc.gz 784 --payload\n"
      "  portolan warc check *.warc.gz\n"
      "  portolan warc index *.warc.gz -o crawl.cdxj\n";
  Write(page);
}

}  // namespace

int RunWarc(int argc, char** argv) {
  if (argc < 2) {
    PrintPage();
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    PrintPage();
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const Part& part : kParts) {
    if (part.name == name) return part.run(argc - 1, argv + 1);
    names.push_back(part.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown part '{}' of warc: use ls, cat, check or index", Printable(name))
                             : fmt::format("unknown part '{}' of warc: did you mean '{}'?", Printable(name), nearest));
  return kExitUsage;
}

}  // namespace portolan
