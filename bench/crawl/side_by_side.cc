#include "bench/crawl/side_by_side.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace portolan::bench {
namespace {

struct Costs {
  double seconds = 0;  // a page
  double cpu_seconds = 0;
  // CPU by that of fetching and parsing: these are the same work with and without a setting that concerns neither, and
  // become dearer and cheaper with the machine's other guests like the rest.
  double cpu_by_work = 0;
};

Costs CostsOf(const JudgedCrawl& judged) {
  const CrawlFigures& crawl = judged.crawl;
  return {1 / judged.PagesPerSecond(), 1 / judged.PagesPerCpuSecond(),
          crawl.cpu_seconds / (crawl.stage_seconds.at("fetch") + crawl.stage_seconds.at("parse"))};
}

double Quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

nlohmann::ordered_json Tell(Report& report, std::string_view name, const std::vector<double>& shares) {
  const double median = Quantile(shares, 0.5);
  const double low = Quantile(shares, 0.25);
  const double high = Quantile(shares, 0.75);
  report.Line("  {:<24} {:>+6.1f} %   half of the pairs between {:+.1f} and {:+.1f} %", name, 100 * median, 100 * low,
              100 * high);
  return {{"median", median}, {"quarter", low}, {"three_quarters", high}};
}

}  // namespace

Result<nlohmann::ordered_json> MeasureSideBySide(const CrawlChoice& choice, const std::vector<std::string>& settings,
                                                 uint32_t rounds, const std::string& dir, Report& report) {
  CrawlChoice other = choice;
  other.set.insert(other.set.end(), settings.begin(), settings.end());
  std::vector<double> wall, cpu, cpu_by_work, rates_without, rates_with;
  for (uint32_t round = 0; round < rounds; ++round) {
    JudgedCrawl without;
    JudgedCrawl with;
    for (const bool second : {false, true}) {
      const bool is_with = second == (round % 2 == 0);
      ASSIGN_OR_RETURN(JudgedCrawl judged, CrawlAndJudge(is_with ? other : choice, dir));
      RETURN_IF_ERROR(CheckJudged(judged));
      (is_with ? with : without) = std::move(judged);
    }
    const Costs a = CostsOf(without);
    const Costs b = CostsOf(with);
    rates_without.push_back(without.PagesPerSecond());
    rates_with.push_back(with.PagesPerSecond());
    wall.push_back(b.seconds / a.seconds - 1);
    cpu.push_back(b.cpu_seconds / a.cpu_seconds - 1);
    cpu_by_work.push_back(b.cpu_by_work / a.cpu_by_work - 1);
    report.Line("  pair {:>2}: {:>5.0f} pages/s without, {:>5.0f} with; {:.1f} and {:.1f} us CPU a page", round + 1,
                rates_without.back(), rates_with.back(), 1e6 * a.cpu_seconds, 1e6 * b.cpu_seconds);
  }
  const std::string what = fmt::format("{}", fmt::join(settings, " "));
  report.Line("cost of {}, by {} pairs of {} pages", what, rounds, choice.pages);
  nlohmann::ordered_json figures = {{"setting", what}, {"rounds", rounds}};
  figures["pages_per_s_without"] = Quantile(rates_without, 0.5);
  figures["pages_per_s_with"] = Quantile(rates_with, 0.5);
  figures["seconds"] = Tell(report, "seconds per page", wall);
  figures["cpu"] = Tell(report, "CPU per page", cpu);
  figures["cpu_by_fetch_and_parse"] = Tell(report, "CPU / fetch and parse", cpu_by_work);
  return figures;
}

}  // namespace portolan::bench
