// portolan sim check: the oracle's report on a crawl, from nothing but the hit log of 'portolan sim serve' and the
// world.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/sim.h"
#include "cli/verb_app.h"
#include "io/clock.h"
#include "io/env.h"
#include "sim/hits/hit_log_reader.h"
#include "sim/oracle/judge.h"
#include "sim/oracle/judge_log.h"
#include "sim/oracle/time_order.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan {
namespace {

struct CheckFlags {
  std::string log;
  std::string profile;
  uint64_t seed = 0;
  bool has_seed = false;
  std::vector<std::string> set;
  std::string host_gap;
  std::string ip_gap;
  std::string slack = "2ms";
  std::string delay_factor_max = "30s";
  std::string robots_ttl;
  std::string window;
  std::string freshness_every;
  std::string missed_path;
  bool ignore_robots = false;
  bool follow_nofollow = false;
  bool json = false;
  sim::Rules rules;
};

int64_t ToNs(const std::string& text) {
  if (text.empty()) return 0;
  const auto seconds = ParseSeconds(text);  // checked when the flags were read
  return seconds ? static_cast<int64_t>(*seconds * 1e9) : 0;
}

// An input file that cannot be used is bad input, whatever the reason.
int Unusable(const Error& error) {
  PrintError(error.message());
  return kExitBadInput;
}

Result<std::unique_ptr<sim::World>> MakeWorld(const CheckFlags& flags, const sim::HitLogHeader& header) {
  auto logged = sim::ParamsOfHeader(header);
  if (!logged) return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", flags.log, logged.error().message()));
  sim::WorldParams params = *logged;
  if (!flags.profile.empty()) {
    ASSIGN_OR_RETURN(params, sim::LoadProfile(flags.profile));
    // Not a property of the world, but of the server that wrote the log.
    params.http_port = logged->http_port;
    params.https_port = logged->https_port;
  }
  for (const std::string& setting : flags.set) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("--set wants KEY=VALUE, not '{}'", setting));
    }
    RETURN_IF_ERROR(sim::SetParam(params, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return sim::World::Create(params, flags.has_seed ? flags.seed : header.seed);
}

// Compares with what could have been reached when the crawl began.
Status Cover(const CheckFlags& flags, const sim::World& world, sim::Judge& judge) {
  std::string missed;
  std::function<void(const std::string&)> note;
  if (!flags.missed_path.empty()) note = [&missed](const std::string& url) { missed += url + "\n"; };
  sim::CoverReachable(world, flags.rules, flags.follow_nofollow, judge, note);
  if (flags.missed_path.empty()) return {};
  return ReplaceFile(Env::Posix(), flags.missed_path, missed);
}

int Check(CheckFlags& flags) {
  sim::Rules& rules = flags.rules;
  rules.host_gap_ns = ToNs(flags.host_gap);
  rules.ip_gap_ns = ToNs(flags.ip_gap);
  rules.slack_ns = ToNs(flags.slack);
  rules.delay_factor_max_ns = ToNs(flags.delay_factor_max);
  rules.robots_ttl_ns = ToNs(flags.robots_ttl);
  rules.robots = !flags.ignore_robots;

  const auto reader = sim::HitLogReader::Open(Env::Posix(), flags.log);
  if (!reader) return Unusable(reader.error());
  const auto world = MakeWorld(flags, (*reader)->header());
  if (!world) return Complain(world.error());

  sim::Judge::Options options;
  options.rules = rules;
  options.freshness_every_ns = ToNs(flags.freshness_every);
  sim::Judge judge(**world, options);
  int64_t window_ns = ToNs(flags.window);
  if (flags.window.empty()) {
    const auto needed_ns = sim::WindowOf(Env::Posix(), flags.log);
    if (!needed_ns) return Unusable(needed_ns.error());
    window_ns = *needed_ns;
  }
  sim::TimeOrder order(judge, window_ns);
  if (const Status status = sim::ReadHits(**reader, order); !status) return Unusable(status.error());
  order.Flush();
  if (order.late() > 0) {
    PrintError(
        fmt::format("{}: {} events are more than {} out of order: {}", flags.log, order.late(),
                    FormatDuration(static_cast<double>(window_ns) * 1e-9),
                    flags.window.empty() ? "the log has grown while it was read; try again" : "use a longer --window"));
    return kExitBadInput;
  }

  if (const Status status = Cover(flags, **world, judge); !status) return Complain(status.error());
  const sim::Account account = judge.Finish(order.last_ns());
  if (flags.json) {
    fmt::print("{}\n", sim::AccountJson(account));
  } else {
    fmt::print("{}", sim::AccountTable(account));
  }
  return account.TotalViolations() == 0 ? kExitOk : kExitVerdict;
}

}  // namespace

