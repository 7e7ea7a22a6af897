#include "crawl/archive_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "archive/warc_directory.h"
#include "base/hash.h"
#include "warc/cdxj.h"
#include "warc/reader.h"

namespace portolan {
namespace {

constexpr std::string_view kWarcSuffix = ".warc.gz";
constexpr size_t kPiece = size_t{256} << 10;
constexpr size_t kLongestLine = size_t{4} << 20;  // a URL and what we say of it are far shorter

// Calls `each` with every line and its number. What follows the last line end is a line too, and an error.
Status ForEachLine(Env& env, const std::string& path, const CheckSink& sink,
                   const std::function<void(uint64_t, std::string_view)>& each) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  std::string text;
  std::string piece(kPiece, '\0');
  uint64_t number = 0;
  for (uint64_t at = 0;;) {
    ASSIGN_OR_RETURN(const size_t got, file->ReadAt(at, piece.data(), piece.size()));
    if (got == 0) break;
    at += got;
    if (sink.read) sink.read(got);
    text.append(piece, 0, got);
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      each(++number, std::string_view(text).substr(begin, end - begin));
    }
    text.erase(0, begin);
    if (text.size() > kLongestLine) break;
  }
  if (!text.empty()) sink.error(fmt::format("{}:{}: the line has no end", path, number + 1));
  return {};
}

bool ToNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

struct IndexEntry {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t url = 0;  // hashed
  uint64_t line = 0;
};

bool IsCapture(WarcType type) {
  return type == WarcType::kResponse || type == WarcType::kRevisit || type == WarcType::kResource;
}

class WarcCheck {
 public:
  WarcCheck(Env& env, const CheckSink& sink, ArchiveCounts& counts) : env_(env), sink_(sink), counts_(counts) {}

  Status File(const std::string& dir, const std::string& name) {
    const std::string path = JoinPath(dir, name);
    const std::string stem = path.substr(0, path.size() - kWarcSuffix.size());
    ++counts_.warc_files;
    std::string index = stem + ".cdxj";
    const bool finished = env_.Exists(index);
    if (!finished) index += ".part";
    std::vector<IndexEntry> entries;
    if (!env_.Exists(index)) {
      sink_.error(fmt::format("{}: it has no index, neither {}.cdxj nor {}.cdxj.part", path, stem, stem));
    } else {
      RETURN_IF_ERROR(ReadIndex(index, name, finished, entries));
    }
    std::ranges::sort(entries, {}, &IndexEntry::offset);
    return Records(path, index, entries);
  }

  void CountRepeats() {
    std::ranges::sort(urls_);
    for (size_t i = 1; i < urls_.size(); ++i) counts_.repeated += urls_[i] == urls_[i - 1] ? 1 : 0;
    urls_.clear();
  }

 private:
  Status ReadIndex(const std::string& index, const std::string& name, bool sorted, std::vector<IndexEntry>& entries) {
    std::string before;
    return ForEachLine(env_, index, sink_, [&](uint64_t number, std::string_view text) {
      ++counts_.cdxj_lines;
      const auto line = ParseCdxj(text);
      IndexEntry entry;
      entry.line = number;
      if (!line) {
        sink_.error(fmt::format("{}:{}: {}", index, number, line.error().message()));
        return;
      }
      if (sorted && text < before) sink_.error(fmt::format("{}:{}: out of order", index, number));
      before = text;
      if (line->Get("filename") != name) {
        sink_.error(fmt::format("{}:{}: names another file, '{}'", index, number, line->Get("filename")));
      }
      if (!ToNumber(line->Get("offset"), entry.offset) || !ToNumber(line->Get("length"), entry.length)) {
        sink_.error(fmt::format("{}:{}: no offset and length", index, number));
        return;
      }
      entry.url = Hash64(line->Get("url"));
      entries.push_back(entry);
    });
  }

