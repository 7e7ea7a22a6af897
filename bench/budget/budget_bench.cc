// bench budget: what do budgets cost the disk? The same crawl through BEAST and through the two queues that it
// replaced, beside Theorems 7 and 6.
//
// What is compared is bytes of queue traffic for each page, which is the speed that the theorems give with S = 1:
//   BEAST  at N: over the last (N + E[B]V)/2 pages. That is one iteration by equation (31), the span over which the
//          proof of Theorem 7 spreads the re-scan of Q_F.
//   naive  at N: over the iteration (one emptying of Q, one reading of Q_F) in which page N is crawled.
// Raw bytes are those of the records, as the theorems count; disk bytes those of the files, compressed.

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/budget/budget_plot.h"
#include "bench/budget/naive_budget.h"
#include "bench/budget/synthetic_crawl.h"
#include "bench/scratch_dir.h"
#include "io/clock.h"
#include "plan/budget_models.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;
using OpenQueues = Result<std::unique_ptr<BudgetedQueues>> (*)(Env&, const std::string&);

struct Outcome {
  std::vector<TrafficSample> samples;
  double url_bytes = 0;
  double seconds = 0;
};

// Crawls `pages`; then, if `drain`, all that is left, without new links.
Result<Outcome> RunCrawl(OpenQueues open, const SyntheticOptions& options, uint64_t pages, bool drain,
                         const std::string& dir) {
  std::filesystem::remove_all(dir);
  ASSIGN_OR_RETURN(const std::unique_ptr<BudgetedQueues> queues, open(Env::Posix(), dir));
  SyntheticCrawl crawl(*queues, options);
  const int64_t start = Clock::Real().NowNs();
  RETURN_IF_ERROR(crawl.Run(pages));
  RETURN_IF_ERROR(crawl.Check());
  if (crawl.pages() != pages) return Fail(ErrorCode::kCorrupt, fmt::format("the crawl ends at {}", crawl.pages()));
  Outcome outcome{crawl.samples(), crawl.mean_url_bytes(), static_cast<double>(Clock::Real().NowNs() - start) * 1e-9};
  if (drain) {
    crawl.StopLinks();
    RETURN_IF_ERROR(crawl.Run(crawl.urls()));
    RETURN_IF_ERROR(crawl.Check());
    if (crawl.pages() != crawl.urls() || queues->waiting() != 0) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{} of {} URLs came out", crawl.pages(), crawl.urls()));
    }
  }
  std::filesystem::remove_all(dir);
  return outcome;
}

struct PerPage {
  double raw = 0;
  double disk = 0;
};

PerPage Between(const TrafficSample& from, const TrafficSample& to) {
  const auto pages = static_cast<double>(to.pages - from.pages);
  return {static_cast<double>(to.traffic.raw - from.traffic.raw) / pages,
          static_cast<double>(to.traffic.disk - from.traffic.disk) / pages};
}

// The last sample at or before `pages`.
const TrafficSample& SampleAt(const std::vector<TrafficSample>& samples, uint64_t pages) {
  auto after = std::upper_bound(samples.begin(), samples.end(), pages,
                                [](uint64_t value, const TrafficSample& sample) { return value < sample.pages; });
  return after == samples.begin() ? samples.front() : *std::prev(after);
}

PerPage BeastAt(const std::vector<TrafficSample>& samples, uint64_t pages, uint64_t queue) {
  return Between(SampleAt(samples, pages - (pages + queue) / 2), SampleAt(samples, pages));
}

// The iteration in which page N is crawled; the last whole one for the last page.
PerPage NaiveAt(const std::vector<TrafficSample>& samples, uint64_t pages) {
  const TrafficSample* begin = nullptr;
  const TrafficSample* end = nullptr;
  uint32_t tick = 0;
  for (const TrafficSample& sample : samples) {
    if (sample.tick == tick) continue;  // not the first of its tick
    tick = sample.tick;
    begin = end;
    end = &sample;
    if (sample.pages >= pages && begin != nullptr) break;
  }
  return Between(*begin, *end);
}

