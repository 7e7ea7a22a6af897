// bench traps: what do traps cost a crawl, and what do the measures against them cost in pages? The simulated web with
// calendars, sessions, loops, growing queries, facets, soft 404s, redirects and wildcard hosts, crawled to the end in
// virtual time, with and without budgets; then each kind alone, beside the same crawl without the measures, which is
// ended at four times the pages that there are.

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/log.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "sim/drive/trap_crawl.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;
using sim::MazeKind;
using sim::TrapCrawlOptions;
using sim::TrapCrawlOutcome;
using sim::World;
using sim::WorldParams;

struct Flags {
  uint64_t pages = 500'000;
  uint64_t domains = 0;  // 0: one for each 250 pages
  double share = 0.01;
  uint64_t kind_pages = 20'000;  // 0: without the kinds alone
  uint64_t seed = 1;
  bool budgets = true;
  std::vector<std::string> set;
  std::string dir;
};

WorldParams Without(WorldParams params) {
  for (double WorldParams::* const one :
       {&WorldParams::maze_repeat, &WorldParams::maze_calendar, &WorldParams::maze_session_path,
        &WorldParams::maze_session_query, &WorldParams::maze_growing, &WorldParams::maze_facets,
        &WorldParams::maze_soft404, &WorldParams::maze_redirect, &WorldParams::spam_entry}) {
    params.*one = 0;
  }
  params.spam_domains = 0;
  return params;
}

Result<TrapCrawlOutcome> Crawl(const World& world, const Flags& flags, bool budgets, bool traps, Report& report,
                               std::string_view what) {
  TrapCrawlOptions options;
  options.budgets = budgets;
  options.traps = traps;
  options.max_fetches = 4 * world.TotalPages() + 10'000;
  options.dir = flags.dir + "/state";
  std::filesystem::remove_all(options.dir);
  options.on_progress = [&](uint64_t fetches, uint64_t in_traps) {
    if (fetches % 100'000 < 20'000) fmt::print(stderr, "  {}: {} fetches, {} in traps\n", what, fetches, in_traps);
  };
  ASSIGN_OR_RETURN(TrapCrawlOutcome outcome, RunTrapCrawl(Env::Posix(), world, options));
  if (outcome.violations > 0) return Fail(ErrorCode::kCorrupt, "the crawl was not polite");
  if (traps && !outcome.done) return Fail(ErrorCode::kCorrupt, "the crawl does not end");
  report.Line("  {:<28} {:>8} fetches  {:>7} in traps ({:>5.2f} %)  {:>6.2f} % of {} pages  {:>7} parked{}", what,
              outcome.fetches, outcome.traps(), 100 * outcome.trap_share(), 100 * outcome.coverage(), outcome.reachable,
              outcome.parked, outcome.done ? "" : "  (ended)");
  return outcome;
}

Json ToJson(const TrapCrawlOutcome& outcome) {
  return {{"fetches", outcome.fetches},     {"trap_fetches", outcome.traps()}, {"trap_share", outcome.trap_share()},
          {"coverage", outcome.coverage()}, {"parked", outcome.parked},        {"done", outcome.done}};
}

