// The whole crawler on one core: pages a second of the shape of 2007 (25 KB, 59 links, HTTP), everything on.
//
// The simulated web runs in a process of its own on one core, the crawler in another on another core: one fetch loop,
// robots.txt, politeness, DRUM, WARC, CDXJ, crawl log, a directory on disk. The delays are low, so that the core and
// not the politeness is what is measured, but they are kept, and the oracle judges the server's log of each crawl. The
// main figure opens a connection for each page, as a crawl of many hosts does; kept connections are told beside it.
//
// Rivals on the crawler's core in the same run: wrk, which fetches pages over new connections and throws them away
// (what is the loopback able to?), and wget2, which crawls the same web as fast as it can, polite to nobody.
//
// First of all a short crawl must be judged clean, and its CDXJ lines must be what the crawler says that it fetched.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/crawl/crawl_run.h"
#include "bench/crawl/rivals.h"
#include "bench/crawl/served_world.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kCheckPages = 2000;

struct Flags {
  WorldChoice world;
  uint64_t pages = 60'000;
  uint64_t seeds = 500;
  uint64_t connections = 256;
  uint64_t host_delay_ms = 20;
  uint64_t ip_delay_ms = 2;
  double delay_factor = 1;
  std::string memory = "1G";
  std::string dir;
  std::vector<std::string> config_set;
  double wrk_seconds = 5;
  double wget2_seconds = 15;
  uint32_t wget2_threads = 32;
  int server_core = 0;
  int client_core = 1;
  std::string only;
};

struct Outcome {
  CrawlFigures crawl;
  IndexLines index;
  uint64_t violations = 0;
  double server_cpu_seconds = 0;
  std::string account;  // where there are violations: the table
};

Result<Outcome> CrawlOnce(const Flags& flags, uint64_t pages, bool reuse, const std::string& dir) {
  const std::string log = dir + ".tsv";
  ASSIGN_OR_RETURN(const auto served, ServedWorld::Start(flags.world, log, flags.server_core));
  Config config = ForProfile(Profile::kSite);
  config.crawl.max_pages = pages;
  config.scope.mode = ScopeMode::kAny;
  config.politeness.host_delay = std::chrono::milliseconds(flags.host_delay_ms);
  config.politeness.ip_delay = std::chrono::milliseconds(flags.ip_delay_ms);
  config.politeness.delay_factor = flags.delay_factor;
  config.fetch.connections = flags.connections;
  config.fetch.reuse_connections = reuse;
  config.fetch.dns_servers = {fmt::format("127.0.0.1:{}", served->dns_port())};
  config.fetch.allow_private_addresses = true;
  RETURN_IF_ERROR(SetConfig(config, "memory.total", flags.memory));
  for (const std::string& pair : flags.config_set) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return Fail(ErrorCode::kInvalidArgument, pair + ": write key=value");
    RETURN_IF_ERROR(SetConfig(config, pair.substr(0, equals), pair.substr(equals + 1)));
  }
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome.crawl, RunCrawl({config, dir, served->HomePages(flags.seeds), flags.client_core}));
  ASSIGN_OR_RETURN(outcome.server_cpu_seconds, served->Stop());

  sim::Rules rules;
  rules.agent = config.politeness.user_agent;
  rules.host_gap_ns = config.politeness.host_delay.count();
  rules.ip_gap_ns = config.politeness.ip_delay.count();
  rules.connections = 1;
  rules.crawl_delay = true;
  rules.fetches_per_url = 1;
  ASSIGN_OR_RETURN(const sim::Account account, served->Judge(rules));
  outcome.violations = account.TotalViolations();
  if (outcome.violations > 0) outcome.account = sim::AccountTable(account);
  ASSIGN_OR_RETURN(outcome.index, CountIndexLines(dir));
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  std::filesystem::remove(log, ignored);
  return outcome;
}

Status CheckOutcome(const Outcome& outcome) {
  if (outcome.violations > 0) return Fail(ErrorCode::kCorrupt, "the oracle found violations:\n" + outcome.account);
  if (outcome.index.all != outcome.crawl.archived || outcome.index.pages != outcome.crawl.pages) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} captures and {} pages were made, the index has {} and {}", outcome.crawl.archived,
                            outcome.crawl.pages, outcome.index.all, outcome.index.pages));
  }
  return {};
}

