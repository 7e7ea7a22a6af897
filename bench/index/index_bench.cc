// Building the search index: documents and MB of text per second beside plain Xapian, and its size.
//
//   portolan bench index [--real N] [--simulated N] [--memory SIZE] [--parts N] [--rounds N]
//
// Two webs: real pages, repeated with variation, and the simulated web (text_crawl.h). Ours is everything that
// `portolan index build` does with a crawl's logs: the link graph, the table of texts of links and ranks, reading and
// unpacking the text log, documents, databases. The rival is plain Xapian with the same terms from memory
// (plain_xapian.h), committing as many documents at a time. Both run on one thread; figures are per second of processor
// time, the best of the rounds, since other programs may be at work. The wall clock, with the syncs of the disk, is
// given besides.
//
// Before times are told, the answer is checked: both indexes hold the same documents (terms, frequencies, values,
// data; with --deep also places), and Xapian's own check finds no fault.

#include <xapian.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/index/plain_xapian.h"
#include "bench/index/text_crawl.h"
#include "bench/scratch_dir.h"
#include "flow/output_records.h"
#include "index/index_build.h"
#include "index/index_check.h"
#include "index/text_place.h"
#include "index/xapian_error.h"
#include "io/process.h"

namespace portolan::bench {
namespace {

struct IndexBenchFlags {
  std::string pages = "../shared/data/pages";
  std::string articles = "../shared/data/extraction/scrapinghub";
  uint64_t real = 2000;
  uint64_t simulated = 5000;
  std::string memory = "256M";
  uint32_t parts = 1;
  uint32_t rounds = 2;
  bool deep = false;
  std::string scratch;
};

struct Times {
  double cpu = 1e99;
  double wall = 1e99;

