// Checkpoints must not stop a large crawl: how long a checkpoint blocks the shard, and how soon a crawl that died
// fetches again.
//
// The whole engine on a real disk crawls a web of tiny pages on the loopback. It is given --urls seeds on --hosts
// hosts, fetches every robots.txt until all hosts are in the frontier, crawls with a checkpoint every two seconds, dies
// without warning, and is opened again. The rival writes the same state as one stop of the world.
//
// First of all the answers: as many URLs are known as were given, and after the death every one of them is in exactly
// one place.

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/checkpoint/large_crawl.h"
#include "bench/checkpoint/small_web.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "crawl/wiring.h"

namespace portolan::bench {
namespace {

struct Flags {
  uint64_t urls = 10'000'000;
  uint64_t hosts = 100'000;
  double seconds = 30;
  double every = 2;
  std::string memory = "1G";
  std::vector<std::string> set;
  std::string dir;
};

void RaiseDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t BytesUnder(const std::string& dir) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, error)) {
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  }
  return bytes;
}

Result<EngineOptions> OptionsOf(const Flags& flags, const SmallWeb& web, const std::string& dir) {
  Config config = ForProfile(Profile::kSite);
  config.scope.mode = ScopeMode::kAny;
  // The hosts are what is to be many, not the seconds between two hits.
  config.politeness.host_delay = std::chrono::milliseconds(20);
  config.politeness.ip_delay = std::chrono::milliseconds(2);
  config.fetch.connections = 256;
  config.fetch.reuse_connections = false;
  config.fetch.dns_servers = {fmt::format("127.0.0.1:{}", web.dns_port())};
  config.fetch.allow_private_addresses = true;
  RETURN_IF_ERROR(SetConfig(config, "memory.total", flags.memory));
  for (const std::string& setting : flags.set) RETURN_IF_ERROR(SetConfig(config, setting));
  ASSIGN_OR_RETURN(EngineOptions options, WireCrawl(config, dir, {web.UrlOf(0)}, "bench"));
  // As with a third as many connections: every host is wanted in the frontier's memory.
  options.shard.frontier.back_queues = static_cast<uint32_t>(flags.hosts);
  options.shard.frontier.max_hosts = static_cast<uint32_t>(flags.hosts * 2);
  return options;
}

Result<nlohmann::ordered_json> RunCheckpointBench(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("how long a checkpoint holds up a large crawl, and how soon it goes on after its death", "checkpoint");
  app.add_option("--urls", flags.urls, "URLs that the crawl knows")->capture_default_str();
  app.add_option("--hosts", flags.hosts, "Hosts that they are on")->capture_default_str();
  app.add_option("--seconds", flags.seconds, "Crawling with checkpoints")->capture_default_str();
  app.add_option("--every", flags.every, "Seconds between two checkpoints")->capture_default_str();
  app.add_option("--memory", flags.memory, "The crawler's memory.total")->capture_default_str();
  app.add_option("--config", flags.set, "Another value for a setting of the crawler, KEY=VALUE");
  app.add_option("--dir", flags.dir, "Where the crawl is kept during the run (default: the temporary folder)");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (flags.hosts == 0 || flags.urls < flags.hosts) {
    return Fail(ErrorCode::kInvalidArgument, "--urls must be at least --hosts, and that at least 1");
  }
  RaiseDescriptors();
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("checkpoint", flags.dir));
  ASSIGN_OR_RETURN(const auto web, SmallWeb::Start(flags.hosts));
  LargeCrawl crawl{web.get(), {}, flags.urls, flags.hosts};
  ASSIGN_OR_RETURN(crawl.options, OptionsOf(flags, *web, scratch.path()));

  report.Line("{} URLs on {} hosts, memory {}", flags.urls, flags.hosts, flags.memory);
  ASSIGN_OR_RETURN(const FillFigures fill, Fill(crawl, report));
  if (fill.known_urls != flags.urls) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{} URLs were given, {} are known", flags.urls, fill.known_urls));
  }
  const uint64_t state_bytes = BytesUnder(crawl.options.state_dir);
  report.Line("filled         {:8.1f} s   {} known, {} hosts in the frontier, state {}", fill.seconds, fill.known_urls,
              fill.hosts, FormatBytes(state_bytes));
  ASSIGN_OR_RETURN(const StopFigures stops, CrawlAndDie(crawl, flags.seconds, flags.every));
  report.Line("longest stop   {:8.1f} ms  of {} checkpoints in {:.0f} s, {:.0f} fetches/s, RSS {}", stops.longest_ms,
              stops.checkpoints, stops.seconds, static_cast<double>(stops.fetches) / stops.seconds,
              FormatBytes(stops.rss_bytes));
  ASSIGN_OR_RETURN(const ResumeFigures resume, Resume(crawl));
  if (resume.known_urls != flags.urls) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} URLs were known, {} are after the death", flags.urls, resume.known_urls));
  }
  report.Line("resumed        {:8.2f} s   to the first fetch; open {:.2f} s", resume.first_fetch_s, resume.open_s);
  RETURN_IF_ERROR(web->Stop());
  ASSIGN_OR_RETURN(const WorldStopFigures rival, StopTheWorld(crawl));
  report.Line("stop the world {:8.1f} ms  the rival: the same state written and synced by its owner", rival.ms);

  nlohmann::ordered_json figures;
  figures["known_urls"] = resume.known_urls;
  figures["hosts"] = fill.hosts;
  figures["longest_stop_ms"] = stops.longest_ms;
  figures["checkpoints"] = stops.checkpoints;
  figures["fetches_per_s"] = static_cast<double>(stops.fetches) / stops.seconds;
  figures["resume_first_fetch_s"] = resume.first_fetch_s;
  figures["open_s"] = resume.open_s;
  figures["state_bytes"] = state_bytes;
  figures["rss_bytes"] = stops.rss_bytes;
  figures["stop_the_world_ms"] = rival.ms;
  figures["ratio_to_stop_the_world"] = rival.ms / stops.longest_ms;
  return figures;
}

PORTOLAN_BENCHMARK("checkpoint", "a large crawl: the longest stop by a checkpoint, the first fetch after its death",
                   RunCheckpointBench);

}  // namespace
}  // namespace portolan::bench
