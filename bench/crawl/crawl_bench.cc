// The whole crawler on one core: pages per second of the shape of 2007 (25 KB, 59 links, HTTP), everything on; with
// --profile web2026 of today's (185 kB, compressed, nine of ten hosts by TLS and HTTP/2).
//
// The simulated web runs in a process of its own on one core, the crawler in another on another core: one fetch loop,
// robots.txt, politeness, DRUM, WARC, CDXJ, crawl log, a directory on disk. The delays are low, so that the core and
// not the politeness is what is measured, but they are kept, and the oracle judges the server's log of each crawl. The
// main figure opens a connection for each page, as a crawl of many hosts does; kept connections are told beside it.
//
// Rivals on the crawler's core in the same run: wrk, which fetches pages over new connections and throws them away
// (what is the loopback able to?), and wget2, which crawls the same web as fast as it can, without politeness.
//
// With --cost-of a setting of the crawler is measured instead, see side_by_side.h.
//
// First of all a short crawl must be judged clean, and its CDXJ lines must be what the crawler says that it fetched.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/crawl/judged_crawl.h"
#include "bench/crawl/rivals.h"
#include "bench/crawl/served_world.h"
#include "bench/crawl/side_by_side.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kCheckPages = 2000;

// The default for a timed crawl: enough for half a minute and more of crawling. A page of 2026 has seven times the
// bytes of one of 2007, and comes through TLS.
uint64_t DefaultPages(std::string_view profile) { return profile == "web2026" ? 15'000 : 60'000; }

struct Flags {
  CrawlChoice crawl;
  std::string dir;
  double wrk_seconds = 5;
  double wget2_seconds = 15;
  uint32_t wget2_threads = 32;
  std::string only;
  std::vector<std::string> cost_of;
  uint32_t rounds = 5;
};

void Line(Report& report, std::string_view name, double per_s, double per_cpu_s, std::string_view more) {
  report.Line("{:<28} {:>8.0f} pages/s {:>8.0f} pages/CPU s  {}", name, per_s, per_cpu_s, more);
}

void TellCrawl(Report& report, std::string_view name, const JudgedCrawl& judged) {
  const CrawlFigures& crawl = judged.crawl;
  Line(report, name, judged.PagesPerSecond(), judged.PagesPerCpuSecond(),
       fmt::format("{:.0f}/s steady, {} peak, core {:.0f}% busy (server's {:.0f}%), {} violations", crawl.steady_per_s,
                   FormatBytes(crawl.peak_rss_bytes), 100 * crawl.cpu_seconds / crawl.seconds,
                   100 * judged.server_cpu_seconds / crawl.seconds, judged.violations));
}