int RunSimCheck(int argc, char** argv) {
  VerbApp app("sim check", "Reports from a hit log what a crawler did to the simulated web, and which rules it broke.");
  CheckFlags flags;
  const auto seconds = Checked(ParseSeconds, "TIME");
  app->add_option("--log", flags.log, "the hit log that 'sim serve --log' wrote")->required();
  app->add_option("--profile", flags.profile, "the world's profile, if it is not the log's");
  CLI::Option* seed = app->add_option("--seed", flags.seed, "the world's seed, likewise");
  app->add_option("--set", flags.set, "the world's parameters, likewise, KEY=VALUE")->take_all();
  app->add_option("--agent", flags.rules.agent, "the user agent whose robots.txt rules apply")->capture_default_str();
  app->add_option("--host-gap", flags.host_gap, "required time between two requests to a host")->check(seconds);
  app->add_option("--ip-gap", flags.ip_gap, "required time between two requests to an IP address")->check(seconds);
  app->add_flag("--gap-from-end", flags.rules.gap_from_end, "gaps count from the end of the last request");
  app->add_option("--gap-slack", flags.slack, "tolerated difference of the clocks")
      ->check(seconds)
      ->capture_default_str();
  app->add_option("--delay-factor", flags.rules.delay_factor,
                  "required time after a request, as a multiple of its duration");
  app->add_option("--delay-factor-max", flags.delay_factor_max, "upper limit of that time")
      ->check(seconds)
      ->capture_default_str();
  app->add_flag("--crawl-delay", flags.rules.crawl_delay, "Crawl-delay must be obeyed");
  app->add_option("--connections", flags.rules.connections, "requests in progress at a host at once; 0: any");
  app->add_option("--open-connections", flags.rules.open_connections,
                  "connections open to a host at once, idle ones too; 0: any");
  app->add_option("--ip-sockets", flags.rules.ip_sockets, "connections open to an address at once; 0: any");
  app->add_option("--max-fetches-per-url", flags.rules.fetches_per_url, "tries after failures not counted; 0: any");
  app->add_option("--robots-ttl", flags.robots_ttl, "how long a robots.txt may be used")->check(seconds);
  app->add_flag("--ignore-robots", flags.ignore_robots, "the crawl was not required to obey robots.txt");
  app->add_flag("--follow-nofollow", flags.follow_nofollow, "links marked nofollow count as reachable, too");
  app->add_flag("--complete", flags.rules.complete, "the crawl claims to have fetched all that is reachable");
  app->add_option("--missed", flags.missed_path, "write every reachable URL that was never requested to this file");
  app->add_option("--freshness-every", flags.freshness_every, "measure freshness at this interval, not only at the end")
      ->check(seconds);
  app->add_option("--window", flags.window, "the longest request in the log; default: found by an extra pass")
      ->check(seconds);
  app->add_flag("--json", flags.json, "the report as one JSON object");
  app.Footer(
      "Rules that are not given are not checked; robots.txt, Retry-After and URLs that do not exist always are.\n"
      "Exit code 1 when a rule was broken, 3 when the log cannot be used.\n\n"
      "Examples:\n"
      "  portolan sim check --log hits.tsv\n"
      "  portolan sim check --log hits.tsv --host-gap 1s --connections 1 --max-fetches-per-url 1 --complete --json");
  if (const auto code = app.Parse(argc, argv)) return *code;
  flags.has_seed = seed->count() > 0;
  return Check(flags);
}

}  // namespace portolan