Result<Json> RunTrapsBench(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("What traps cost a crawl of the simulated web, in virtual time", "portolan bench traps");
  app.add_option("--pages", flags.pages, "Pages of the web with all kinds of traps")->check(CLI::PositiveNumber);
  app.add_option("--domains", flags.domains, "Its domains; 0: one for each 250 pages");
  app.add_option("--share", flags.share, "Of hosts with a trap, for each of the kinds; and wildcard domains")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--kind-pages", flags.kind_pages, "Pages of the webs with one kind each; 0: without them");
  app.add_option("--seed", flags.seed, "Of the web");
  app.add_option("--budgets", flags.budgets, "Also crawl with budgets");
  app.add_option("--set", flags.set, "Further parameters of the worlds, as key=value");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  InitLogging({.level = LogLevel::kWarn});  // not a line for each parameter that is left out
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("traps"));
  flags.dir = scratch.path();
  const auto make = [&](WorldParams params) -> Result<std::unique_ptr<World>> {
    for (const std::string& pair : flags.set) RETURN_IF_ERROR(SetParam(params, pair));
    return World::Create(params, flags.seed);
  };

  const uint64_t domains = flags.domains > 0 ? flags.domains : std::max<uint64_t>(10, flags.pages / 250);
  ASSIGN_OR_RETURN(const auto all, make(sim::TrapWorld(flags.pages, domains, flags.share)));
  report.Line("all kinds, each on {:.1f} % of the hosts: {} domains, {} pages", 100 * flags.share, domains,
              all->TotalPages());
  ASSIGN_OR_RETURN(const TrapCrawlOutcome plain, Crawl(*all, flags, false, true, report, "without budgets"));
  Json json;
  json["pages"] = all->TotalPages();
  json["trap_share"] = plain.trap_share();
  json["useful_coverage"] = plain.coverage();
  json["fetches"] = plain.fetches;
  json["parked"] = plain.parked;
  Json spent;
  for (unsigned i = 0; i < sim::kMazeKinds; ++i)
    spent[std::string(MazeKindName(static_cast<MazeKind>(i)))] = plain.mazes[i];
  spent["wildcard"] = plain.wildcard;
  json["spent"] = spent;
  for (const auto& [kind, count] : spent.items()) report.Line("    {:<14} {:>7}", kind, count.get<uint64_t>());
  if (flags.budgets) {
    ASSIGN_OR_RETURN(const TrapCrawlOutcome with, Crawl(*all, flags, true, true, report, "with budgets"));
    json["trap_share_budgets"] = with.trap_share();
    json["useful_coverage_budgets"] = with.coverage();
  }
  if (flags.kind_pages == 0) return json;

  struct Kind {
    const char* name;
    double WorldParams::* share;
  };
  constexpr Kind kKinds[] = {{"repeat", &WorldParams::maze_repeat},
                             {"calendar", &WorldParams::maze_calendar},
                             {"session_path", &WorldParams::maze_session_path},
                             {"session_query", &WorldParams::maze_session_query},
                             {"growing", &WorldParams::maze_growing},
                             {"facets", &WorldParams::maze_facets},
                             {"soft404", &WorldParams::maze_soft404},
                             {"redirect", &WorldParams::maze_redirect},
                             {"wildcard", nullptr}};
  const uint64_t kind_domains = std::max<uint64_t>(10, flags.kind_pages / 250);
  const WorldParams base = sim::TrapWorld(flags.kind_pages, kind_domains, 0.1);
  report.Line("each kind alone, on a tenth of the hosts: {} domains, {} pages", kind_domains, flags.kind_pages);
  for (const Kind& kind : kKinds) {
    WorldParams params = Without(base);
    if (kind.share != nullptr) {
      params.*kind.share = base.*kind.share;
    } else {
      params.spam_domains = base.spam_domains;
      params.spam_entry = base.spam_entry;
    }
    ASSIGN_OR_RETURN(const auto world, make(params));
    Json& row = json["by_kind"][kind.name];
    const std::string name = kind.name;
    ASSIGN_OR_RETURN(const auto one, Crawl(*world, flags, false, true, report, name));
    row["plain"] = ToJson(one);
    ASSIGN_OR_RETURN(const auto budgets, Crawl(*world, flags, true, true, report, name + ", budgets"));
    row["budgets"] = ToJson(budgets);
    ASSIGN_OR_RETURN(const auto off, Crawl(*world, flags, false, false, report, name + ", traps off"));
    row["off"] = ToJson(off);
  }
  return json;
}

PORTOLAN_BENCHMARK("traps", "what traps cost a crawl, in virtual time", RunTrapsBench);

}  // namespace
}  // namespace portolan::bench
