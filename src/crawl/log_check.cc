#include "crawl/log_check.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "base/hash.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "flow/output_records.h"
#include "warc/cdxj.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

constexpr uint64_t kSecondSeed = 0x9e3779b97f4a7c15;
enum Kind : uint64_t { kCapture, kLinksRecord, kTextRecord };

class LogCheck {
 public:
  LogCheck(Env& env, Env& scratch, const RowSort::Options& sort, const CheckSink& sink, LogCounts& counts)
      : env_(env), sink_(sink), counts_(counts), rows_(scratch, sort) {}

  Status Log(const std::string& dir, const LogNames& names, Kind kind) {
    ASSIGN_OR_RETURN(const auto files, ListLogFiles(env_, dir, names));
    for (const auto& [serial, file] : files) RETURN_IF_ERROR(LogFileOf(file.path, kind));
    return {};
  }

  // Adds the captures of an index that must be in the logs.
  Status Index(const std::string& path) {
    return ForEachLine(env_, path, sink_, [&](const FileLine& line) -> Status {
      const auto parsed = ParseCdxj(line.text);
      if (!parsed) return {};  // index_check.h reports it
      const std::string_view mime = parsed->Get("mime-detected");
      if (mime != "text/html" && mime != "application/xhtml+xml") return {};
      if (!parsed->Get("status").starts_with('2')) return {};
      return Add(parsed->Get("url"), parsed->timestamp, kCapture);
    });
  }

  Status Compare(bool links_whole, bool text_whole) {
    RETURN_IF_ERROR(rows_.Sort());
    RowSort::Row page{};
    std::array<uint64_t, 3> seen{};
    const auto judge = [&] {
      if (seen[kCapture] == 0) return;
      if (links_whole && seen[kLinksRecord] != seen[kCapture]) Miss("link log", page[2], seen[kLinksRecord]);
      if (text_whole && seen[kTextRecord] != seen[kCapture]) Miss("text log", page[2], seen[kTextRecord]);
    };
    for (RowSort::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, rows_.Next(row));
      if (!more) break;
      if (row[0] != page[0] || row[1] != page[1] || row[2] != page[2]) {
        judge();
        page = row;
        seen = {};
      }
      ++seen[row[3]];
    }
    judge();
    return {};
  }

 private:
  Status Add(std::string_view url, std::string_view timestamp, Kind kind) {
    uint64_t time = 0;
    std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), time);
    return rows_.Add({Hash64(url), Hash64(url, kSecondSeed), time, kind});
  }

  void Miss(std::string_view log, uint64_t timestamp, uint64_t records) {
    sink_.error(fmt::format("{}: an HTML page that was archived at {} has {} records in this log instead of one", log,
                            timestamp, records));
  }

  Status LogFileOf(const std::string& path, Kind kind) {
    auto reader = BlockFileReader::Open(env_, path, kind == kLinksRecord ? FileKind::kLinks : FileKind::kText);
    if (!reader) return Told(reader.error());
    RecordBlockReader records;
    uint64_t at = 0;
    for (;;) {
      const auto block = reader->Next();
      if (!block) return Told(block.error());
      if (!*block) return {};
      if (sink_.read) sink_.read((*block)->end - at);
      at = (*block)->end;
      records.Start(**block, kind == kLinksRecord ? 1 : 0);
      bool whole = true;
      while (whole && records.Next()) {
        ASSIGN_OR_RETURN(whole, kind == kLinksRecord
                                    ? LinkRecordOf(records.record(), static_cast<uint8_t>(records.tag()))
                                    : TextRecordOf(records.record()));
      }
      if (!whole || !records.ok()) {
        sink_.error(fmt::format("{}: block at {}: its records do not parse", path, (*block)->offset));
      }
    }
  }

  Result<bool> LinkRecordOf(std::string_view record, uint8_t tag) {
    const auto link = ParseLinkRecord(record, tag);
    if (!link) return false;
    ++(link->is_page() ? counts_.link_pages : counts_.links);
    if (link->is_page()) RETURN_IF_ERROR(Add(link->url, Format14({.seconds = link->unix_ms / 1000}), kLinksRecord));
    return true;
  }

  Result<bool> TextRecordOf(std::string_view record) {
    const auto page = ParseTextRecord(record);
    if (!page) return false;
    ++counts_.text_pages;
    RETURN_IF_ERROR(Add(page->url, Format14({.seconds = page->unix_ms / 1000}), kTextRecord));
    return true;
  }

  // Damage inside a file is a finding; a file that cannot be read at all is an error.
  Status Told(const Error& error) {
    if (error.code() != ErrorCode::kCorrupt && error.code() != ErrorCode::kUnsupported) return std::unexpected(error);
    sink_.error(error.message());
    return {};
  }

  Env& env_;
  const CheckSink& sink_;
  LogCounts& counts_;
  RowSort rows_;
};

}  // namespace

Status CheckRecordLogs(Env& env, Env& scratch, const Manifest& manifest, const OutputsOptions& options,
                       const RowSort::Options& sort, const CheckSink& sink, LogCounts& counts) {
  ASSIGN_OR_RETURN(const auto links, FindOutput(manifest, kLinkLog));
  ASSIGN_OR_RETURN(const auto text, FindOutput(manifest, kTextLog));
  if (!links && !text) return {};
  LogCheck check(env, scratch, sort, sink, counts);
  if (links) RETURN_IF_ERROR(check.Log(options.links.files.dir, kLinkLogNames, kLinksRecord));
  if (text) RETURN_IF_ERROR(check.Log(options.text.files.dir, kTextLogNames, kTextRecord));
  const bool links_whole = links && links->whole;
  const bool text_whole = text && text->whole;
  if (!links_whole && !text_whole) return {};
  const std::string prefix = PrefixInNames(options.warc.files.prefix);
  for (const std::string& dir : options.warc.directories) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
    for (const std::string& name : names) {
      const auto parsed = ParseArchiveFileName(name, prefix);
      using ArchiveKind = ArchiveFileName::Kind;
      if (!parsed || (parsed->kind != ArchiveKind::kIndex && parsed->kind != ArchiveKind::kPart)) continue;
      RETURN_IF_ERROR(check.Index(JoinPath(dir, name)));
    }
  }
  return check.Compare(links_whole, text_whole);
}

}  // namespace portolan
