// portolan demo: crawls the simulated web on this machine, with the oracle's verdict at the end.

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_flags.h"
#include "cli/crawl_session.h"
#include "cli/seeds.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/process.h"
#include "io/stop_signals.h"
#include "sim/hits/hit_log_writer.h"
#include "sim/oracle/judge_log.h"
#include "sim/server/sim_server.h"
#include "sim/server/world_site.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan {
namespace {

struct DemoFlags {
  uint64_t pages = 20'000;
  std::string dir = "demo";
  std::string profile = "demo";
  uint64_t seed = 1;
  std::vector<std::string> world_set;
  bool json = false;
  bool quiet = false;
  std::string delay = "50ms";
  std::string ip_delay = "5ms";
  CrawlFlags crawl;
};

// The simulated web on its own threads, and the log of what was done to it.
struct RunningWorld {
  std::unique_ptr<sim::World> world;
  std::unique_ptr<sim::WorldSite> site;
  std::unique_ptr<sim::HitLogWriter> hits;
  std::unique_ptr<sim::SimServer> server;
};

Result<RunningWorld> StartWorld(const DemoFlags& flags, const std::string& log) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(flags.profile));
  for (const std::string& pair : flags.world_set) RETURN_IF_ERROR(sim::SetParam(params, pair));
  sim::SimServerOptions options;
  ASSIGN_OR_RETURN(sim::SimSockets sockets, sim::BindSimSockets(options));
  params.http_port = sockets.http.port;
  params.https_port = sockets.https.port;
  RunningWorld running;
  ASSIGN_OR_RETURN(running.world, sim::World::Create(params, flags.seed));
  running.site = std::make_unique<sim::WorldSite>(*running.world);
  ASSIGN_OR_RETURN(running.hits,
                   sim::HitLogWriter::Create(
                       Env::Posix(), log,
                       {.profile = flags.profile, .seed = flags.seed, .parameters = sim::DescribeParams(params)}));
  options.hits = running.hits.get();
  ASSIGN_OR_RETURN(running.server, sim::SimServer::Start(options, std::move(sockets), *running.site));
  return running;
}

// Files that are kept beside the crawl's directory, which must be empty when the crawl begins, until they are moved
// into it. Files that were not moved are removed.
struct Beside {
  std::string ca;
  std::string log;
  ~Beside() {
    std::error_code ignored;
    std::filesystem::remove(ca, ignored);
    std::filesystem::remove(log, ignored);
  }
};