double PerSecond(const CrawlFigures& crawl) { return static_cast<double>(crawl.pages) / crawl.seconds; }
double PerCpuSecond(const CrawlFigures& crawl) { return static_cast<double>(crawl.pages) / crawl.cpu_seconds; }

void Line(Report& report, std::string_view name, double per_s, double per_cpu_s, std::string_view more) {
  report.Line("{:<28} {:>8.0f} pages/s {:>8.0f} pages/CPU s  {}", name, per_s, per_cpu_s, more);
}

void TellCrawl(Report& report, std::string_view name, const Outcome& outcome) {
  const CrawlFigures& crawl = outcome.crawl;
  Line(report, name, PerSecond(crawl), PerCpuSecond(crawl),
       fmt::format("{:.0f}/s steady, {} peak, core {:.0f}% busy (server's {:.0f}%), {} violations", crawl.steady_per_s,
                   FormatBytes(crawl.peak_rss_bytes), 100 * crawl.cpu_seconds / crawl.seconds,
                   100 * outcome.server_cpu_seconds / crawl.seconds, outcome.violations));
}

Result<nlohmann::ordered_json> RunCrawlBench(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("The whole crawler on one core against the simulated web, with wrk and wget2 beside it");
  app.add_option("--pages", flags.pages, "Of the timed crawls")->check(CLI::PositiveNumber);
  app.add_option("--profile", flags.world.profile, "The world");
  app.add_option("--set", flags.world.set, "Another value for a parameter of the world, KEY=VALUE");
  app.add_option("--config", flags.config_set, "Another value for a setting of the crawler, KEY=VALUE");
  app.add_option("--seeds", flags.seeds, "Home pages to begin with")->check(CLI::PositiveNumber);
  app.add_option("--connections", flags.connections, "Fetches at one time")->check(CLI::PositiveNumber);
  app.add_option("--host-delay", flags.host_delay_ms, "Milliseconds");
  app.add_option("--ip-delay", flags.ip_delay_ms, "Milliseconds");
  app.add_option("--delay-factor", flags.delay_factor, "Times what the last fetch of a host took");
  app.add_option("--memory", flags.memory, "Of the crawler");
  app.add_option("--dir", flags.dir, "Where the scratch folder is made");
  app.add_option("--wrk-seconds", flags.wrk_seconds, "0: without it");
  app.add_option("--wget2-seconds", flags.wget2_seconds, "0: without it");
  app.add_option("--wget2-threads", flags.wget2_threads, "Its connections at one time")->check(CLI::PositiveNumber);
  app.add_option("--server-core", flags.server_core, "Core of the simulated web");
  app.add_option("--client-core", flags.client_core, "Core of the crawler and of its rivals");
  app.add_option("--only", flags.only, "Just one timed crawl: 'close' or 'keepalive'")
      ->check(CLI::IsMember({"close", "keepalive"}));
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (std::thread::hardware_concurrency() < 2) flags.client_core = flags.server_core;
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("crawl", flags.dir));

  ASSIGN_OR_RETURN(const Outcome check,
                   CrawlOnce(flags, std::min(kCheckPages, flags.pages), false, scratch.path() + "/check"));
  RETURN_IF_ERROR(CheckOutcome(check));
  report.Line("{}: server on core {}, crawler on core {}; {} connections, gaps of {} ms a host and {} ms an address",
              flags.world.profile, flags.server_core, flags.client_core, flags.connections, flags.host_delay_ms,
              flags.ip_delay_ms);
  report.Line("checked: {} pages crawled, judged clean, and all in the index", check.crawl.pages);

  nlohmann::ordered_json figures = {{"profile", flags.world.profile}, {"pages", flags.pages}};
  uint64_t violations = 0;
  double main_rate = 0;
  double main_cpu_rate = 0;
  if (flags.only != "keepalive") {
    ASSIGN_OR_RETURN(const Outcome timed, CrawlOnce(flags, flags.pages, false, scratch.path() + "/close"));
    const CrawlFigures& crawl = timed.crawl;
    TellCrawl(report, "portolan, new connections", timed);
    if (timed.violations > 0) report.Line("{}", timed.account);
    violations += timed.violations;
    main_rate = PerSecond(crawl);
    main_cpu_rate = PerCpuSecond(crawl);
    figures["pages_per_s"] = main_rate;
    figures["pages_per_cpu_s"] = main_cpu_rate;
    figures["steady_pages_per_s"] = crawl.steady_per_s;
    figures["rss_bytes"] = crawl.peak_rss_bytes;
    figures["mean_body_bytes"] = static_cast<double>(crawl.body_bytes) / static_cast<double>(crawl.fetches);
    figures["links_per_page"] = static_cast<double>(crawl.links) / static_cast<double>(crawl.pages);
    figures["server_cpu_share"] = timed.server_cpu_seconds / crawl.seconds;
    report.Line("  a page: {} of body, {:.0f} links; {} requests, {} of robots.txt; {} URLs known",
                FormatBytes(static_cast<uint64_t>(figures["mean_body_bytes"].get<double>())),
                figures["links_per_page"].get<double>(), crawl.fetches, crawl.robots, crawl.urls_seen);
    for (const auto& [stage, seconds] : crawl.stage_seconds) {
      figures["stage_share"][stage] = seconds / crawl.cpu_seconds;
      report.Line("  {:<10} {:>6.1f} us CPU a page  {:>5.1f}%", stage, seconds * 1e6 / static_cast<double>(crawl.pages),
                  100 * seconds / crawl.cpu_seconds);
    }
  }
  if (flags.only != "close") {
    ASSIGN_OR_RETURN(const Outcome kept, CrawlOnce(flags, flags.pages, true, scratch.path() + "/keepalive"));
    TellCrawl(report, "portolan, kept connections", kept);
    if (kept.violations > 0) report.Line("{}", kept.account);
    violations += kept.violations;
    figures["keepalive_pages_per_s"] = PerSecond(kept.crawl);
    figures["keepalive_pages_per_cpu_s"] = PerCpuSecond(kept.crawl);
  }
  figures["oracle_violations"] = violations;

  if (flags.wrk_seconds > 0) {
    ASSIGN_OR_RETURN(const auto served, ServedWorld::Start(flags.world, "", flags.server_core));
    ASSIGN_OR_RETURN(const WrkFigures wrk, RunWrk(*served, 2000, flags.wrk_seconds, flags.client_core, scratch.path()));
    RETURN_IF_ERROR(served->Stop());
    Line(report, "wrk, new connections", wrk.per_s, wrk.per_cpu_s,
         fmt::format("{:.2f} of it is the crawler", main_rate / wrk.per_s));
    figures["wrk_close_per_s"] = wrk.per_s;
    figures["wrk_close_per_cpu_s"] = wrk.per_cpu_s;
    figures["ratio_to_wrk"] = main_rate / wrk.per_s;
    figures["cpu_ratio_to_wrk"] = main_cpu_rate / wrk.per_cpu_s;
  }
  if (flags.wget2_seconds > 0) {
    const auto wget2 = RunWget2(flags.world, flags.wget2_threads, flags.wget2_seconds, flags.server_core,
                                flags.client_core, scratch.path());
    if (wget2) {
      Line(report, "wget2", wget2->per_s, wget2->per_cpu_s,
           fmt::format("the crawler: {:.1f} times its pages/s, {:.1f} times its pages/CPU s", main_rate / wget2->per_s,
                       main_cpu_rate / wget2->per_cpu_s));
      figures["wget2_pages_per_s"] = wget2->per_s;
      figures["wget2_pages_per_cpu_s"] = wget2->per_cpu_s;
      figures["ratio_to_wget2"] = main_rate / wget2->per_s;
      figures["cpu_ratio_to_wget2"] = main_cpu_rate / wget2->per_cpu_s;
    } else if (wget2.error().code() == ErrorCode::kUnsupported) {
      report.Line("wget2                        skipped: {}", wget2.error().message());
      figures["wget2_skipped"] = wget2.error().message();
    } else {
      return std::unexpected(wget2.error());
    }
  }
  return figures;
}

PORTOLAN_BENCHMARK("crawl", "the whole crawler: pages a second on one core, beside wrk and wget2", RunCrawlBench);

}  // namespace
}  // namespace portolan::bench
