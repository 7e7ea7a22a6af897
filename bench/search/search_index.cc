#include "bench/search/search_index.h"

#include <xapian.h>

#include <filesystem>
#include <fstream>

#include "bench/index/text_crawl.h"
#include "flow/output_records.h"
#include "index/document_maker.h"
#include "index/schema.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kCommitPages = 20'000;
// A crash costs the benchmark's run and nothing else.
constexpr int kFast = Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS;

uint64_t BytesIn(const std::string& dir) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, error)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

Result<uint64_t> WriteParts(const std::vector<std::string>& paths, uint64_t pages, Report& report) {
  ASSIGN_OR_RETURN(TextCrawl crawl, TextCrawl::OfSimulatedWeb(pages));
  ASSIGN_OR_RETURN(DocumentMaker maker, DocumentMaker::Create());
  std::vector<Xapian::WritableDatabase> databases;
  for (const std::string& path : paths) databases.emplace_back(path, Xapian::DB_CREATE_OR_OVERWRITE | kFast);
  uint64_t text_bytes = 0;
  std::string records;
  for (uint64_t page = 0; page < pages; ++page) {
    ASSIGN_OR_RETURN(const bool more, crawl.NextText(records));
    if (!more) return Fail(ErrorCode::kInvalidArgument, fmt::format("this web has only {} pages", page));
    PackedRecords packed(records);
    const auto record = packed.Next() ? ParseTextRecord(packed.record()) : std::nullopt;
    if (!record) return Fail(ErrorCode::kCorrupt, "a record that was just made does not parse");
    text_bytes += record->text.size() + record->title.size();
    ASSIGN_OR_RETURN(const Xapian::Document document, maker.Make(*record, {}, {}));
    // Of one web no page comes twice: the id need not be looked for.
    databases[PartOf(DocumentMaker::HostOf(record->url), static_cast<uint32_t>(paths.size()))].add_document(document);
    if ((page + 1) % kCommitPages == 0) {
      for (auto& database : databases) database.commit();
      report.Line("  {} pages indexed", page + 1);
    }
  }
  for (auto& database : databases) database.commit();
  return text_bytes;
}

}  // namespace

Result<SearchIndex> MakeSimulatedIndex(const std::string& dir, uint64_t pages, uint32_t parts, Report& report) {
  SearchIndex index;
  const std::string base = fmt::format("{}/simulated-{}-{}", dir, pages, parts);
  for (uint32_t part = 0; part < parts; ++part) index.parts.push_back(fmt::format("{}/part-{}", base, part));
  index.one = base + "/one";
  const std::string done = base + "/DONE";
  try {
    if (!std::filesystem::exists(done)) {
      std::filesystem::remove_all(base);
      std::filesystem::create_directories(base);
      const int64_t begin = Clock::Real().NowNs();
      ASSIGN_OR_RETURN(index.text_bytes, WriteParts(index.parts, pages, report));
      index.pages_per_s = static_cast<double>(pages) * kSecond / static_cast<double>(Clock::Real().NowNs() - begin);
      Xapian::Database all;
      for (const std::string& part : index.parts) all.add_database(Xapian::Database(part));
      all.compact(index.one);
      std::ofstream(done) << index.text_bytes << ' ' << index.pages_per_s << '\n';
    }
  } catch (const Xapian::Error& error) {
    return Fail(ErrorCode::kIo, error.get_description());
  }
  std::ifstream(done) >> index.text_bytes >> index.pages_per_s;
  for (const std::string& part : index.parts) index.index_bytes += BytesIn(part);
  return index;
}

}  // namespace portolan::bench