  Status Records(const std::string& path, const std::string& index, const std::vector<IndexEntry>& entries) {
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
    auto entry = entries.begin();
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader.Next());
      if (!more) break;
      const bool capture = IsCapture(reader.record().type);
      const uint64_t offset = reader.record().offset;
      const std::string uri(reader.record().uri());
      RETURN_IF_ERROR(reader.Finish());
      ++counts_.warc_records;
      for (; entry != entries.end() && entry->offset < offset; ++entry) Astray(index, *entry, path);
      const bool indexed = entry != entries.end() && entry->offset == offset;
      if (!capture) {
        if (indexed) Astray(index, *entry++, path);
        continue;
      }
      ++counts_.captures;
      Remember(uri);
      if (!indexed) {
        sink_.error(fmt::format("{}:{}: a capture that {} does not name", path, offset, index));
        continue;
      }
      if (entry->length != reader.record().length) {
        sink_.error(fmt::format("{}:{}: says {} bytes; the record at {} has {}", index, entry->line, entry->length,
                                offset, reader.record().length));
      }
      if (entry->url != Hash64(uri)) {
        sink_.error(fmt::format("{}:{}: names another URL than the record at {}, {}", index, entry->line, offset, uri));
      }
      ++entry;
    }
    for (; entry != entries.end(); ++entry) Astray(index, *entry, path);
    return {};
  }

  void Astray(const std::string& index, const IndexEntry& entry, const std::string& path) {
    sink_.error(fmt::format("{}:{}: no capture begins at {} of {}", index, entry.line, entry.offset, path));
  }

  void Remember(std::string_view uri) {
    if (uri.ends_with("/robots.txt")) return;  // it is asked for again when its time is over
    if (urls_.size() >= kMaxRepeats) {
      counts_.repeats_counted = false;
      return;
    }
    urls_.push_back(Hash64(uri));
  }

  Env& env_;
  const CheckSink& sink_;
  ArchiveCounts& counts_;
  std::vector<uint64_t> urls_;
};

}  // namespace

Status CheckArchive(Env& env, const std::vector<std::string>& directories, const std::string& prefix,
                    const CheckSink& sink, ArchiveCounts& counts) {
  WarcCheck check(env, sink, counts);
  for (const std::string& dir : directories) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
    for (const std::string& name : names) {
      const auto parsed = ParseArchiveFileName(name, prefix);
      if (!parsed) continue;
      if (parsed->kind == ArchiveFileName::Kind::kWarc) {
        RETURN_IF_ERROR(check.File(dir, name));
        continue;
      }
      const std::string path = JoinPath(dir, name);
      const std::string warc = path.substr(0, path.find(".cdxj")) + std::string(kWarcSuffix);
      if (!env.Exists(warc)) sink.error(fmt::format("{}: the index of a file that is not there, {}", path, warc));
    }
  }
  check.CountRepeats();
  return {};
}

Status CheckCrawlLog(Env& env, const std::string& dir, const CheckSink& sink, ArchiveCounts& counts) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
  for (const std::string& name : names) {
    if (!name.starts_with("crawl-") || !name.ends_with(".jsonl")) continue;
    const std::string path = JoinPath(dir, name);
    RETURN_IF_ERROR(ForEachLine(env, path, sink, [&](uint64_t number, std::string_view text) {
      ++counts.log_lines;
      const auto line = nlohmann::json::parse(text, nullptr, false);
      const auto has = [&](const char* key) { return line.contains(key) && line[key].is_string(); };
      if (!line.is_object() || !has("time") || !has("url") || !has("kind") || !has("outcome")) {
        sink.error(fmt::format("{}:{}: not a line of a crawl log", path, number));
      }
    }));
  }
  return {};
}

Status CheckIndexOrder(Env& env, const std::string& path, const CheckSink& sink) {
  std::string before;
  return ForEachLine(env, path, sink, [&](uint64_t number, std::string_view text) {
    if (const auto line = ParseCdxj(text); !line) {
      sink.error(fmt::format("{}:{}: {}", path, number, line.error().message()));
    }
    if (text < before) sink.error(fmt::format("{}:{}: out of order", path, number));
    before = text;
  });
}

}  // namespace portolan
