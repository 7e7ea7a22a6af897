// bench spam: what do budgets save? The same web with farms and giant sites crawled breadth first and with STAR and
// BEAST, in virtual time, up to the same number of requests.
//
// Besides: the papers' Figure 7(b) (pages fetched of a domain by how many others link to it), and two attacks: farms
// that answer slowly, to hold connections, and farms with a wildcard in their DNS, to have more hosts than all others.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <future>

#include "bench/benchmark.h"
#include "bench/budget/budget_plot.h"
#include "bench/flags.h"
#include "bench/ranks/rank_agreement.h"
#include "bench/scratch_dir.h"
#include "bench/spam/spam_crawl.h"
#include "sim/world/params.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;
using sim::World;
using sim::WorldParams;

struct Flags {
  uint64_t fetches = 1'000'000;
  uint64_t attack_fetches = 50'000;  // 0: without the attacks
  uint64_t domains = 20'000;
  uint64_t pages = 5'000'000;
  uint64_t giants = 20;
  uint64_t giant_pages = 5'000;
  uint64_t spam_domains = 100;
  double spam_entry = 0.5;  // of the pages of doors
  double spam_doors = 0.02;
  uint64_t spam_campaigns = 3;
  double latency_ms = 400;
  uint64_t spam_links = 150;
  double spam_wildcard = 0.7;
  uint64_t spam_addresses = 16;
  uint64_t shared_addresses = 400;
  uint64_t seed = 1;
  uint32_t connections = 12;
  std::string function = "ranked top=10000 one_in=1000 least=10 most=10000";
  uint64_t round_bytes = 5'000'000;
  std::vector<std::string> set;
  uint32_t vouch_base = 4;
  std::string only;
  std::string dir;
  std::string plot;
};

Result<std::unique_ptr<World>> MakeWorld(const Flags& flags, double wildcard, double slowness) {
  ASSIGN_OR_RETURN(WorldParams params, sim::LoadProfile("spam"));
  params.domains = static_cast<decltype(params.domains)>(flags.domains);
  params.pages = flags.pages;
  params.giants = flags.giants;
  params.giant_pages = flags.giant_pages;
  params.spam_domains = flags.spam_domains;
  params.spam_entry = flags.spam_entry;
  params.spam_links = flags.spam_links;
  params.spam_wildcard = wildcard;
  params.spam_addresses = flags.spam_addresses;
  params.shared_addresses = flags.shared_addresses;
  params.spam_slowness = slowness;
  params.latency_ms = flags.latency_ms;
  params.spam_doors = flags.spam_doors;
  params.spam_campaigns = flags.spam_campaigns;
  params.max_pages_per_host = flags.pages;
  params.addresses = static_cast<decltype(params.addresses)>(flags.domains);
  for (const std::string& word : flags.set) {
    const size_t equals = std::min(word.find('='), word.size());
    RETURN_IF_ERROR(SetParam(params, word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))));
  }
  return World::Create(params, flags.seed);
}

double ShareOf(const SpamOutcome& outcome) {
  const SpamSample& end = outcome.samples.back();
  return static_cast<double>(end.spam) / static_cast<double>(end.fetches);
}

struct Pair {
  SpamOutcome bfs;
  SpamOutcome star;
};

// Both at one time, each on its own thread: the world is constant.
Result<Pair> RunBoth(const World& world, const Flags& flags, uint64_t fetches, Report& report) {
  const auto crawl = [&](bool budgets) {
    SpamCrawlOptions options;
    options.budgets = budgets;
    options.fetches = fetches;
    options.connections = flags.connections;
    options.dir = flags.dir + (budgets ? "/star" : "/bfs");
    options.vouch_base = flags.vouch_base;
    options.budget_function = flags.function;
    options.round_bytes_per_second = flags.round_bytes;
    options.on_progress = [budgets, fetches](const SpamSample& now) {
      fmt::print(stderr, "  {} {:>9} of {} requests, {} spam, {} useful\n", budgets ? "STAR" : "BFS ", now.fetches,
                 fetches, now.spam, now.useful);
    };
    return RunSpamCrawl(world, options);
  };
  Pair pair;
  std::future<Result<SpamOutcome>> bfs;
  if (flags.only != "star") bfs = std::async(std::launch::async, crawl, false);
  Result<SpamOutcome> star = flags.only == "bfs" ? SpamOutcome() : crawl(true);
  if (bfs.valid()) {
    ASSIGN_OR_RETURN(pair.bfs, bfs.get());
  }
  RETURN_IF_ERROR(star);
  pair.star = *std::move(star);
  for (const bool budgets : {false, true}) {
    const SpamOutcome& outcome = budgets ? pair.star : pair.bfs;
    if (outcome.samples.empty()) continue;
    const SpamSample& end = outcome.samples.back();
    report.Line(
        "  {:<14} {:>9} requests  {:>6.2f} % spam  {:>8} useful  {:>7.2f} virtual h  {:>2} violations  {:.0f} s",
        budgets ? "STAR + BEAST" : "breadth first", end.fetches, 100 * ShareOf(outcome), end.useful,
        outcome.virtual_hours, outcome.violations, outcome.seconds);
    report.Line("  {:<14} connections busy {:.0f} %, {} URLs pending, {} admitted in {} ticks", "", 100 * outcome.busy,
                outcome.pending, outcome.admitted, outcome.ticks);
    if (!outcome.where.empty()) report.Line("  {:<14} {}", "", outcome.where);
    if (outcome.violations > 0) return Fail(ErrorCode::kCorrupt, "the crawl was not polite");
  }
  return pair;
}