// Least squares in log-log.
double Slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0;
  double mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / static_cast<double>(x.size());
    mean_y += std::log(y[i]) / static_cast<double>(x.size());
  }
  double above = 0;
  double below = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return above / below;
}

Result<Json> RunBudgetBench(int argc, char** argv, Report& report) {
  SyntheticOptions options;
  uint32_t queues = 192;
  std::string dir;
  std::string plot;
  CLI::App app("What budgets cost the disk: BEAST and the naive two queues on the same crawl, beside Theorems 7 and 6.",
               "portolan bench budget");
  app.add_option("--domains", options.domains, "V")->capture_default_str()->check(CLI::Range(1, 10'000'000));
  app.add_option("--budget", options.budget, "E[B]: pages of a domain in one queue")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--links", options.links, "L: unique URLs a page")->capture_default_str()->check(CLI::Range(1.5, 1e3));
  app.add_option("--queues", queues,
                 "crawl this many queues of E[B]V pages; the time of the naive method grows with the square")
      ->capture_default_str()
      ->check(CLI::Range(16, 1024));
  app.add_option("--seed", options.seed, "of the crawl")->capture_default_str();
  app.add_option("--plot", plot, "write the figure there, as SVG");
  app.add_option("--dir", dir, "where the files go (default: a temporary folder)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    report.Line("{}", app.help());
    return Json::object();
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalidArgument, error.what());
  }
  std::optional<ScratchDir> scratch;
  if (dir.empty()) {
    ASSIGN_OR_RETURN(ScratchDir made, ScratchDir::Create("budget"));
    scratch.emplace(std::move(made));
    dir = scratch->path();
  }
  const std::string work = dir + "/queues";

  // The answer first: a short crawl to its end. All URLs come out, each once, none beyond its domain's budget.
  SyntheticOptions small = options;
  small.domains = 20;
  small.budget = 5;
  for (const OpenQueues open : {OpenQueues(BeastQueuesUnderTest::Open), OpenQueues(NaiveBudget::Open)}) {
    ASSIGN_OR_RETURN(const Outcome checked, RunCrawl(open, small, 20 * small.queue(), true, work));
    static_cast<void>(checked);
  }

  const uint64_t most = queues * options.queue();
  // The naive method is measured at whole iterations: one more.
  ASSIGN_OR_RETURN(const Outcome beast, RunCrawl(BeastQueuesUnderTest::Open, options, most, false, work));
  ASSIGN_OR_RETURN(const Outcome naive, RunCrawl(NaiveBudget::Open, options, most + 2 * options.queue(), false, work));

  BudgetParams model;
  model.pages_per_s = 1;
  model.url_bytes = beast.url_bytes;
  model.links_per_page = options.links;
  model.budget = options.budget;
  model.domains = options.domains;

  // Two points for each doubling of N, from one queue up to the last page.
  std::vector<double> n;
  std::vector<double> beast_raw;
  std::vector<double> beast_disk;
  std::vector<double> naive_raw;
  std::vector<double> naive_disk;
  std::vector<double> theorem6;
  std::vector<double> theorem7;
  const int points = static_cast<int>(2 * std::log2(queues)) + 1;
  for (int i = points - 1; i >= 0; --i) {
    const auto pages = static_cast<uint64_t>(static_cast<double>(most) * std::exp2(-0.5 * i));
    const PerPage ours = BeastAt(beast.samples, pages, options.queue());
    const PerPage theirs = NaiveAt(naive.samples, pages);
    n.push_back(static_cast<double>(pages));
    beast_raw.push_back(ours.raw);
    beast_disk.push_back(ours.disk);
    naive_raw.push_back(theirs.raw);
    naive_disk.push_back(theirs.disk);
    theorem6.push_back(NaiveBudgetSpeed(model, n.back()));
    theorem7.push_back(BeastSpeed(model, n.back()));
  }

  // Within the bound everywhere, not only at the points: at each sample from the first whole queue on.
  double worst = 0;
  uint64_t worst_at = 0;
  for (const TrafficSample& sample : beast.samples) {
    if (sample.pages < options.queue()) continue;
    const double share = BeastAt(beast.samples, sample.pages, options.queue()).raw /
                         BeastSpeed(model, static_cast<double>(sample.pages));
    if (share > worst) {
      worst = share;
      worst_at = sample.pages;
    }
  }
  const size_t decade = static_cast<size_t>(std::lower_bound(n.begin(), n.end(), n.back() / 10) - n.begin());
  const auto [low, high] = std::minmax_element(beast_raw.begin() + static_cast<ptrdiff_t>(decade), beast_raw.end());
  double mean = 0;
  for (size_t i = decade; i < n.size(); ++i) mean += beast_raw[i] / static_cast<double>(n.size() - decade);
  const double spread = (*high - *low) / mean;
  const double growth = Slope({n.begin() + static_cast<ptrdiff_t>(decade), n.end()},
                              {naive_raw.begin() + static_cast<ptrdiff_t>(decade), naive_raw.end()});

  report.Line("V = {}, E[B] = {}, L = {}, b = {:.1f} bytes; a queue is {} pages. Bytes of queue traffic a page.",
              options.domains, options.budget, options.links, model.url_bytes, options.queue());
  report.Line("BEAST at N: over the last (N + E[B]V)/2 pages, one iteration of Theorem 7. Naive: over N's iteration.");
  report.Line("{:>10} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}", "N pages", "BEAST", "Theorem 7", "on disk", "naive",
              "Theorem 6", "on disk");
  for (size_t i = 0; i < n.size(); ++i) {
    report.Line("{:>10} {:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f}", n[i], beast_raw[i], theorem7[i],
                beast_disk[i], naive_raw[i], theorem6[i], naive_disk[i]);
  }
  report.Line("BEAST is at most {:.0f} % of Theorem 7 (at N = {}); its last decade spreads by {:.1f} % of its mean.",
              100 * worst, worst_at, 100 * spread);
  report.Line("Naive grows as N^{:.2f} in the last decade. {:.1f} s and {:.1f} s.", growth, beast.seconds,
              naive.seconds);
  if (plot.empty()) {
    report.Line("--plot FILE.svg draws it.");
  } else {
    std::ofstream file(plot);
    file << LogLogSvg("Disk traffic of budget enforcement", "N: pages crawled", "bytes written and read a page", n,
                      {{"naive, measured", "#c0392b", false, naive_raw},
                       {"Theorem 6 (dashed)", "#c0392b", true, theorem6},
                       {"Theorem 7 (BEAST bound)", "#1f5fa8", true, theorem7},
                       {"BEAST, measured", "#1f5fa8", false, beast_raw},
                       {"BEAST, on disk (lz4)", "#2e8b57", false, beast_disk}});
    if (!file.flush()) return Fail(ErrorCode::kIo, fmt::format("cannot write {}", plot));
    report.Line("The figure is in {}.", plot);
  }

  Json json;
  json["per_page_at_n"] =
      "BEAST: traffic of the last (N + E[B]V)/2 pages over their number (one iteration, equation 31); naive: traffic "
      "of "
      "the iteration in which page N is crawled over its pages";
  json["domains"] = options.domains;
  json["budget"] = options.budget;
  json["unique_links_per_page"] = options.links;
  json["url_bytes"] = model.url_bytes;
  json["n"] = n;
  json["beast_bytes_per_page"] = beast_raw;
  json["theorem7_bytes_per_page"] = theorem7;
  json["naive_bytes_per_page"] = naive_raw;
  json["theorem6_bytes_per_page"] = theorem6;
  json["beast_disk_bytes_per_page"] = beast_disk;
  json["naive_disk_bytes_per_page"] = naive_disk;
  json["beast_within_bound"] = worst <= 1;
  json["beast_largest_share_of_bound"] = worst;
  json["beast_last_decade_spread"] = spread;
  json["naive_growth"] = growth;
  json["beast_seconds"] = beast.seconds;
  json["naive_seconds"] = naive.seconds;
  return json;
}

}  // namespace

PORTOLAN_BENCHMARK("budget", "budgets' disk traffic: BEAST and the naive two queues beside theorems 7 and 6",
                   RunBudgetBench);

}  // namespace portolan::bench
