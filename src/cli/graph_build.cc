// portolan graph build and check.

#include "follow/graph_build.h"

#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_sources.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"
#include "io/process.h"

namespace portolan {
namespace {

// Of several shards: which were not there at the last build, and which are not any more.
void TellOfShards(const GraphBuildResult& built) {
  for (const std::string& shard : built.new_shards) fmt::print(stderr, "{}: is new in the graph\n", shard);
  for (const std::string& shard : built.gone_shards) {
    fmt::print(stderr, "{}: is not here any more; its links up to the last time that it was stay in the graph\n",
               shard);
  }
}

std::string ShardsJson(const CrawlSources& crawl, const GraphBuildResult& built) {
  const auto list = [](const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += fmt::format("{}\"{}\"", out.empty() ? "" : ",", name);
    return "[" + out + "]";
  };
  if (!crawl.several()) return {};
  return fmt::format(R"(,"shards":{},"new_shards":{},"gone_shards":{})", crawl.shards.size(), list(built.new_shards),
                     list(built.gone_shards));
}

}  // namespace

int RunGraphBuild(int argc, char** argv) {
  VerbApp app("graph build",
              "Builds the link graph of a crawl that was made with outputs.links, in DIR/graph, or adds to it what\n"
              "is new since the last time. Reads what the last checkpoint holds, whether the crawl runs or not.");
  std::string dir;
  std::vector<std::string> also;
  std::string memory = "256M";
  std::string priority = "auto";
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--also", also, "Another node's directory, mounted or copied here; several: several times")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_option("--memory", memory, "How much memory it may take; more than that is sorted on disk")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  app->add_option("--priority", priority,
                  "low: works when others do not want to (processors and disks); auto: low while the crawl is running")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "low", "normal"}));
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Every URL in the link log is a page of the graph, fetched or not. The last graph stays valid until the new\n"
      "one is complete, also after a crash or on a full disk.\n\n"
      "Of a cluster's shards (docs/cluster.md) one graph is made, of all whose directories are in DIR, or in those of\n"
      "--also. Shards that were read once and are not there now stay in it.\n\n"
      "Examples:\n"
      "  portolan graph build crawl-example.org --memory 512M\n"
      "  portolan graph build /srv/crawl --also /mnt/beta/crawl --also /mnt/gamma/crawl");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto crawl = OpenCrawlSources(dir, also);
  if (!crawl) return Complain(crawl.error());
  const OutputSources links = crawl->LinkLogs();
  const auto committed = FindCommitted(Env::Posix(), links);
  if (!committed) return Complain(committed.error());
  if (committed->empty()) {
    PrintError(
        fmt::format("{}: this crawl has no link log; start the crawl with --set outputs.links=true to get one", dir));
    return kExitBadInput;
  }
  const bool low = priority == "low" || (priority == "auto" && crawl->AnyRuns());
  if (low) {
    // Not a reason to stop: the graph is the same, only sooner.
    if (const Status lowered = LowerPriority(); !lowered) {
      fmt::print(stderr, "{}; the build goes on without that\n", lowered.error().message());
    }
  }
  GraphBuildOptions build;
  build.memory = *ParseBytes(memory);
  const auto begin = std::chrono::steady_clock::now();
  auto told = begin;
  build.progress = [&](std::string_view step, uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (app.quiet() || now - told < std::chrono::seconds(2)) return;
    told = now;
    fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  };
  const auto built = BuildGraph(Env::Posix(), links, GraphDirOf(dir), build);
  if (!built) return Complain(built.error());
  if (!app.quiet()) TellOfShards(*built);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto files = OpenGraphOf(dir);
  if (!files) return Complain(files.error());
  std::string counts;
  for (const GraphLevel level : kGraphLevels) {
    const auto properties = (*files)->Properties(level, GraphDirection::kForward);
    if (!properties) return Complain(properties.error());
    counts += json ? fmt::format(R"(,"{}":{},"{}_links":{})", GraphLevelName(level), properties->nodes,
                                 GraphLevelName(level), properties->arcs)
                   : fmt::format("  {:<8} {}, {} links\n", GraphLevelName(level), properties->nodes, properties->arcs);
  }
  if (json) {
    fmt::print(
        R"({{"generation":{},"built":{},"new_records":{},"new_links":{},"left_out":{},"priority":"{}","seconds":{:.3f}{}{}}})",
        built->generation, built->built, built->new_records, built->new_links, built->left_out, low ? "low" : "normal",
        seconds, counts, ShardsJson(*crawl, *built));
    fmt::print("\n");
  } else if (built->built) {
    fmt::print("{}: generation {}, with {} new page records and {} new links, in {}\n{}", dir, built->generation,
               built->new_records, built->new_links, FormatDuration(seconds), counts);
  } else {
    fmt::print("{}: generation {} is up to date: the link log has nothing new\n{}", dir, built->generation, counts);
  }
  return kExitOk;
}

int RunGraphCheck(int argc, char** argv) {
  VerbApp app("graph check", "Compares every file of a crawl's link graph with its checksum.");
  std::string dir;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto files = OpenGraphOf(dir);
  const Status status = files ? (*files)->Verify() : Status(std::unexpected(files.error()));
  if (!status) {
    const int code = Complain(status.error());
    return status.error().code() == ErrorCode::kCorrupt ? kExitVerdict : code;
  }
  fmt::print("{}: generation {}: {} files are intact\n", dir, (*files)->generation(), (*files)->current().files.size());
  return kExitOk;
}

}  // namespace portolan
