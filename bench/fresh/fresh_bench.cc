// bench fresh: how fresh can a crawl be kept, and how fresh is it? Pages with lognormal rates of change and a capacity
// of a tenth of one visit per change, in virtual time: the optimum for known rates, the crawler's schedule that has to
// learn them (without, with honest and with lying lastmod), visiting all pages equally often, and in proportion to
// their changes. Then how soon new pages are found, and what the schedule costs as it grows.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <queue>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/fresh/changing_pages.h"
#include "bench/fresh/optimum.h"
#include "bench/fresh/schedule_run.h"
#include "bench/scratch_dir.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;

struct FreshFlags {
  ChangingPagesOptions web;
  double days = 60;
  double learn_days = 30;
  double capacity = 0.1;  // visits per change
  double births = 0.005;  // new pages per page and day
  std::vector<uint64_t> scale = {100'000, 1'000'000};
  double scale_days = 2;
  std::vector<std::string> only;
  std::string dir;
};

// Each page at its own interval, beginning at a random moment of it. Returns the freshness in the window.
double VisitAtIntervals(ChangingPages& web, const std::vector<double>& days, double until) {
  std::priority_queue<std::pair<double, uint64_t>, std::vector<std::pair<double, uint64_t>>, std::greater<>> due;
  Rng rng(3);
  for (uint64_t page = 0; page < days.size(); ++page) {
    static_cast<void>(web.Visit(page, static_cast<double>(page) / static_cast<double>(days.size())));
    if (std::isfinite(days[page])) due.emplace(1 + days[page] * rng.Uniform(), page);
  }
  while (!due.empty() && due.top().first < until) {
    const auto [day, page] = due.top();
    due.pop();
    static_cast<void>(web.Visit(page, day));
    due.emplace(day + days[page], page);
  }
  return web.MeanFreshness();
}

// The two ways to the optimum must agree, and on the example of Cho and Garcia-Molina (2003, table III).
Status CheckOptimum() {
  std::vector<KnownPage> five;
  for (int i = 1; i <= 5; ++i) five.push_back({.importance = 1, .rate = static_cast<double>(i)});
  const Optimum table = OptimumByPrice(five, 5);
  const double published[] = {1.15, 1.36, 1.35, 1.14, 0.00};
  for (size_t i = 0; i < 5; ++i) {
    const double visits = std::isinf(table.days[i]) ? 0 : 1 / table.days[i];
    if (std::abs(visits - published[i]) > 0.006) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("page {} of the published example: {} visits, not {}", i + 1, visits, published[i]));
    }
  }
  ChangingPagesOptions options;
  options.pages = 300;
  const ChangingPages web(options);
  std::vector<KnownPage> pages;
  double changes = 0;
  for (uint64_t i = 0; i < web.pages(); ++i) {
    pages.push_back({.importance = web.importance(i), .rate = web.rate(i)});
    changes += web.rate(i);
  }
  for (const double share : {0.02, 0.1, 0.7}) {
    const double price = OptimumByPrice(pages, share * changes).freshness;
    const double pieces = OptimumByPieces(pages, share * changes, 200'000).freshness;
    if (std::abs(price - pieces) > 2e-4) {
      return Fail(ErrorCode::kCorrupt, fmt::format("two optima: {} by price, {} by pieces", price, pieces));
    }
  }
  return {};
}