// Figure 7(b): mean pages of a domain, by in-degree in powers of two.
Json ByInDegree(const SpamOutcome& outcome, Report& report) {
  struct Class {
    uint64_t domains = 0;
    uint64_t pages = 0;
  };
  std::vector<Class> classes;
  for (const DomainAccount& domain : outcome.domains) {
    const auto index = static_cast<size_t>(std::bit_width(domain.in_degree));
    if (classes.size() <= index) classes.resize(index + 1);
    ++classes[index].domains;
    classes[index].pages += domain.fetched;
  }
  Json rows = Json::array();
  report.Line("  pages per domain, by how many others link to it:");
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].domains == 0) continue;
    const double mean = static_cast<double>(classes[i].pages) / static_cast<double>(classes[i].domains);
    const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
    report.Line("    {:>6} and more  {:>6} domains  {:>9.1f} pages", from, classes[i].domains, mean);
    rows.push_back({{"in_degree", from}, {"domains", classes[i].domains}, {"pages_per_domain", mean}});
  }
  return rows;
}

// Over ordinary sites so large that their size is no limit.
double GiantCorrelation(const SpamOutcome& outcome, uint64_t giant_pages) {
  std::vector<double> in_degree;
  std::vector<double> fetched;
  for (const DomainAccount& domain : outcome.domains) {
    if (domain.pages < giant_pages) continue;
    in_degree.push_back(domain.in_degree);
    fetched.push_back(static_cast<double>(domain.fetched));
  }
  return SpearmanRho(in_degree, fetched);
}