Result<int> Demo(const DemoFlags& flags, const Config& base) {
  if (Env::Posix().Exists(flags.dir)) {
    return Fail(ErrorCode::kExists, flags.dir + ": exists already; choose another --dir or remove it");
  }
  SessionOptions session;
  session.dir = flags.dir;
  session.quiet = flags.quiet;
  session.summary = false;
  ASSIGN_OR_RETURN(session.config, ApplyCrawlFlags(flags.crawl, base));
  Config& config = session.config;
  config.crawl.max_pages = flags.pages;
  config.scope.mode = ScopeMode::kAny;
  RETURN_IF_ERROR(SetConfig(config, "politeness.host_delay", flags.delay));
  RETURN_IF_ERROR(SetConfig(config, "politeness.ip_delay", flags.ip_delay));
  config.fetch.allow_private_addresses = true;
  RETURN_IF_ERROR(ValidateConfig(config));

  RETURN_IF_ERROR(Env::Posix().CreateDirs(DirName(flags.dir)));
  const Beside beside{.ca = flags.dir + ".ca.pem", .log = flags.dir + ".hits.tsv"};
  RunningWorld running;
  {  // The web's threads must not receive the signals that the crawl waits for: they would end the program at once.
    const BlockedStopSignals blocked;
    ASSIGN_OR_RETURN(running, StartWorld(flags, beside.log));
  }
  RETURN_IF_ERROR(ReplaceFile(Env::Posix(), beside.ca, running.server->ca_pem()));
  config.fetch.dns_servers = {fmt::format("127.0.0.1:{}", running.server->ports().dns)};
  config.fetch.ca_file = beside.ca;
  ASSIGN_OR_RETURN(session.given, ReadSeeds({.urls = running.world->Seeds()}, config));
  if (!flags.quiet) {
    fmt::print(stderr, "a web of {} pages on {} domains, all on this machine; crawling {} pages of it into {}\n",
               running.world->TotalPages(), running.world->Domains(), flags.pages, flags.dir);
  }
  ASSIGN_OR_RETURN(const SessionEnd end, RunCrawlSession(session));
  running.server->Stop();
  RETURN_IF_ERROR(running.hits->Close());

  sim::Rules rules;
  rules.agent = RobotsTokenOf(config);
  rules.host_gap_ns = config.politeness.host_delay.count();
  rules.ip_gap_ns = config.politeness.ip_delay.count();
  rules.gap_from_end = false;
  rules.delay_factor = 0;
  rules.connections = 1;
  rules.crawl_delay = true;
  rules.fetches_per_url = 1;
  rules.complete = end.limit.empty() && end.progress.state == "done";
  ASSIGN_OR_RETURN(const sim::Account account, sim::JudgeHitLog(Env::Posix(), beside.log, *running.world, rules));
  const std::string kept_log = JoinPath(flags.dir, "hits.tsv");
  std::error_code ignored;
  std::filesystem::rename(beside.log, kept_log, ignored);
  std::filesystem::rename(beside.ca, JoinPath(flags.dir, "ca.pem"), ignored);

  const CrawlCounts& counts = end.progress.counts;
  if (flags.json) {
    auto json = nlohmann::ordered_json::parse(ProgressToJson(end.progress));
    json["dir"] = flags.dir;
    json["limit"] = end.limit;
    json["oracle_violations"] = account.TotalViolations();
    json["oracle"] = nlohmann::ordered_json::parse(sim::AccountJson(account));
    json["peak_rss_bytes"] = PeakResidentBytes();
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("\nFetched {} pages ({} requests, {} robots.txt) in {}: {:.0f} pages/s, {} received\n", counts.pages(),
               counts.fetches, counts.robots, FormatDuration(end.progress.seconds),
               static_cast<double>(counts.pages()) / end.progress.seconds, FormatBytes(counts.wire_bytes));
    fmt::print("\nWhat the oracle saw (it knows the simulated web and shares no code with the crawler):\n{}",
               sim::AccountTable(account));
    fmt::print(
        "\nFiles\n"
        "  {0}/warc      WARC 1.1, with a sorted CDXJ index beside each file\n"
        "  {0}/log       one JSON line per fetch\n"
        "  {0}/hits.tsv  every request as the simulated web saw it\n"
        "\nTry next\n"
        "  portolan warc ls {0}/warc/*.warc.gz | head\n"
        "  portolan status {0}\n"
        "  portolan crawl --max-pages 100 https://example.org/\n",
        flags.dir);
  }
  return account.TotalViolations() == 0 ? kExitOk : kExitVerdict;
}

}  // namespace

int RunDemo(int argc, char** argv) {
  VerbApp app("demo",
              "Starts a simulated web on this machine's loopback addresses and crawls it: real sockets, DNS and\n"
              "TLS, no network. At the end an oracle that knows that web reports whether the crawl was correct.");
  DemoFlags flags;
  app->add_option("--pages", flags.pages, "Stop after this many pages; 0: all of them")->capture_default_str();
  app->add_option("--dir", flags.dir, "Directory of the crawl; must not exist")
      ->capture_default_str()
      ->type_name("DIR");
  app->add_option("--world-profile", flags.profile, "Which world (see 'portolan sim serve --help')")
      ->capture_default_str();
  app->add_option("--world", flags.world_set, "Overrides a parameter of the world")->type_name("KEY=VALUE");
  app->add_option("--seed", flags.seed, "A different world of the same kind")->capture_default_str();
  app->add_option("--delay", flags.delay, "Least time between two pages of a host")->capture_default_str();
  app->add_option("--ip-delay", flags.ip_delay, "Least time between two pages of an IP address")->capture_default_str();
  app->add_option("--loops", flags.crawl.loops, "Threads that fetch")->type_name("N");
  app->add_option("--connections", flags.crawl.connections, "Fetches at one time")->type_name("N");
  app->add_option("--memory", flags.crawl.memory, "Memory of the crawler")->type_name("SIZE");
  app->add_option("--set", flags.crawl.set, "Any setting of 'portolan config'")->type_name("KEY=VALUE");
  app->add_flag("--json", flags.json, "The report as one JSON object on standard output");
  if (const auto code = app.Parse(argc, argv)) return *code;
  flags.quiet = app.quiet();
  const auto code = Demo(flags, app.config());
  return code ? *code : Complain(code.error());
}

}  // namespace portolan