Result<Json> RunFreshBench(int argc, char** argv, Report& report) {
  FreshFlags flags;
  CLI::App app("How fresh a crawl is kept, in virtual time", "portolan bench fresh");
  app.add_option("--pages", flags.web.pages, "Pages")->check(CLI::PositiveNumber);
  app.add_option("--days", flags.days, "Simulated");
  app.add_option("--learn-days", flags.learn_days, "Of them before anything is counted");
  app.add_option("--capacity", flags.capacity, "Visits per change of all pages");
  app.add_option("--median-days", flags.web.median_days, "Between changes of the median page");
  app.add_option("--host-sigma", flags.web.host_sigma, "Of the logarithm of the rate");
  app.add_option("--directory-sigma", flags.web.directory_sigma, "likewise");
  app.add_option("--page-sigma", flags.web.page_sigma, "likewise");
  app.add_option("--importance-sigma", flags.web.importance_sigma, "Of the logarithm of the importance");
  app.add_option("--births", flags.births, "New pages per page and day, in the part about discovery");
  app.add_option("--scale", flags.scale, "Numbers of pages for which costs are measured; 0: none");
  app.add_option("--scale-days", flags.scale_days, "Simulated for each of them");
  app.add_option("--only", flags.only, "Only these rows: ours, ours_signals, ours_lying, strangers, discovery, scale");
  app.add_option("--seed", flags.web.seed, "Of the web");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("fresh"));
  flags.dir = scratch.path();
  flags.web.window_from = flags.learn_days;
  flags.web.window_to = flags.days;
  const auto wanted = [&](std::string_view row) {
    return flags.only.empty() || std::ranges::find(flags.only, row) != flags.only.end();
  };
  RETURN_IF_ERROR(CheckOptimum());

  std::vector<KnownPage> pages;
  double changes = 0;
  {
    const ChangingPages web(flags.web);
    for (uint64_t i = 0; i < web.pages(); ++i) {
      pages.push_back({.importance = web.importance(i), .rate = web.rate(i)});
      changes += web.rate(i);
    }
  }
  const double visits = flags.capacity * changes;
  const auto n = static_cast<double>(pages.size());
  Json json;
  json["pages"] = pages.size();
  json["days"] = flags.days;
  json["learn_days"] = flags.learn_days;
  json["changes_per_page_and_day"] = changes / n;
  json["visits_per_page_and_day"] = visits / n;
  report.Line("{} pages, {:.2f} changes and {:.3f} visits per page and day; days {:.0f} to {:.0f} count", pages.size(),
              changes / n, visits / n, flags.learn_days, flags.days);

  const auto simulate = [&](const std::vector<double>& days) {
    ChangingPages web(flags.web);
    return VisitAtIntervals(web, days, flags.days);
  };
  const Optimum optimum = OptimumByPrice(pages, visits);
  const double optimal_run = simulate(optimum.days);
  const double optimal = std::max(optimum.freshness, optimal_run);
  json["optimal"] = optimal;
  json["optimal_computed"] = optimum.freshness;
  json["optimal_simulated"] = optimal_run;
  const std::vector<double> equal(pages.size(), n / visits);
  std::vector<double> by_rate;
  for (const KnownPage& page : pages) by_rate.push_back(1 / (flags.capacity * page.rate));
  json["uniform"] = simulate(equal);
  json["uniform_computed"] = FreshnessOf(pages, equal);
  json["proportional"] = simulate(by_rate);
  json["proportional_computed"] = FreshnessOf(pages, by_rate);
  report.Line("  {:<16} {:>8} {:>8} {:>10}", "", "fresh", "of best", "computed");
  report.Line("  {:<16} {:>8.4f} {:>8.3f} {:>10.4f}", "optimal", optimal_run, optimal_run / optimal, optimum.freshness);
  for (const char* row : {"uniform", "proportional"}) {
    const double fresh = json[row];
    report.Line("  {:<16} {:>8.4f} {:>8.3f} {:>10.4f}", row, fresh, fresh / optimal,
                json[std::string(row) + "_computed"].get<double>());
  }

  const auto run = [&](const std::string& name, const ChangingPagesOptions& options, Lastmod lastmod, bool sitemaps,
                       double best, double capacity) -> Result<ScheduleRunResult> {
    ChangingPages web(options);
    ASSIGN_OR_RETURN(const ScheduleRunResult result, RunSchedule(Env::Posix(), web,
                                                                 {.dir = flags.dir + "/state",
                                                                  .days = flags.days,
                                                                  .learn_days = flags.learn_days,
                                                                  .visits_per_day = capacity,
                                                                  .lastmod = lastmod,
                                                                  .sitemaps = sitemaps,
                                                                  .checkpoints = true}));
    json[name] = result.freshness;
    json[name + "_visits_per_day"] = result.visits_per_day;
    json[name + "_sitemap_share"] = result.sitemap_share;
    json[name + "_cpu_us_per_visit"] = result.cpu_us_per_visit;
    report.Line(
        "  {:<16} {:>8.4f} {:>8.3f} {:>10.4f}   {:.3f} of the visits made, {:.1f} % sitemaps; {:.1f} us per visit, "
        "{} sweeps, {} postponed",
        name, result.freshness, result.freshness / best, result.expected, result.visits_per_day / capacity,
        100 * result.sitemap_share, result.cpu_us_per_visit, result.counts.sweeps, result.counts.postponed);
    return result;
  };
  const std::tuple<const char*, Lastmod> rows[] = {
      {"ours", Lastmod::kNone}, {"ours_signals", Lastmod::kHonest}, {"ours_lying", Lastmod::kLying}};
  for (const auto& [name, lastmod] : rows) {
    if (!wanted(name)) continue;
    ASSIGN_OR_RETURN(const ScheduleRunResult result, run(name, flags.web, lastmod, false, optimal, visits));
    json[std::string(name) + "_of_optimal"] = result.freshness / optimal;
  }
  if (wanted("strangers")) {  // the same spread of rates, but neighbours say nothing about each other
    ChangingPagesOptions options = flags.web;
    options.page_sigma = std::hypot(options.host_sigma, options.directory_sigma, options.page_sigma);
    options.host_sigma = 0;
    options.directory_sigma = 0;
    const ChangingPages web(options);
    std::vector<KnownPage> strangers;
    double all = 0;
    for (uint64_t i = 0; i < web.pages(); ++i) {
      strangers.push_back({.importance = web.importance(i), .rate = web.rate(i)});
      all += web.rate(i);
    }
    const Optimum best = OptimumByPrice(strangers, flags.capacity * all);
    ChangingPages simulated(options);
    const double most = std::max(best.freshness, VisitAtIntervals(simulated, best.days, flags.days));
    json["strangers_optimal"] = most;
    ASSIGN_OR_RETURN(const ScheduleRunResult result,
                     run("strangers", options, Lastmod::kNone, false, most, flags.capacity * all));
    json["strangers_of_optimal"] = result.freshness / most;
  }
  if (wanted("discovery")) {
    ChangingPagesOptions options = flags.web;
    options.births_per_day = flags.births * n;
    ASSIGN_OR_RETURN(const ScheduleRunResult result, run("discovery", options, Lastmod::kNone, true, optimal, visits));
    // All pages and sitemaps equally often, and the first visits of what they bring.
    const double interval = (n + n / ChangingPages::kPagesPerHost) / (visits - options.births_per_day);
    std::vector<double> delays;
    Rng rng(9);
    for (uint64_t i = 0; i < 100'000; ++i) delays.push_back(interval * rng.Uniform());
    std::ranges::nth_element(delays, delays.begin() + 50'000);
    json["discovery_days"] = result.discovery_days;
    json["discovery_days_uniform"] = delays[50'000];
    json["discovery_born"] = result.born;
    report.Line("  new pages found after {:.2f} days (median of {}), if all are visited equally often after {:.2f}",
                result.discovery_days, result.born, delays[50'000]);
  }
  if (wanted("scale")) {
    for (const uint64_t size : flags.scale) {
      if (size == 0) continue;
      ASSIGN_OR_RETURN(const ScheduleCost cost,
                       MeasureSchedule(Env::Posix(), flags.dir + "/scale", size, flags.scale_days));
      json["scale"].push_back(
          {{"pages", size},
           {"add_us", cost.add_us},
           {"visit_us", cost.visit_us},
           {"visits", cost.visits},
           {"poured_per_visit", cost.poured_per_visit},
           {"memory_bytes", cost.memory_bytes},
           {"disk_bytes_per_page", static_cast<double>(cost.disk_bytes) / static_cast<double>(size)}});
      report.Line(
          "  {:>9} pages: {:.1f} us to file, {:.1f} us per visit ({:.1f} pourings), {} MiB of memory, {:.0f} bytes "
          "of disk per page",
          size, cost.add_us, cost.visit_us, cost.poured_per_visit, cost.memory_bytes >> 20,
          static_cast<double>(cost.disk_bytes) / static_cast<double>(size));
    }
  }
  return json;
}

PORTOLAN_BENCHMARK("fresh", "how fresh a crawl is kept, and what that costs", RunFreshBench);

}  // namespace
}  // namespace portolan::bench