Result<Json> RunSpamBench(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("Budgets against farms and giants: breadth first and STAR with BEAST on the same web, in virtual time",
               "portolan bench spam");
  app.add_option("--fetches", flags.fetches, "Requests of each crawl")->check(CLI::PositiveNumber);
  app.add_option("--attack-fetches", flags.attack_fetches, "Of the crawls under attack; 0: without");
  app.add_option("--domains", flags.domains, "Ordinary domains")->check(CLI::PositiveNumber);
  app.add_option("--pages", flags.pages, "Their pages, giants not counted")->check(CLI::PositiveNumber);
  app.add_option("--giants", flags.giants, "Domains with a host of --giant-pages");
  app.add_option("--giant-pages", flags.giant_pages, "Pages of a giant");
  app.add_option("--spam-domains", flags.spam_domains, "Domains of farms")->check(CLI::PositiveNumber);
  app.add_option("--spam-entry", flags.spam_entry, "Share of ordinary pages with a link into a farm");
  app.add_option("--spam-links", flags.spam_links, "Links of a page of spam");
  app.add_option("--spam-wildcard", flags.spam_wildcard, "Share of farms with a wildcard in their DNS");
  app.add_option("--spam-addresses", flags.spam_addresses, "Addresses of a farm's domain; 0: ten domains share one");
  app.add_option("--shared-addresses", flags.shared_addresses, "Of hosting companies, for three domains in ten");
  app.add_option("--spam-doors", flags.spam_doors, "Share of ordinary domains with links into farms");
  app.add_option("--spam-campaigns", flags.spam_campaigns, "Farms that one of these links to; 0: any number");
  app.add_option("--latency", flags.latency_ms, "Mean milliseconds of an answer")->check(CLI::PositiveNumber);
  app.add_option("--round-bytes", flags.round_bytes, "Bytes a second that a round is taken to merge");
  app.add_option("--set", flags.set, "Further parameters of the world, as key=value");
  app.add_option("--seed", flags.seed, "Of the web");
  app.add_option("--connections", flags.connections, "Fetches at one time")->check(CLI::PositiveNumber);
  app.add_option("--function", flags.function, "Of budgets (docs/budgets.md)");
  app.add_option("--vouch-base", flags.vouch_base, "For how many others a domain may vouch; 0: any number");
  app.add_option("--only", flags.only, "One crawl, for trying things: 'bfs' or 'star'")
      ->check(CLI::IsMember({"bfs", "star"}));
  app.add_option("--plot", flags.plot, "Write useful pages over requests here, as SVG");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("spam"));
  flags.dir = scratch.path();

  ASSIGN_OR_RETURN(const auto world, MakeWorld(flags, flags.spam_wildcard, 1));
  report.Line("{} ordinary domains with {} pages, {} of them giants; {} domains of farms", world->Domains(),
              world->TotalPages(), flags.giants, flags.spam_domains);
  report.Line("  {}", sim::DescribeParams(world->params()));
  report.Line("  {} connections, {}, a domain vouches for {} others and half its in-degree", flags.connections,
              flags.function, flags.vouch_base);
  ASSIGN_OR_RETURN(const Pair both, RunBoth(*world, flags, flags.fetches, report));
  Json json;
  if (!flags.only.empty()) {
    const SpamOutcome& one = flags.only == "bfs" ? both.bfs : both.star;
    report.Line("  rank correlation of giants' pages with in-degree {:.2f}", GiantCorrelation(one, flags.giant_pages));
    json["by_in_degree"] = ByInDegree(one, report);
    return json;
  }
  json["fetches"] = flags.fetches;
  json["spam_share_bfs"] = ShareOf(both.bfs);
  json["spam_share_star"] = ShareOf(both.star);
  json["useful_bfs"] = both.bfs.samples.back().useful;
  json["useful_star"] = both.star.samples.back().useful;
  json["rank_correlation"] = GiantCorrelation(both.star, flags.giant_pages);
  json["rank_correlation_bfs"] = GiantCorrelation(both.bfs, flags.giant_pages);
  report.Line(
      "  useful pages {:.2f} times, spam {:.3f} times; rank correlation of giants' pages with in-degree {:.2f} "
      "({:.2f})",
      json["useful_star"].get<double>() / json["useful_bfs"].get<double>(),
      json["spam_share_star"].get<double>() / json["spam_share_bfs"].get<double>(),
      json["rank_correlation"].get<double>(), json["rank_correlation_bfs"].get<double>());
  json["by_in_degree"] = ByInDegree(both.star, report);
  std::vector<double> x;
  std::vector<PlotSeries> series = {{"STAR + BEAST", "#1b6ca8", false, {}}, {"breadth first", "#c8553d", false, {}}};
  Json curve = Json::array();
  for (size_t i = 0; i < std::min(both.bfs.samples.size(), both.star.samples.size()); ++i) {
    const SpamSample& star = both.star.samples[i];
    const SpamSample& bfs = both.bfs.samples[i];
    curve.push_back({{"fetches", star.fetches},
                     {"useful_star", star.useful},
                     {"useful_bfs", bfs.useful},
                     {"spam_star", star.spam},
                     {"spam_bfs", bfs.spam}});
    if (star.useful == 0 || bfs.useful == 0) continue;
    x.push_back(static_cast<double>(star.fetches));
    series[0].y.push_back(static_cast<double>(star.useful));
    series[1].y.push_back(static_cast<double>(bfs.useful));
  }
  json["curve"] = std::move(curve);
  if (!flags.plot.empty() && !x.empty()) {
    std::ofstream(flags.plot) << LogLogSvg("Useful pages found", "requests", "useful pages", x, series);
  }
  if (flags.attack_fetches == 0) return json;

  report.Line("delay attack: farms take 20 times as long to answer, 8 s on average");
  ASSIGN_OR_RETURN(const auto slow, MakeWorld(flags, flags.spam_wildcard, 20));
  ASSIGN_OR_RETURN(const Pair delayed, RunBoth(*slow, flags, flags.attack_fetches, report));
  const auto useful_an_hour = [](const SpamOutcome& outcome) {
    return static_cast<double>(outcome.samples.back().useful) / outcome.virtual_hours;
  };
  json["delay_attack_useful_per_hour_bfs"] = useful_an_hour(delayed.bfs);
  json["delay_attack_useful_per_hour_star"] = useful_an_hour(delayed.star);
  json["delay_attack_spam_share_bfs"] = ShareOf(delayed.bfs);
  json["delay_attack_spam_share_star"] = ShareOf(delayed.star);
  report.Line("wildcard attack: every name below a farm's domain exists");
  ASSIGN_OR_RETURN(const auto wild, MakeWorld(flags, 1, 1));
  ASSIGN_OR_RETURN(const Pair flooded, RunBoth(*wild, flags, flags.attack_fetches, report));
  json["wildcard_attack_spam_share_bfs"] = ShareOf(flooded.bfs);
  json["wildcard_attack_spam_share_star"] = ShareOf(flooded.star);
  json["wildcard_attack_useful_bfs"] = flooded.bfs.samples.back().useful;
  json["wildcard_attack_useful_star"] = flooded.star.samples.back().useful;
  return json;
}

PORTOLAN_BENCHMARK("spam", "budgets against farms and giants, in virtual time", RunSpamBench);

}  // namespace
}  // namespace portolan::bench