Result<nlohmann::ordered_json> RunCrawlBench(int argc, char** argv, Report& report) {
  Flags flags;
  CrawlChoice& choice = flags.crawl;
  CLI::App app("The whole crawler on one core against the simulated web, with wrk and wget2 beside it");
  app.footer(
      "With --json, by the log of the server and of the crawl over new connections: https_share and http2_share, the\n"
      "shares of the pages that were fetched (answers of class 2xx) by HTTPS and by HTTP/2; world_https_share, the "
      "share\n"
      "of HTTPS among all pages that a crawl of this world could have fetched.");
  auto* pages = app.add_option("--pages", choice.pages, "Of the timed crawls (default 60000; of web2026 15000)")
                    ->check(CLI::PositiveNumber);
  app.add_option("--max-seconds", choice.max_seconds, "For a crawl: one that takes longer is an error that says why")
      ->check(CLI::PositiveNumber);
  app.add_option("--profile", choice.world.profile, "The world");
  app.add_option("--set", choice.world.set, "Another value for a parameter of the world, KEY=VALUE");
  app.add_option("--config", choice.set, "Another value for a setting of the crawler, KEY=VALUE");
  app.add_option("--seeds", choice.seeds, "Home pages to begin with")->check(CLI::PositiveNumber);
  app.add_option("--connections", choice.connections, "Fetches at one time")->check(CLI::PositiveNumber);
  app.add_option("--host-delay", choice.host_delay_ms, "Milliseconds");
  app.add_option("--ip-delay", choice.ip_delay_ms, "Milliseconds");
  app.add_option("--delay-factor", choice.delay_factor, "Times what the last fetch of a host took");
  app.add_option("--memory", choice.memory, "Of the crawler");
  app.add_option("--dir", flags.dir, "Where the scratch folder is made");
  app.add_option("--wrk-seconds", flags.wrk_seconds, "0: without it");
  app.add_option("--wget2-seconds", flags.wget2_seconds, "0: without it");
  app.add_option("--wget2-threads", flags.wget2_threads, "Its connections at one time")->check(CLI::PositiveNumber);
  app.add_option("--server-core", choice.server_core, "Core of the simulated web");
  app.add_option("--client-core", choice.client_core, "Core of the crawler and of its rivals");
  app.add_option("--only", flags.only, "Just one timed crawl: 'close' or 'keepalive'")
      ->check(CLI::IsMember({"close", "keepalive"}));
  app.add_option(
      "--cost-of", flags.cost_of,
      "Nothing but what this setting of the crawler, KEY=VALUE, costs beside the crawl without it; repeat it "
      "for several together");
  app.add_option("--rounds", flags.rounds, "Pairs of crawls for --cost-of")->check(CLI::PositiveNumber);
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (pages->count() == 0) choice.pages = DefaultPages(choice.world.profile);
  if (std::thread::hardware_concurrency() < 2) choice.client_core = choice.server_core;
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("crawl", flags.dir));

  CrawlChoice small = choice;
  small.pages = std::min(kCheckPages, choice.pages);
  ASSIGN_OR_RETURN(const JudgedCrawl check, CrawlAndJudge(small, scratch.path() + "/check"));
  RETURN_IF_ERROR(CheckJudged(check));
  report.Line("{}: server on core {}, crawler on core {}; {} connections, gaps of {} ms per host and {} ms per address",
              choice.world.profile, choice.server_core, choice.client_core, choice.connections, choice.host_delay_ms,
              choice.ip_delay_ms);
  report.Line("checked: {} pages crawled, judged clean, and all in the index", check.crawl.pages);

  nlohmann::ordered_json figures = {{"profile", choice.world.profile}, {"pages", choice.pages}};
  if (!flags.cost_of.empty()) {
    ASSIGN_OR_RETURN(figures["cost"],
                     MeasureSideBySide(choice, flags.cost_of, flags.rounds, scratch.path() + "/beside", report));
    return figures;
  }
  uint64_t violations = 0;
  double main_rate = 0;
  double main_cpu_rate = 0;
  if (flags.only != "keepalive") {
    ASSIGN_OR_RETURN(const JudgedCrawl timed, CrawlAndJudge(choice, scratch.path() + "/close"));
    const CrawlFigures& crawl = timed.crawl;
    TellCrawl(report, "portolan, new connections", timed);
    if (timed.violations > 0) report.Line("{}", timed.account);
    violations += timed.violations;
    main_rate = timed.PagesPerSecond();
    main_cpu_rate = timed.PagesPerCpuSecond();
    figures["pages_per_s"] = main_rate;
    figures["pages_per_cpu_s"] = main_cpu_rate;
    figures["steady_pages_per_s"] = crawl.steady_per_s;
    figures["rss_bytes"] = crawl.peak_rss_bytes;
    figures["mean_body_bytes"] = static_cast<double>(crawl.body_bytes) / static_cast<double>(crawl.fetches);
    figures["links_per_page"] = static_cast<double>(crawl.links) / static_cast<double>(crawl.pages);
    figures["server_cpu_share"] = timed.server_cpu_seconds / crawl.seconds;
    figures["https_share"] = timed.https_share;
    figures["http2_share"] = timed.http2_share;
    figures["world_https_share"] = timed.world_https_share;
    report.Line("  a page: {} of body, {:.0f} links; {} requests, {} of robots.txt; {} URLs known",
                FormatBytes(static_cast<uint64_t>(figures["mean_body_bytes"].get<double>())),
                figures["links_per_page"].get<double>(), crawl.fetches, crawl.robots, crawl.urls_seen);
    report.Line("  by HTTPS {:.1f}% of the pages (of the world's {:.1f}%), by HTTP/2 {:.1f}%", 100 * timed.https_share,
                100 * timed.world_https_share, 100 * timed.http2_share);
    for (const auto& [stage, seconds] : crawl.stage_seconds) {
      figures["stage_share"][stage] = seconds / crawl.cpu_seconds;
      report.Line("  {:<10} {:>6.1f} us CPU a page  {:>5.1f}%", stage, seconds * 1e6 / static_cast<double>(crawl.pages),
                  100 * seconds / crawl.cpu_seconds);
    }
  }
  if (flags.only != "close") {
    CrawlChoice reusing = choice;
    reusing.reuse_connections = true;
    ASSIGN_OR_RETURN(const JudgedCrawl kept, CrawlAndJudge(reusing, scratch.path() + "/keepalive"));
    TellCrawl(report, "portolan, kept connections", kept);
    if (kept.violations > 0) report.Line("{}", kept.account);
    violations += kept.violations;
    figures["keepalive_pages_per_s"] = kept.PagesPerSecond();
    figures["keepalive_pages_per_cpu_s"] = kept.PagesPerCpuSecond();
  }
  figures["oracle_violations"] = violations;

  if (flags.wrk_seconds > 0) {
    ASSIGN_OR_RETURN(const auto served, ServedWorld::Start(choice.world, {}, choice.server_core));
    const auto wrk = RunWrk(*served, 2000, flags.wrk_seconds, choice.client_core, scratch.path());
    RETURN_IF_ERROR(served->Stop());
    if (wrk) {
      Line(report, "wrk, new connections", wrk->per_s, wrk->per_cpu_s,
           fmt::format("{:.2f} of it is the crawler", main_rate / wrk->per_s));
      figures["wrk_close_per_s"] = wrk->per_s;
      figures["wrk_close_per_cpu_s"] = wrk->per_cpu_s;
      figures["ratio_to_wrk"] = main_rate / wrk->per_s;
      figures["cpu_ratio_to_wrk"] = main_cpu_rate / wrk->per_cpu_s;
    } else if (wrk.error().code() == ErrorCode::kNotFound) {
      report.Line("wrk                          skipped: {}", wrk.error().message());
      figures["wrk_skipped"] = wrk.error().message();
    } else {
      return std::unexpected(wrk.error());
    }
  }
  if (flags.wget2_seconds > 0) {
    const auto wget2 = RunWget2(choice.world, flags.wget2_threads, flags.wget2_seconds, choice.server_core,
                                choice.client_core, scratch.path());
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

PORTOLAN_BENCHMARK("crawl", "the whole crawler: pages per second on one core, beside wrk and wget2", RunCrawlBench);

}  // namespace
}  // namespace portolan::bench
