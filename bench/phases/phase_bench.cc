// bench phases: a crawl divided among nodes by phases, KSpider's way, beside one divided by domains: how even it is,
// what crosses between nodes, what each node must know, and how long it takes (phase_study.h). The first two tables are
// the thesis's figures 39 and 40 with its hashes and with ours.

#include <vector>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/phases/phase_study.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kLinkPages = 10'000;  // whose links are looked at
constexpr double kNsPerSecond = 1e9;

nlohmann::ordered_json ToJson(const DivisionCost& cost) {
  return {{"node_balance", cost.node_balance},
          {"crossing", cost.crossing},
          {"hosts_known", cost.hosts_known},
          {"hosts_active", cost.hosts_active},
          {"addresses_active", cost.addresses_active},
          {"addresses_shared", cost.addresses_shared},
          {"time_s", cost.time_s},
          {"efficiency", cost.efficiency}};
}

void Print(Report& report, std::string_view nodes, std::string_view mode, const DivisionCost& cost) {
  report.Line("{:>5} {:>11} {:>8.3f} {:>8.1f} {:>8.1f} {:>8.1f} {:>9.1f} {:>8.1f} {:>9.0f} {:>10.3f}", nodes, mode,
              cost.node_balance, cost.crossing * 100, cost.hosts_known * 100, cost.hosts_active * 100,
              cost.addresses_active * 100, cost.addresses_shared * 100, cost.time_s, cost.efficiency);
}

Result<nlohmann::ordered_json> RunPhaseBench(int argc, char** argv, Report& report) {
  uint64_t pages = 200'000;
  uint64_t largest = 2000;
  double period_s = 60;
  StudySpeed speed;
  CLI::App app("A crawl divided among nodes by phases (KSpider) and by domains.", "portolan bench phases");
  app.add_option("--pages", pages, "of the simulated web")->capture_default_str()->check(CLI::Range(1000, 10'000'000));
  app.add_option("--largest", largest, "most pages of one host")
      ->capture_default_str()
      ->check(CLI::Range(10, 1'000'000));
  app.add_option("--speed", speed.pages_per_s, "pages per second of each node")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--host-delay", speed.host_delay_s, "seconds between two pages of a host")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e4));
  app.add_option("--period", period_s, "seconds of a phase")->capture_default_str()->check(CLI::Range(0.1, 1e6));
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (speed.host_delay_s >= period_s) {
    return Fail(ErrorCode::kInvalidArgument, "--period must be more than --host-delay, which passes at each swap");
  }
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile("web2007"));
  RETURN_IF_ERROR(sim::SetParam(params, "pages", std::to_string(pages)));
  RETURN_IF_ERROR(sim::SetParam(params, "max_pages_per_host", std::to_string(largest)));
  ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, 1));
  ASSIGN_OR_RETURN(const StudyWeb web, StudyWeb::Read(*world, std::max<uint64_t>(1, pages / kLinkPages)));
  report.Line(
      "{} pages of {} hosts, {} links looked at; {} pages/s per node, {} s between pages of a host, periods of {} s",
      web.pages.size(), web.hosts.size(), web.links.size(), speed.pages_per_s, speed.host_delay_s, period_s);

  nlohmann::ordered_json even = nlohmann::ordered_json::array();
  report.Line("\nlargest share of the pages over the mean one");
  report.Line("{:>16} {:>16} {:>16} {:>16} {:>16}", "nodes or phases", "nodes, hashed", "nodes, sums", "phases, hashed",
              "phases, sums");
  for (const uint32_t parts : {2U, 4U, 6U, 8U, 10U, 20U, 40U}) {
    const Balances nodes = PagesOverNodes(web, parts);
    const Balances phases = PagesOverPhases(web, parts);
    report.Line("{:>16} {:>16.3f} {:>16.3f} {:>16.3f} {:>16.3f}", parts, nodes.hashed, nodes.sums, phases.hashed,
                phases.sums);
    even.push_back({{"parts", parts},
                    {"nodes_hashed", nodes.hashed},
                    {"nodes_sums", nodes.sums},
                    {"phases_hashed", phases.hashed},
                    {"phases_sums", phases.sums}});
  }

  nlohmann::ordered_json divisions = nlohmann::ordered_json::array();
  report.Line("\n{:>5} {:>11} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>9} {:>10}", "", "", "largest", "links", "hosts",
              "hosts", "addresses", "of them", "seconds", "");
  report.Line("{:>5} {:>11} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>9} {:>10}", "nodes", "divided by", "node", "cross %",
              "known %", "active %", "active %", "shared %", "in all", "efficiency");
  for (const uint32_t nodes : {2U, 4U, 8U, 16U}) {
    const DivisionCost domains = CostOfDomains(web, nodes, speed);
    Print(report, std::to_string(nodes), "domains", domains);
    divisions.push_back({{"nodes", nodes}, {"phases", 0}});
    divisions.back().update(ToJson(domains));
    for (const uint32_t phases : {nodes, nodes + nodes / 2, 2 * nodes, 4 * nodes}) {
      const PhasePartition partition({.nodes = nodes,
                                      .phases = phases,
                                      .period_ns = static_cast<int64_t>(period_s * kNsPerSecond),
                                      .gap_ns = static_cast<int64_t>(speed.host_delay_s * kNsPerSecond)});
      ASSIGN_OR_RETURN(const DivisionCost cost, CostOfPhases(web, partition, speed));
      Print(report, "", fmt::format("{} phases", phases), cost);
      divisions.push_back({{"nodes", nodes}, {"phases", phases}});
      divisions.back().update(ToJson(cost));
    }
  }
  return nlohmann::ordered_json{{"pages", web.pages.size()},
                                {"hosts", web.hosts.size()},
                                {"links", web.links.size()},
                                {"pages_per_s", speed.pages_per_s},
                                {"host_delay_s", speed.host_delay_s},
                                {"period_s", period_s},
                                {"balance", even},
                                {"divisions", divisions}};
}

}  // namespace

PORTOLAN_BENCHMARK("phases", "a crawl divided among nodes by phases (KSpider) and by domains", RunPhaseBench);

}  // namespace portolan::bench
