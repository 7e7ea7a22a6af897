#include "bench/cluster/efficiency.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "bench/scratch_dir.h"
#include "io/child_process.h"
#include "io/child_program.h"
#include "io/clock.h"
#include "io/env.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostNs = 600 * kSecond;  // for one crawl
constexpr int64_t kServeNs = 60 * kSecond;  // until the web is ready

struct Ran {
  Json summary;
  double seconds = 0;
  double processor_s = 0;
};

Result<Ran> RunCrawlProcess(const std::vector<std::string>& words, const std::string& output) {
  const int64_t begin = Clock::Real().NowNs();
  ASSIGN_OR_RETURN(const auto child, ChildProcess::Start({.words = words, .output = output}));
  if (!child->Wait(kMostNs)) return Fail(ErrorCode::kIo, "a crawl did not end");
  const ChildEnding ending = *child->Ended();
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), output));
  if (ending.signalled || ending.code != 0) return Fail(ErrorCode::kIo, "a crawl failed: " + text);
  Ran ran{.summary = Json::parse(text, nullptr, false),
          .seconds = static_cast<double>(Clock::Real().NowNs() - begin) * 1e-9,
          .processor_s = static_cast<double>(ending.processor_ns) * 1e-9};
  if (!ran.summary.is_object()) return Fail(ErrorCode::kCorrupt, "a crawl's summary: " + text);
  return ran;
}

// The line that `sim serve` prints when it is ready.
Result<Json> WaitForWeb(const std::string& output) {
  const int64_t until = Clock::Real().NowNs() + kServeNs;
  while (Clock::Real().NowNs() < until) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), output));
    Json ready = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
    if (ready.is_object()) return ready;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Fail(ErrorCode::kIo, "the simulated web does not start");
}

}  // namespace

Result<Json> MeasureEfficiency(const EfficiencyOptions& options, Report& report) {
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("cluster"));
  const std::string program = ProgramBeside("portolan");
  const auto path = [&](const std::string& name) { return JoinPath(scratch.path(), name); };
  ASSIGN_OR_RETURN(
      const auto web,
      ChildProcess::Start({.words = {program, "sim", "serve", "--profile", "demo", "--seed", "1", "--set",
                                     fmt::format("pages={}", options.pages), "--set",
                                     fmt::format("domains={}", std::max<uint64_t>(40, options.pages / 40)), "--set",
                                     "https=0", "--ca", path("ca.pem"), "--max-seconds", "3600", "--log-level", "off"},
                           .output = path("web")}));
  ASSIGN_OR_RETURN(const Json ready, WaitForWeb(path("web")));
  const auto crawl = [&](uint32_t nodes) {
    const std::string name = nodes == 0 ? "alone" : fmt::format("nodes-{}", nodes);
    std::vector<std::string> words = {program,          "crawl",
                                      "--dir",          path(name),
                                      "--json",         "--quiet",
                                      "--log-level",    "off",
                                      "--scope",        "any",
                                      "--delay",        "0",
                                      "--ip-delay",     "0",
                                      "--set",          "politeness.crawl_delay=false",
                                      "--max-pages",    "0",
                                      "--loops",        "1",
                                      "--memory",       "1G",
                                      "--dns",          fmt::format("127.0.0.1:{}", ready.value("dns_port", 0)),
                                      "--ca",           path("ca.pem"),
                                      "--allow-private"};
    if (nodes > 0) {
      words.emplace_back("--nodes");
      words.push_back(std::to_string(nodes));
    }
    for (const Json& seed : ready["seeds"]) words.push_back(seed.get<std::string>());
    return RunCrawlProcess(words, path(name + ".out"));
  };
  ASSIGN_OR_RETURN(const Ran alone, crawl(0));
  const auto pages = alone.summary.value("pages", uint64_t{0});
  if (pages == 0) return Fail(ErrorCode::kCorrupt, "the crawl without nodes has no page");
  const double base = static_cast<double>(pages) / alone.processor_s;
  report.Line("");
  report.Line("{:<14} {:>8} {:>9} {:>12} {:>12} {:>16} {:>10}", "", "pages", "seconds", "CPU s", "nats CPU s",
              "pages/CPU s", "efficiency");
  report.Line("{:<14} {:>8} {:>9.1f} {:>12.2f} {:>12} {:>16.0f} {:>10}", "without NATS", pages, alone.seconds,
              alone.processor_s, "", base, "");
  Json json = {{"pages", pages}, {"alone_pages_per_cpu_s", base}, {"nodes", Json::array()}};
  double least = 0;  // of all efficiencies
  for (const uint32_t nodes : options.nodes) {
    ASSIGN_OR_RETURN(const Ran ran, crawl(nodes));
    const auto fetched = ran.summary.value("pages", uint64_t{0});
    if (fetched != pages || ran.summary.value("state", "") != "done") {
      return Fail(ErrorCode::kCorrupt, fmt::format("{} nodes fetched {} pages ({}), one process {}", nodes, fetched,
                                                   ran.summary.value("state", ""), pages));
    }
    const double processor = ran.summary.value("nodes_processor_s", 0.0);
    const double server = ran.summary.value("nats_processor_s", 0.0);
    const double rate = static_cast<double>(fetched) / processor;
    report.Line("{:<14} {:>8} {:>9.1f} {:>12.2f} {:>12.2f} {:>16.0f} {:>10.2f}", fmt::format("{} nodes", nodes),
                fetched, ran.seconds, processor, server, rate, rate / base);
    least = json["nodes"].empty() ? rate / base : std::min(least, rate / base);
    json["nodes"].push_back({{"nodes", nodes},
                             {"seconds", ran.seconds},
                             {"processor_s", processor},
                             {"nats_processor_s", server},
                             {"pages_per_cpu_s", rate},
                             {"efficiency", rate / base}});
  }
  json["efficiency"] = least;
  web->Signal(SIGTERM);
  web->Wait(10 * kSecond);
  return json;
}

}  // namespace portolan::bench
