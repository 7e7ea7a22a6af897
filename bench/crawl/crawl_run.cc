#include "bench/crawl/crawl_run.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "crawl/engine.h"
#include "crawl/wiring.h"
#include "flow/outcome.h"
#include "io/env.h"
#include "io/process.h"

namespace portolan::bench {
namespace {

constexpr double kEndingSeconds = 60;       // for the last checkpoint and the archive, after the crawl's own time limit
constexpr int64_t kSampleNs = 250'000'000;  // a thread that ends between two samples loses what it did since the first

// CPU seconds of every thread of this process, by the threads' names. Threads that have ended stay.
class ThreadTimes {
 public:
  void Sample() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
      std::ifstream comm(entry.path() / "comm");
      std::ifstream sched(entry.path() / "schedstat");  // nanoseconds on a core: finer than stat's ticks
      std::string name;
      double ns = 0;
      if (std::getline(comm, name) && sched >> ns) threads_[entry.path().filename()] = {name, ns * 1e-9};
    }
  }

  std::map<std::string, double> ByName() const {
    std::map<std::string, double> sums;
    for (const auto& [id, thread] : threads_) sums[thread.first] += thread.second;
    return sums;
  }

 private:
  std::map<std::string, std::pair<std::string, double>> threads_;
};

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<Child::Json> Crawl(const CrawlRun& run) {
  RaiseDescriptorLimit();
  NameThread("shard");
  const double cpu_before = static_cast<double>(ProcessorNs()) * 1e-9;
  ASSIGN_OR_RETURN(EngineOptions options, WireCrawl(run.config, run.dir, run.seeds, "bench"));
  options.time_parse = true;
  options.show_ns = kSampleNs;
  ASSIGN_OR_RETURN(const auto engine, Engine::Open(Env::Posix(), options));
  RETURN_IF_ERROR(engine->AddSeeds(run.seeds));
  ThreadTimes times;
  const double most = static_cast<double>(run.config.crawl.max_pages);
  std::pair<double, double> from{};  // seconds, pages
  std::pair<double, double> to{};
  ASSIGN_OR_RETURN(const CrawlProgress end, engine->Run([&](const CrawlProgress& picture) {
    times.Sample();
    const std::pair now = {picture.session_seconds, static_cast<double>(picture.counts.pages())};
    if (now.second <= most * 0.1) from = now;
    if (now.second <= most * 0.9) to = now;
  }));
  Child::Json told = {
      {"pages", end.counts.pages()},
      {"fetches", end.counts.fetches},
      {"robots", end.counts.robots},
      {"archived", end.counts.archived},
      {"links", end.counts.links},
      {"offered", end.counts.offered},
      {"urls_seen", end.urls_seen},
      {"body_bytes", end.counts.body_bytes},
      {"seconds", end.session_seconds},
      {"steady_per_s", to.first > from.first ? (to.second - from.second) / (to.first - from.first) : 0},
      {"cpu_seconds", static_cast<double>(ProcessorNs()) * 1e-9 - cpu_before},
      {"peak_rss_bytes", PeakResidentBytes()},
      {"limit", std::string(engine->limit_reached())},
  };
  told["outcomes"] = Child::Json::object();
  for (size_t i = 0; i < end.counts.outcomes.size(); ++i) {
    if (end.counts.outcomes[i] > 0) {
      told["outcomes"][std::string(FetchOutcomeName(static_cast<FetchOutcome>(i)))] = end.counts.outcomes[i];
    }
  }
  std::map<std::string, double> stages = times.ByName();
  const double parse = static_cast<double>(engine->parse_ns()) * 1e-9;
  stages["fetch"] -= parse;
  stages["parse"] = parse;
  told["stages"] = stages;
  return told;
}

Error WhyTooFew(const CrawlRun& run, const Child::Json& told) {
  std::string outcomes;
  for (const auto& [name, count] : told["outcomes"].items()) {
    outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count.get<uint64_t>(), name);
  }
  const bool late = told["limit"] == "max_time";
  return {late ? ErrorCode::kBusy : ErrorCode::kInvalidArgument,
          fmt::format("{} of {} pages after {:.0f} s: {}; URLs that are done: {}", told["pages"].get<uint64_t>(),
                      run.config.crawl.max_pages, told["seconds"].get<double>(),
                      late ? "the time was up (--max-seconds)" : "the world has no more for this crawl",
                      outcomes.empty() ? "none" : outcomes)};
}

}  // namespace

Result<CrawlFigures> RunCrawl(const CrawlRun& run) {
  RETURN_IF_ERROR(Env::Posix().CreateDirs(run.dir));
  ASSIGN_OR_RETURN(const auto child, Child::Start(run.core, [&](const Child::Parent& parent) {
                     parent.say_ready();
                     return Crawl(run);
                   }));
  // The crawl ends itself in time; what keeps it from that is not waited for.
  const double max_seconds = static_cast<double>(run.config.crawl.max_time.count()) * 1e-9;
  ASSIGN_OR_RETURN(const ChildEnd end, child->Wait(max_seconds > 0 ? max_seconds + kEndingSeconds : 0));
  const Child::Json& told = end.value;
  if (told["limit"] != "max_pages") return std::unexpected(WhyTooFew(run, told));
  CrawlFigures figures;
  figures.pages = told["pages"];
  figures.fetches = told["fetches"];
  figures.robots = told["robots"];
  figures.archived = told["archived"];
  figures.links = told["links"];
  figures.offered = told["offered"];
  figures.urls_seen = told["urls_seen"];
  figures.body_bytes = told["body_bytes"];
  figures.seconds = told["seconds"];
  figures.steady_per_s = told["steady_per_s"];
  figures.cpu_seconds = told["cpu_seconds"];
  figures.peak_rss_bytes = told["peak_rss_bytes"];
  figures.stage_seconds = told["stages"].get<std::map<std::string, double>>();
  return figures;
}

Result<IndexLines> CountIndexLines(const std::string& dir) {
  IndexLines lines;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, error)) {
    // The merged index holds the same lines once more.
    if (entry.path().extension() != ".cdxj" || entry.path().filename() == "index.cdxj") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const size_t object = line.find('{');
      if (object == std::string::npos) continue;
      const auto fields = Child::Json::parse(line.substr(object), nullptr, false);
      if (!fields.is_object()) return Fail(ErrorCode::kCorrupt, entry.path().string() + ": " + line);
      ++lines.all;
      const std::string url = fields.value("url", "");
      if (fields.value("status", "").starts_with('2') && !url.ends_with("/robots.txt")) ++lines.pages;
    }
  }
  if (error) return Fail(ErrorCode::kIo, dir + ": " + error.message());
  return lines;
}

}  // namespace portolan::bench
