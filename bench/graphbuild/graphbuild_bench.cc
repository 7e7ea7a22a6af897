// The link graph of a crawl, built from its link log: nanoseconds per link at several sizes, memory and traffic.
//
// For each size a crawl of a simulated web of its own writes the link log (link_crawl.h) through the crawl's outputs;
// follow/BuildGraph builds the graph in a process of its own; another process reads the whole graph and compares it
// with the web, both directions, texts, fetched pages and hosts, before a figure is given. Before the build the log is
// dropped from the page cache. The rival builds the same page graph in memory, where that fits.
//
// With --parts N the log is committed in N parts and the graph built after each; the figures are those of the last
// build, which adds a part to a generation.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/crawl/child.h"
#include "bench/flags.h"
#include "bench/graphbuild/check_graph.h"
#include "bench/graphbuild/link_crawl.h"
#include "bench/graphbuild/memory_build.h"
#include "bench/graphbuild/process_use.h"
#include "bench/scratch_dir.h"
#include "follow/graph_build.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::vector<std::string> links = {"2M", "20M"};
  std::string memory = "256M";
  std::string rival = "6M";
  std::string scratch;
  uint64_t parts = 1;
};

Result<Json> InChild(const std::function<Result<Json>()>& body) {
  ASSIGN_OR_RETURN(const auto child, Child::Start(-1, [&](const Child::Parent& parent) {
                     parent.say_ready();
                     return body();
                   }));
  ASSIGN_OR_RETURN(ChildEnd end, child->Wait());
  end.value["cpu_seconds"] = end.cpu_seconds;
  return std::move(end.value);
}

