#include "crawl/archive_check.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"
#include "crawl/index_check.h"
#include "outputs/log_text.h"
#include "outputs/record_ids.h"
#include "outputs/warc_directory.h"
#include "warc/reader.h"

namespace portolan {
namespace {

constexpr std::string_view kWarcSuffix = ".warc.gz";
constexpr size_t kLongestLine = size_t{4} << 20;  // lines of a crawl are far shorter

bool IsCapture(WarcType type) {
  return type == WarcType::kResponse || type == WarcType::kRevisit || type == WarcType::kResource;
}

class WarcCheck {
 public:
  WarcCheck(Env& env, Env& scratch, const ArchiveCheckOptions& options, const CheckSink& sink, ArchiveCounts& counts)
      : env_(env),
        scratch_(scratch),
        options_(options),
        sink_(sink),
        counts_(counts),
        ids_(scratch, options.sort),
        urls_(scratch, options.sort),
        merged_(scratch, options.sort, sink) {}

  Status File(const std::string& dir, const std::string& name) {
    const std::string path = JoinPath(dir, name);
    const std::string stem = path.substr(0, path.size() - kWarcSuffix.size());
    ++counts_.warc_files;
    paths_.push_back(path);
    const bool finished = env_.Exists(stem + ".cdxj");
    const std::string index = stem + (finished ? ".cdxj" : ".cdxj.part");
    FileIndexCheck lines(env_, scratch_, options_.sort, sink_, index, name);
    const bool indexed = env_.Exists(index);
    if (indexed) {
      RETURN_IF_ERROR(lines.ReadIndex(finished, ComparesMerged() ? &merged_ : nullptr, counts_.cdxj_lines));
    } else {
      sink_.error(fmt::format("{}: it has no index, neither {}.cdxj nor {}.cdxj.part", path, stem, stem));
    }
    return Records(path, indexed ? &lines : nullptr);
  }

  // For the index of a WARC file that is missing. Its lines are in the merged index too, and not reported singly.
  Status IndexAlone(const std::string& index, const std::string& name) {
    sink_.error(fmt::format("{}: the WARC file of this index, {}, is missing", index, name));
    FileIndexCheck lines(env_, scratch_, options_.sort, sink_, index, name);
    return lines.ReadIndex(/*sorted=*/index.ends_with(".cdxj"), ComparesMerged() ? &merged_ : nullptr,
                           counts_.cdxj_lines);
  }

  // Checks that need all files.
  Status Finish() {
    ASSIGN_OR_RETURN(counts_.repeated_ids,
                     ids_.ForEachRepeat([&](const RecordIds::Place& place, const RecordIds::Place& first) {
                       sink_.error(fmt::format("{}:{}: has the WARC-Record-ID of another record, at {}:{}",
                                               paths_[place.file], place.offset, paths_[first.file], first.offset));
                     }));
    RETURN_IF_ERROR(CountRepeatedUrls());
    if (options_.index_file.empty()) return {};
    if (env_.Exists(options_.index_file)) {
      return merged_.Compare(env_, options_.index_file, options_.finished, counts_.merged_lines);
    }
    if (options_.finished) {
      sink_.error(fmt::format("{}: missing, although all WARC files are finished", options_.index_file));
    }
    return {};
  }

 private:
  bool ComparesMerged() const { return options_.finished && !options_.index_file.empty(); }

  Status Records(const std::string& path, FileIndexCheck* lines) {
    ASSIGN_OR_RETURN(const auto file, env_.Open(path, OpenMode::kRead));
    WarcReaderOptions options;
    options.strict = true;
    options.faults = [&](const Fault& fault) {
      sink_.error(fmt::format("{}:{}: {}: {}", path, fault.offset, FaultName(fault.kind), fault.detail));
    };
    WarcReader reader(
        [&](uint64_t offset, char* to, size_t count) -> Result<size_t> {
          ASSIGN_OR_RETURN(const size_t got, file->ReadAt(offset, to, count));
          if (sink_.read) sink_.read(got);
          return got;
        },
        options);
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader.Next());
      if (!more) break;
      RETURN_IF_ERROR(reader.Finish());
      const WarcRecord& record = reader.record();
      ++counts_.warc_records;
      RETURN_IF_ERROR(ids_.Add(record.fields.Get(warc_field::kRecordId), {paths_.size() - 1, record.offset}));
      if (!IsCapture(record.type)) continue;
      ++counts_.captures;
      // robots.txt is fetched again when its time to live is over.
      if (!record.uri().ends_with("/robots.txt"))
        RETURN_IF_ERROR(urls_.Add({options_.key.Hash(record.uri()), 0, 0, 0}));
      if (lines != nullptr) RETURN_IF_ERROR(lines->OnCapture(record, path));
    }
    return lines != nullptr ? lines->Finish(path) : Status();
  }

