// Asking the search index: how long answers take, and whether known pages are found.
//
//   portolan bench search [--pages N] [--parts N] [--questions N] [--index DIR] [--real DIR] [--tune]
//
// First known items (known_items.h): real pages with the real texts of links to them; every field is switched off once.
// Then times on the simulated web: the same questions to one database, to its parts one after the other, to its parts
// side by side, and to one part behind a server on loopback; p50 and p99, cold (the files dropped from the page cache
// before) and warm. Before times are taken, all of them must give the same results.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "bench/search/known_items.h"
#include "bench/search/search_index.h"
#include "io/clock.h"
#include "search/index_server.h"
#include "search/query_plan.h"
#include "search/search_parts.h"

namespace portolan::bench {
namespace {

struct SearchBenchFlags {
  uint64_t pages = 100'000;
  uint32_t parts = 4;
  size_t questions = 400;
  std::string index;  // folder that keeps the index for the next run
  std::string real = "../shared/data/pages";
  bool tune = false;
  bool only_known = false;
};

// Files leave the page cache, as far as the system does that.
void Forget(const std::vector<std::string>& dirs) {
  for (const std::string& dir : dirs) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
      const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;
      ::fdatasync(file);
      ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    }
  }
}

// Words of random pages' titles and texts: one to four, some as a phrase, some of one site.
Result<std::vector<std::string>> MakeQuestions(const SearchIndex& index, size_t count) {
  Xapian::Database database(index.one);
  std::mt19937_64 random(1);
  std::vector<std::string> questions;
  while (questions.size() < count) {
    const auto docid = static_cast<Xapian::docid>(1 + random() % database.get_lastdocid());
    const auto data = DocumentData::Decode(database.get_document(docid).get_data());
    if (!data) return Fail(ErrorCode::kCorrupt, "a document has no data");
    std::vector<std::string> words = WordsOf(data->title, true);
    if (words.empty()) continue;
    const size_t kind = questions.size() % 8;
    const size_t most = std::min<size_t>(words.size(), 1 + random() % 4);
    std::string question;
    for (size_t i = 0; i < most; ++i) question += (i > 0 ? " " : "") + words[i];
    if (kind == 0 && most > 1) question = '"' + question + '"';
    if (kind == 1) {
      const size_t host = data->url.find("://") + 3;
      question += " site:" + data->url.substr(host, data->url.find('/', host) - host);
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

struct Latency {
  double p50 = 0;
  double p99 = 0;
};

std::vector<std::string> Brief(const SearchAnswer& answer) {
  std::vector<std::string> rows;
  for (const SearchHit& hit : answer.hits) rows.push_back(fmt::format("{:.6f} {}", hit.score, hit.document.data.url));
  return rows;
}

Result<Latency> Ask(const SearchParts& parts, const std::vector<std::string>& questions) {
  std::vector<double> ms;
  for (const std::string& question : questions) {
    const int64_t begin = Clock::Real().NowNs();
    ASSIGN_OR_RETURN(const SearchAnswer answer, parts.Ask({.words = question}));
    ms.push_back(static_cast<double>(Clock::Real().NowNs() - begin) / kMillisecond);
    if (!answer.left_out.empty()) return Fail(ErrorCode::kIo, "a part did not answer: " + answer.left_out[0].why);
  }
  std::ranges::sort(ms);
  return Latency{.p50 = ms[ms.size() / 2], .p99 = ms[ms.size() * 99 / 100]};
}

Status SameAnswers(const SearchParts& one, const SearchParts& other, const std::vector<std::string>& questions) {
  for (size_t i = 0; i < std::min<size_t>(questions.size(), 50); ++i) {
    ASSIGN_OR_RETURN(const SearchAnswer a, one.Ask({.words = questions[i]}));
    ASSIGN_OR_RETURN(const SearchAnswer b, other.Ask({.words = questions[i]}));
    if (Brief(a) != Brief(b)) return Fail(ErrorCode::kCorrupt, "parts give another answer to: " + questions[i]);
  }
  return {};
}

Result<nlohmann::ordered_json> MeasureLatency(const SearchBenchFlags& flags, Report& report) {
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("search"));
  ASSIGN_OR_RETURN(const SearchIndex index, MakeSimulatedIndex(flags.index.empty() ? scratch.path() : flags.index,
                                                               flags.pages, flags.parts, report));
  ASSIGN_OR_RETURN(const auto questions, MakeQuestions(index, flags.questions));
  const Clock& clock = Clock::Real();
  ASSIGN_OR_RETURN(const auto server, IndexServer::Start(index.parts, "127.0.0.1", 0));
  struct Way {
    std::string name;
    SearchOptions options;
    std::vector<std::string> dirs;
  };
  const std::vector<Way> ways = {
      {"one", {.dirs = {index.one}}, {index.one}},
      {"parts_in_turn", {.dirs = index.parts, .threads = 1}, index.parts},
      {"parts", {.dirs = index.parts}, index.parts},
      {"remote",
       {.remotes = {fmt::format("127.0.0.1:{}", server->port())}, .remote_step_ns = 30 * kSecond},
       index.parts},
  };
  ASSIGN_OR_RETURN(const auto one, SearchParts::Make(clock, ways[0].options));
  nlohmann::ordered_json figures;
  figures["pages"] = flags.pages;
  figures["parts"] = flags.parts;
  figures["index_bytes_per_text_byte"] =
      static_cast<double>(index.index_bytes) / static_cast<double>(std::max<uint64_t>(index.text_bytes, 1));
  figures["questions"] = questions.size();
  report.Line("{:<16} {:>10} {:>10} {:>10} {:>10}   ms, {} pages", "", "cold p50", "cold p99", "warm p50", "warm p99",
              flags.pages);
  for (const Way& way : ways) {
    ASSIGN_OR_RETURN(const auto parts, SearchParts::Make(clock, way.options));
    Forget(way.dirs);
    ASSIGN_OR_RETURN(const Latency cold, Ask(*parts, questions));
    RETURN_IF_ERROR(SameAnswers(*one, *parts, questions));
    ASSIGN_OR_RETURN(const Latency warm, Ask(*parts, questions));
    figures[way.name] = {
        {"cold_p50_ms", cold.p50}, {"cold_p99_ms", cold.p99}, {"warm_p50_ms", warm.p50}, {"warm_p99_ms", warm.p99}};
    report.Line("{:<16} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}", way.name, cold.p50, cold.p99, warm.p50, warm.p99);
  }
  return figures;
}

Result<nlohmann::ordered_json> RunSearchBench(int argc, char** argv, Report& report) {
  CLI::App app("Times of answers, and known pages found");
  SearchBenchFlags flags;
  app.add_option("--pages", flags.pages, "Pages of the simulated web")->capture_default_str();
  app.add_option("--parts", flags.parts, "Parts of its index")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--questions", flags.questions, "How many questions")
      ->check(CLI::Range(10, 100'000))
      ->capture_default_str();
  app.add_option("--index", flags.index, "Keep the index in this folder, and use what is there");
  app.add_option("--real", flags.real, "Folder of real pages")->capture_default_str();
  app.add_flag("--tune", flags.tune, "Look for weights on the half of the known items that is for that");
  app.add_flag("--only-known", flags.only_known, "No times");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  nlohmann::ordered_json figures;
  ASSIGN_OR_RETURN(figures["known_items"], FindKnownItems(flags.real, flags.tune, report));
  if (!flags.only_known) {
    ASSIGN_OR_RETURN(figures["latency"], MeasureLatency(flags, report));
  }
  return figures;
}

PORTOLAN_BENCHMARK("search", "answers of the search index: latency with and without parts, known pages found",
                   RunSearchBench);

}  // namespace
}  // namespace portolan::bench