uint64_t BytesIn(const std::string& dir) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// The next reader gets it from the disk. Where the file system does not do it, figures say less disk_read.
void DropFromCache(const std::string& dir) {
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    (void)::fdatasync(fd);
    (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

Json ToJson(const LinkSums& sums) {
  return Json{{"fetched", sums.fetched},         {"links", sums.links},       {"texts", sums.texts},
              {"fetched_sum", sums.fetched_sum}, {"link_sum", sums.link_sum}, {"text_sum", sums.text_sum}};
}

Result<Json> Build(const std::string& dir, uint64_t memory) {
  ProcessWatch watch;
  GraphBuildOptions options;
  options.memory = memory;
  Json steps = Json::object();
  std::string step;
  int64_t last = Clock::Real().NowNs();
  const int64_t begin = last;
  const auto close_step = [&] {
    const int64_t now = Clock::Real().NowNs();
    if (!step.empty()) steps[step] = static_cast<double>(now - last) / 1e9;
    last = now;
  };
  options.progress = [&](std::string_view now, uint64_t) {
    if (now == step) return;
    close_step();
    step = now;
  };
  ASSIGN_OR_RETURN(const GraphBuildResult built,
                   BuildGraph(Env::Posix(), LinkCrawl::LogIn(dir), JoinPath(dir, "graph"), options));
  close_step();
  const ProcessUse use = watch.Use();
  return Json{{"seconds", static_cast<double>(last - begin) / 1e9},
              {"new_links", built.new_links},
              {"batches", built.batches},
              {"peak_rss_bytes", use.peak_bytes},
              {"peak_rss_anon_bytes", use.peak_anon_bytes},
              {"peak_rss_file_bytes", use.peak_file_bytes},
              {"read_bytes", use.asked_read},
              {"written_bytes", use.asked_written},
              {"disk_read_bytes", use.disk_read},
              {"disk_written_bytes", use.disk_written},
              {"steps", steps}};
}

Result<Json> Check(const std::string& dir) {
  ASSIGN_OR_RETURN(const auto files, GraphFiles::Open(Env::Posix(), JoinPath(dir, "graph")));
  GraphCounts counts;
  ASSIGN_OR_RETURN(const LinkSums sums, SumsOf(*files, counts));
  return Json{{"sums", ToJson(sums)},
              {"pages", counts.pages},
              {"hosts", counts.hosts},
              {"host_links", counts.host_links},
              {"graph_bytes", counts.bytes},
              {"bits_per_link", counts.bits_per_link},
              {"transpose_bits_per_link", counts.transpose_bits_per_link}};
}

Result<Json> MeasureSize(uint64_t links, uint64_t memory, bool rival, const Flags& flags) {
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("graphbuild", flags.scratch));
  const std::string& dir = scratch.path();
  Json written;
  Json built;
  for (uint64_t part = 1; part <= flags.parts; ++part) {
    // A part goes on where the last one ended: the pages up to there are made again and not written.
    ASSIGN_OR_RETURN(written, InChild([&]() -> Result<Json> {
                       ASSIGN_OR_RETURN(LinkCrawl crawl, LinkCrawl::Create(links));
                       LinkCrawl::Page page;
                       while (crawl.sums().links < links / flags.parts * (part - 1) && crawl.Next(page)) {
                       }
                       const uint64_t until = part == flags.parts ? links : links / flags.parts * part;
                       RETURN_IF_ERROR(crawl.WriteLog(Env::Posix(), dir, until));
                       return ToJson(crawl.sums());
                     }));
    written.erase("cpu_seconds");
    DropFromCache(JoinPath(dir, "links"));
    ASSIGN_OR_RETURN(built, InChild([&] { return Build(dir, memory); }));
  }
  ASSIGN_OR_RETURN(Json checked, InChild([&] { return Check(dir); }));
  if (checked["sums"] != written) {
    return Fail(ErrorCode::kCorrupt, fmt::format("the graph is not that of the crawl: {} instead of {}",
                                                 checked["sums"].dump(), written.dump()));
  }
  const auto seconds = built["seconds"].get<double>();
  const auto new_links = built["new_links"].get<double>();
  Json figures{{"links", written["links"]},
               {"fetched", written["fetched"]},
               {"pages", checked["pages"]},
               {"hosts", checked["hosts"]},
               {"host_links", checked["host_links"]},
               {"log_bytes", BytesIn(JoinPath(dir, "links"))},
               {"graph_bytes", checked["graph_bytes"]},
               {"bits_per_link", checked["bits_per_link"]},
               {"transpose_bits_per_link", checked["transpose_bits_per_link"]},
               {"links_per_second", new_links / seconds},
               {"ns_per_link", seconds * 1e9 / new_links},
               {"cpu_ns_per_link", built["cpu_seconds"].get<double>() * 1e9 / new_links}};
  figures.update(built);
  if (!rival) return figures;
  ASSIGN_OR_RETURN(const Json other, InChild([&]() -> Result<Json> {
                     ProcessWatch watch;
                     ASSIGN_OR_RETURN(const MemoryBuild in_memory, BuildInMemory(Env::Posix(), LinkCrawl::LogIn(dir)));
                     return Json{{"seconds", in_memory.seconds},
                                 {"pages", in_memory.pages},
                                 {"links", in_memory.links},
                                 {"link_sum", in_memory.link_sum},
                                 {"peak_rss_bytes", watch.Use().peak_bytes}};
                   }));
  if (other["links"] != written["links"] || other["link_sum"] != written["link_sum"]) {
    return Fail(ErrorCode::kCorrupt, "the rival's graph is not that of the crawl");
  }
  figures["memory_ns_per_link"] = other["seconds"].get<double>() * 1e9 / other["links"].get<double>();
  figures["memory_peak_rss_bytes"] = other["peak_rss_bytes"];
  return figures;
}

void Print(const Json& figures, Report& report) {
  const auto number = [&](const char* key) { return figures[key].get<double>(); };
  const auto mib = [&](const char* key) { return number(key) / (1 << 20); };
  report.Line(
      "{:>8} links {:>8} pages {:>8.0f} ns/link ({:.0f} of processor time) {:>5.2f} M links/s {:>6.0f} MiB ({:.0f} "
      "own, {:.0f} mapped)  "
      "read {:.0f}, written {:.0f} bytes/link (disk {:.0f}, {:.0f})",
      FormatCount(number("links")), FormatCount(number("pages")), number("ns_per_link"), number("cpu_ns_per_link"),
      number("links_per_second") / 1e6, mib("peak_rss_bytes"), mib("peak_rss_anon_bytes"), mib("peak_rss_file_bytes"),
      number("read_bytes") / number("new_links"), number("written_bytes") / number("new_links"),
      number("disk_read_bytes") / number("new_links"), number("disk_written_bytes") / number("new_links"));
  std::string steps;
  for (const auto& [step, seconds] : figures["steps"].items()) {
    steps += fmt::format("{}{} {:.1f} s", steps.empty() ? "" : ", ", step, seconds.get<double>());
  }
  report.Line("         {} batches; {}", figures["batches"].get<uint64_t>(), steps);
  if (figures.contains("memory_ns_per_link")) {
    report.Line("         in memory, pages only: {:.0f} ns/link, {:.0f} MiB", number("memory_ns_per_link"),
                mib("memory_peak_rss_bytes"));
  }
}

Result<Json> RunGraphBuildBench(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("Builds link graphs of simulated crawls in bounded memory.", "portolan bench graphbuild");
  app.add_option("--links", flags.links, "Links of each crawl, several sizes one after the other")
      ->capture_default_str()
      ->type_name("COUNT");
  app.add_option("--memory", flags.memory, "GraphBuildOptions::memory")->capture_default_str()->type_name("SIZE");
  app.add_option("--rival", flags.rival, "Up to this size the rival runs, too")->capture_default_str();
  app.add_option("--parts", flags.parts, "Builds after each part of the log; figures are those of the last")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--scratch", flags.scratch, "Where the log and the graph are; some 80 bytes per link")
      ->type_name("DIR");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  ASSIGN_OR_RETURN(const uint64_t memory, ParseBytes(flags.memory));
  ASSIGN_OR_RETURN(const uint64_t rival, ParseCount(flags.rival));
  Json sizes = Json::array();
  for (const std::string& size : flags.links) {
    ASSIGN_OR_RETURN(const uint64_t links, ParseCount(size));
    ASSIGN_OR_RETURN(Json figures, MeasureSize(links, memory, links <= rival, flags));
    Print(figures, report);
    sizes.push_back(std::move(figures));
  }
  // By the clock, and by processor time, which other work on the machine disturbs less.
  const auto last_over_first = [&sizes](const char* key) {
    return sizes.back()[key].get<double>() / sizes.front()[key].get<double>();
  };
  const double wall = last_over_first("ns_per_link");
  const double cpu = last_over_first("cpu_ns_per_link");
  if (sizes.size() > 1) {
    report.Line("cost per link of the last size over that of the first: {:.2f}; in processor time {:.2f}", wall, cpu);
  }
  return Json{{"memory", memory},
              {"parts", flags.parts},
              {"sizes", sizes},
              {"last_over_first", wall},
              {"cpu_last_over_first", cpu}};
}

}  // namespace

PORTOLAN_BENCHMARK("graphbuild", "link graphs built from link logs: nanoseconds per link, memory and traffic by size",
                   RunGraphBuildBench);

}  // namespace portolan::bench