  Status CountRepeatedUrls() {
    RETURN_IF_ERROR(urls_.Sort());
    std::optional<uint64_t> before;
    for (RowSort::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, urls_.Next(row));
      if (!more) return {};
      if (before == row[0]) ++counts_.repeated;
      before = row[0];
    }
  }

  Env& env_;
  Env& scratch_;
  const ArchiveCheckOptions& options_;
  const CheckSink& sink_;
  ArchiveCounts& counts_;
  std::vector<std::string> paths_;  // of WARC files
  RecordIds ids_;
  RowSort urls_;
  MergedIndexCheck merged_;
};

}  // namespace

Status ForEachLine(Env& env, const std::string& path, const CheckSink& sink,
                   const std::function<Status(const FileLine&)>& each) {
  ASSIGN_OR_RETURN(const auto file, LogText::Open(env, {.path = path, .packed = path.ends_with(kPackedSuffix)}));
  std::string text;
  FileLine line;
  for (;;) {
    const auto piece = file->Next();
    if (!piece && piece.error().code() == ErrorCode::kCorrupt) {
      sink.error(piece.error().message());
      return {};
    }
    if (!piece) return std::unexpected(piece.error());
    if (piece->empty()) break;
    if (sink.read) sink.read(piece->size());
    text += *piece;
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      ++line.number;
      line.text = std::string_view(text).substr(begin, end - begin);
      RETURN_IF_ERROR(each(line));
      line.position += line.text.size() + 1;
    }
    text.erase(0, begin);
    if (text.size() > kLongestLine) break;
  }
  if (!text.empty()) sink.error(fmt::format("{}:{}: the line has no end", path, line.number + 1));
  return {};
}

Status CheckArchive(Env& env, Env& scratch, const ArchiveCheckOptions& options, const CheckSink& sink,
                    ArchiveCounts& counts) {
  WarcCheck check(env, scratch, options, sink, counts);
  for (const std::string& dir : options.directories) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
    for (const std::string& name : names) {
      const auto parsed = ParseArchiveFileName(name, options.prefix);
      if (!parsed) continue;
      if (parsed->kind == ArchiveFileName::Kind::kWarc) {
        RETURN_IF_ERROR(check.File(dir, name));
        continue;
      }
      const std::string warc = name.substr(0, name.find(".cdxj")) + std::string(kWarcSuffix);
      if (!env.Exists(JoinPath(dir, warc))) RETURN_IF_ERROR(check.IndexAlone(JoinPath(dir, name), warc));
    }
  }
  return check.Finish();
}

Status CheckCrawlLog(Env& env, const std::string& dir, const CheckSink& sink, ArchiveCounts& counts) {
  ASSIGN_OR_RETURN(const auto files, ListLogFiles(env, dir, kCrawlLogNames));
  for (const auto& [serial, file] : files) {
    const std::string& path = file.path;
    RETURN_IF_ERROR(ForEachLine(env, path, sink, [&](const FileLine& at) -> Status {
      ++counts.log_lines;
      const auto line = nlohmann::json::parse(at.text, nullptr, false);
      const auto has = [&](const char* key) { return line.contains(key) && line[key].is_string(); };
      if (!line.is_object() || !has("time") || !has("url") || !has("kind") || !has("outcome")) {
        sink.error(fmt::format("{}:{}: not a line of a crawl log", path, at.number));
      }
      return {};
    }));
  }
  return {};
}

}  // namespace portolan
