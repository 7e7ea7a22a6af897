// bench ranks: do the ranks of domains in the graph of a crawl find the domains that are popular? Beside them the
// reputation that STAR counts during the same crawl. On a web without farms, and on one with them.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/ranks/ranked_crawl.h"
#include "bench/scratch_dir.h"
#include "sim/world/params.h"

namespace portolan::bench {
namespace {

using RanksJson = nlohmann::ordered_json;

Result<RanksJson> RunRanksBench(int argc, char** argv, Report& report) {
  RankedCrawlOptions options;
  uint64_t domains = 3000;
  uint64_t pages = 300'000;
  uint64_t farms = 200;
  uint64_t seed = 1;
  std::vector<std::string> set;
  CLI::App app("Ranks of domains in the link graph of a crawl, and the domains' true popularity",
               "portolan bench ranks");
  app.add_option("--crawl", options.pages, "Pages to crawl")->check(CLI::PositiveNumber);
  app.add_option("--domains", domains, "Ordinary domains of the web")->check(CLI::PositiveNumber);
  app.add_option("--pages", pages, "Their pages")->check(CLI::PositiveNumber);
  app.add_option("--farms", farms, "Domains of farms in the second web");
  app.add_option("--seed", seed, "Of the web");
  app.add_option("--set", set, "Further parameters of the world, as key=value");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));

  RanksJson json;
  for (const bool spam : {false, true}) {
    ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(spam ? "spam" : "demo"));
    params.domains = domains;
    params.pages = pages;
    params.addresses = domains;
    params.spam_domains = spam ? farms : 0;
    for (const std::string& word : set) {
      const size_t equals = std::min(word.find('='), word.size());
      RETURN_IF_ERROR(SetParam(params, word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))));
    }
    ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, seed));
    ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("ranks"));
    options.dir = scratch.path();
    ASSIGN_OR_RETURN(const RankedCrawlOutcome outcome, RunRankedCrawl(*world, options));
    report.Line("{}: {} of {} pages crawled; {} domains with {} links between them, {} of them ordinary",
                spam ? "a web with farms" : "a web without farms", outcome.fetched, world->TotalPages(),
                outcome.domains, outcome.domain_links, outcome.compared);
    report.Line("  {:<10} {:>9} {:>9}  {}", "ranking", "Spearman", "Kendall", spam ? "farms among the first 100" : "");
    RanksJson rows;
    for (const RankOutcome& rank : outcome.of) {
      report.Line("  {:<10} {:>9.3f} {:>9.3f}  {}", rank.ranking, rank.spearman, rank.kendall,
                  spam ? fmt::format("{}", rank.farms_in_first) : "");
      rows[std::string(rank.ranking)] = {
          {"spearman", rank.spearman}, {"kendall", rank.kendall}, {"farms_in_first_100", rank.farms_in_first}};
    }
    report.Line("  STAR's in-degree and the graph's: Spearman {:.3f}", outcome.star_agrees);
    json[spam ? "with_farms" : "without_farms"] = {{"fetched", outcome.fetched},
                                                   {"pages", outcome.pages},
                                                   {"links", outcome.links},
                                                   {"domains", outcome.domains},
                                                   {"domain_links", outcome.domain_links},
                                                   {"compared", outcome.compared},
                                                   {"rankings", std::move(rows)},
                                                   {"star_and_indegree", outcome.star_agrees}};
  }
  return json;
}

PORTOLAN_BENCHMARK("ranks", "ranks of domains in the link graph, beside their true popularity", RunRanksBench);

}  // namespace
}  // namespace portolan::bench