  void Best(const Times& other) {
    cpu = std::min(cpu, other.cpu);
    wall = std::min(wall, other.wall);
  }
};

Result<Times> Timed(const std::function<Status()>& work) {
  const int64_t cpu = ProcessorNs();
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(work());
  return Times{.cpu = static_cast<double>(ProcessorNs() - cpu) / 1e9,
               .wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

// The same for equal sets of documents, in any order and any parts.
Result<uint64_t> SumOfDocuments(const std::vector<std::string>& databases, bool deep) {
  uint64_t sum = 0;
  for (const std::string& path : databases) {
    RETURN_IF_ERROR(WithoutExceptions(path, [&]() -> Status {
      const Xapian::Database database(path);
      for (auto at = database.postlist_begin(""); at != database.postlist_end(""); ++at) {
        sum += SumOfDocument(database.get_document(*at), deep);
      }
      return {};
    }));
  }
  return sum;
}

std::string LinesWithoutLevels(std::string_view headings) {
  std::string lines;
  while (!headings.empty()) {
    const size_t end = std::min(headings.find('\n'), headings.size());
    lines.append(headings.substr(std::min<size_t>(2, end), end - std::min<size_t>(2, end))) += '\n';
    headings.remove_prefix(std::min(end + 1, headings.size()));
  }
  return lines;
}

// The pages of the text log as the rival wants them.
Result<std::vector<PreparedPage>> Prepare(Env& env, const IndexSources& sources, const std::string& graph_dir,
                                          const std::string& index_dir, size_t memory) {
  ASSIGN_OR_RETURN(const auto table, InlinkTable::Open(env, graph_dir, index_dir, {.memory = memory}));
  ASSIGN_OR_RETURN(DocumentMaker maker, DocumentMaker::Create());
  ASSIGN_OR_RETURN(const auto committed, ReadCommitted(env, *sources.text.begin()));
  ASSIGN_OR_RETURN(OutputReader reader, OutputReader::Open(env, *sources.text.begin(), committed->lanes.at(0)));
  std::vector<PreparedPage> pages;
  uint32_t record = 0;
  const auto each = [&](std::string_view bytes, uint32_t) -> Status {
    const auto page = ParseTextRecord(bytes);
    if (!page) return Fail(ErrorCode::kCorrupt, "a record of the text log does not parse");
    const OutputPosition& at = reader.position();
    const TextPlace place{.serial = at.serial, .offset = at.offset, .record = record++};
    if ((page->robots & 1) != 0) return {};
    ASSIGN_OR_RETURN(const std::string_view packed, table->Find(page->url));
    ASSIGN_OR_RETURN(const Xapian::Document document, maker.Make(*page, place, packed));
    PreparedPage prepared;
    prepared.url = page->url;
    prepared.title = page->title;
    prepared.headings = LinesWithoutLevels(page->headings);
    prepared.body = MainTextOf(*page);
    if (prepared.body.empty()) prepared.body = page->text;
    prepared.stemmer = StemmerOf(page->language).empty() ? "none" : std::string(StemmerOf(page->language));
    prepared.url_words = DocumentMaker::UrlWords(page->url);
    Inlinks inlinks;
    if (!packed.empty() && Inlinks::Unpack(packed, inlinks)) {
      for (const InlinkText& text : inlinks.texts) {
        prepared.anchors.emplace_back(text.text, DocumentMaker::WeightOf(text));
      }
    }
    for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
      if (term.get_wdf() == 0) prepared.boolean_terms.push_back(*term);
    }
    for (auto value = document.values_begin(); value != document.values_end(); ++value) {
      prepared.values.emplace_back(value.get_valueno(), *value);
    }
    prepared.data = document.get_data();
    pages.push_back(std::move(prepared));
    return {};
  };
  for (bool more = true; more;) {
    record = 0;
    ASSIGN_OR_RETURN(more, reader.Next(each));
  }
  return pages;
}

// How long it takes to read the records of documents at random from the text log, as snippets do.
Result<double> MicrosPerRecord(Env& env, const OutputSource& text, const std::string& database_path) {
  constexpr uint32_t kReads = 300;
  std::vector<DocumentData> places;
  RETURN_IF_ERROR(WithoutExceptions(database_path, [&]() -> Status {
    const Xapian::Database database(database_path);
    for (uint32_t i = 0; i < kReads; ++i) {
      const auto id = static_cast<Xapian::docid>(1 + Mix64(i) % database.get_lastdocid());
      if (const auto data = DocumentData::Decode(database.get_document(id).get_data())) places.push_back(*data);
    }
    return {};
  }));
  std::string bytes;
  ASSIGN_OR_RETURN(const Times times, Timed([&]() -> Status {
                     for (const DocumentData& data : places) {
                       ASSIGN_OR_RETURN(const TextRecord page, ReadTextAt(env, text, data.place, data.url, bytes));
                       static_cast<void>(page);
                     }
                     return {};
                   }));
  return times.cpu * 1e6 / static_cast<double>(places.size());
}

Result<nlohmann::ordered_json> RunWeb(const IndexBenchFlags& flags, std::string_view name, TextCrawl crawl,
                                      uint64_t pages, Report& report) {
  Env& env = Env::Posix();
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("index", flags.scratch));
  const std::string& dir = scratch.path();
  RETURN_IF_ERROR(crawl.Write(env, dir, pages));
  const IndexSources sources = TextCrawl::SourcesIn(dir);
  const size_t memory = *ParseBytes(flags.memory);

  Times whole;  // the graph too
  Times rest;   // the graph is there
  Times plain;
  IndexCounts counts;
  const std::string graph_dir = dir + "/graph";
  const auto index_of = [&](uint32_t round, bool again) { return fmt::format("{}/index-{}-{}", dir, round, again); };
  const auto build = [&](const std::string& index_dir, bool links) -> Status {
    IndexBuildOptions options{.index_dir = index_dir, .graph_dir = graph_dir};
    options.parts = flags.parts;
    options.memory = memory;
    IndexSources used = sources;
    if (!links) used.links.reset();
    ASSIGN_OR_RETURN(const auto builder, IndexBuilder::Open(env, used, options));
    RETURN_IF_ERROR(builder->Pass(true));
    counts = builder->counts();
    return {};
  };
  std::vector<PreparedPage> prepared;
  for (uint32_t round = 0; round < flags.rounds; ++round) {
    std::filesystem::remove_all(graph_dir);
    ASSIGN_OR_RETURN(const Times all, Timed([&] { return build(index_of(round, false), true); }));
    whole.Best(all);
    ASSIGN_OR_RETURN(const Times without, Timed([&] { return build(index_of(round, true), false); }));
    rest.Best(without);
    if (round == 0) {
      ASSIGN_OR_RETURN(prepared, Prepare(env, sources, graph_dir, index_of(0, false), memory));
    }
    const uint64_t per_commit = std::max<uint64_t>(counts.added / std::max<uint64_t>(counts.commits, 1), 1);
    const std::string rival = fmt::format("{}/plain-{}", dir, round);
    ASSIGN_OR_RETURN(const Times theirs, Timed([&] { return IndexWithPlainXapian(prepared, rival, per_commit); }));
    plain.Best(theirs);
  }

  const std::string index_dir = index_of(0, false);
  ASSIGN_OR_RETURN(const auto paths, IndexPartPaths(env, index_dir));
  ASSIGN_OR_RETURN(const IndexContents checked, CheckIndex(env, index_dir, flags.deep));
  ASSIGN_OR_RETURN(const uint64_t theirs, SumOfDocuments({dir + "/plain-0"}, flags.deep));
  if (checked.sum != theirs || counts.added != prepared.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: the two indexes do not hold the same documents", name));
  }
  ASSIGN_OR_RETURN(const IndexStats stats, ReadIndexStats(env, index_dir, 3));
  ASSIGN_OR_RETURN(const double record_us, MicrosPerRecord(env, *sources.text.begin(), paths[0]));

  const auto compact = [&]() -> Status {
    IndexBuildOptions options{.index_dir = index_dir, .graph_dir = graph_dir};
    ASSIGN_OR_RETURN(const auto builder, IndexBuilder::Open(env, sources, options));
    return builder->Compact();
  };
  ASSIGN_OR_RETURN(const Times compacting, Timed(compact));
  ASSIGN_OR_RETURN(const IndexStats small, ReadIndexStats(env, index_dir, 3));

  const auto docs = static_cast<double>(checked.documents);
  const auto text = static_cast<double>(counts.text_bytes);
  nlohmann::ordered_json figures;
  figures["documents"] = checked.documents;
  figures["text_bytes"] = counts.text_bytes;
  figures["index_docs_per_s"] = docs / whole.cpu;
  figures["index_docs_per_s_graph_there"] = docs / rest.cpu;
  figures["xapian_docs_per_s"] = docs / plain.cpu;
  figures["share_of_xapian"] = plain.cpu / whole.cpu;
  figures["mb_text_per_s"] = text / 1e6 / whole.cpu;
  figures["index_docs_per_wall_s"] = docs / whole.wall;
  figures["xapian_docs_per_wall_s"] = docs / plain.wall;
  figures["index_bytes"] = stats.bytes();
  figures["index_bytes_per_text_byte"] = static_cast<double>(stats.bytes()) / text;
  figures["compact_bytes_per_text_byte"] = static_cast<double>(small.bytes()) / text;
  figures["compact_docs_per_s"] = docs / compacting.cpu;
  figures["commits"] = counts.commits;
  figures["parts"] = flags.parts;
  figures["record_read_us"] = record_us;
  figures["peak_resident_bytes"] = PeakResidentBytes();
  report.Line("{:<10} {:>8} pages, {:>9} of text", name, checked.documents, FormatBytes(counts.text_bytes));
  report.Line(
      "  ours     {:>8.0f} docs/s, {:.2f} MB of text/s ({:.0f} docs/s where the graph is there; wall clock {:.0f})",
      docs / whole.cpu, text / 1e6 / whole.cpu, docs / rest.cpu, docs / whole.wall);
  report.Line("  Xapian   {:>8.0f} docs/s (wall clock {:.0f}); ours is {:.0f} % of it", docs / plain.cpu,
              docs / plain.wall, 100 * plain.cpu / whole.cpu);
  report.Line(
      "  {:.2f} bytes on disk per byte of text, {:.2f} when compacted; {} commits; a record is read in {:.0f} us",
      static_cast<double>(stats.bytes()) / text, static_cast<double>(small.bytes()) / text, counts.commits, record_us);
  return figures;
}

Result<nlohmann::ordered_json> RunIndexBench(int argc, char** argv, Report& report) {
  IndexBenchFlags flags;
  CLI::App app("Building the search index: documents per second beside plain Xapian, and its size", "index");
  app.add_option("--pages", flags.pages, "Folder of real pages")->capture_default_str();
  app.add_option("--articles", flags.articles, "Folder of real articles")->capture_default_str();
  app.add_option("--real", flags.real, "Pages made of real ones; 0: none")->capture_default_str();
  app.add_option("--simulated", flags.simulated, "Pages of the simulated web; 0: none")->capture_default_str();
  app.add_option("--memory", flags.memory, "IndexBuildOptions::memory")->capture_default_str()->type_name("SIZE");
  app.add_option("--parts", flags.parts, "Databases of ours")->capture_default_str();
  app.add_option("--rounds", flags.rounds, "The best of so many")->capture_default_str()->check(CLI::Range(1, 100));
  app.add_flag("--deep", flags.deep, "The check of the answer compares places of words, too: slow");
  app.add_option("--scratch", flags.scratch, "Where logs and indexes are");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (const auto memory = ParseBytes(flags.memory); !memory) return std::unexpected(memory.error());
  nlohmann::ordered_json figures;
  if (flags.real > 0) {
    ASSIGN_OR_RETURN(TextCrawl crawl, TextCrawl::OfRealPages(flags.pages, flags.articles));
    report.Line("{} real pages", crawl.originals());
    ASSIGN_OR_RETURN(figures, RunWeb(flags, "real", std::move(crawl), flags.real, report));
  }
  if (flags.simulated > 0) {
    ASSIGN_OR_RETURN(TextCrawl crawl, TextCrawl::OfSimulatedWeb(flags.simulated));
    ASSIGN_OR_RETURN(figures["simulated"], RunWeb(flags, "simulated", std::move(crawl), flags.simulated, report));
  }
  return figures;
}

PORTOLAN_BENCHMARK("index", "the search index of real pages and of the simulated web, beside plain Xapian",
                   RunIndexBench);

}  // namespace
}  // namespace portolan::bench
