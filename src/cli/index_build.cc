// portolan index build.

#include "index/index_build.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_sources.h"
#include "cli/graph_parts.h"
#include "cli/index_parts.h"
#include "cli/verb_app.h"
#include "io/process.h"
#include "io/stop_signals.h"

namespace portolan {
namespace {

struct IndexBuildFlags {
  std::string dir;
  std::string memory = "256M";
  std::string priority = "auto";
  std::string interval = "10s";
  uint32_t parts = 0;
  bool follow = false;
  bool rebuild = false;
  bool compact = false;
  bool json = false;
};

// A pass with links costs a merge of the whole graph: beside a crawl the next one waits until this many times the
// pages are there.
constexpr double kGrowth = 1.25;

void AddIndexBuildFlags(VerbApp& app, IndexBuildFlags& flags) {
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--memory", flags.memory, "How much memory it may take; more makes building faster")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  app->add_option("--parts", flags.parts,
                  "Into how many databases pages are divided, by their hosts; by default one per shard of the crawl.\n"
                  "Of a node's directory: how many for each shard, by default one. Fixed when the index is begun")
      ->type_name("N")
      ->check(CLI::Range(1U, kMostParts));
  app->add_flag("--follow", flags.follow, "Go on while the crawl runs");
  app->add_option("--interval", flags.interval, "With --follow: how long to wait for new pages")
      ->type_name("TIME")
      ->capture_default_str()
      ->check(Checked(&ParseSeconds, "TIME"));
  app->add_flag("--rebuild", flags.rebuild,
                "Begin anew, beside the index that is there, which stays until the new one is complete");
  app->add_flag("--compact", flags.compact,
                "At the end write the databases anew, without the room that updates leave: smaller, quicker to search");
  app->add_option("--priority", flags.priority,
                  "low: works when others do not want to (processors and disks); auto: low while the crawl is running")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "low", "normal"}));
  app->add_flag("--json", flags.json, "As one JSON object");
  app.Footer(
      "It may be stopped or killed at any time, and goes on where it was. With --follow new pages are in the index\n"
      "some seconds after the crawl's checkpoint that holds them; texts of links follow whenever the index has\n"
      "grown by a quarter, and when the crawl ends.\n\n"
      "Examples:\n"
      "  portolan index build crawl-example.org --memory 1G\n"
      "  portolan index build crawl-example.org --follow\n"
      "  portolan index build crawl-example.org --rebuild --parts 4");
}

// A request to stop, which ends waiting.
class IndexStopRequest {
 public:
  void Ask() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    changed_.notify_all();
  }
  bool asked() const { return asked_; }
  // False: stop was asked for.
  bool Wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return asked_.load(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> asked_ = false;
};

// How often it is looked whether the crawl still runs.
constexpr std::chrono::milliseconds kLook(100);

Result<IndexSources> SourcesOf(const CrawlSources& crawl) {
  IndexSources sources{.text = crawl.TextLogs(), .log = crawl.CrawlLogs(), .links = {}};
  ASSIGN_OR_RETURN(const auto linked, FindCommitted(Env::Posix(), crawl.LinkLogs()));
  if (!linked.empty()) sources.links = crawl.LinkLogs();
  return sources;
}

// Passes until nothing is new and the crawl has ended; without --follow one.
Status FollowIndex(const IndexBuildFlags& flags, CrawlSources crawl, IndexBuilder& builder, IndexStopRequest& stop) {
  uint64_t linked_at = builder.documents();
  for (bool first = true;; first = false) {
    // Asked before the pass: what the crawl committed at its end is then in it.
    const bool running = flags.follow && crawl.AnyRuns();
    if (!first && crawl.several()) {
      // Shards come and go.
      ASSIGN_OR_RETURN(crawl, OpenCrawlSources(flags.dir));
      ASSIGN_OR_RETURN(const IndexSources sources, SourcesOf(crawl));
      RETURN_IF_ERROR(builder.Use(sources));
    }
    const bool links =
        first || !running || static_cast<double>(builder.documents()) > static_cast<double>(linked_at) * kGrowth;
    RETURN_IF_ERROR(builder.Pass(links));
    if (links) linked_at = std::max<uint64_t>(builder.documents(), 1);
    if (!running || stop.asked()) return {};
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(static_cast<int64_t>(1000 * *ParseSeconds(flags.interval)));
    while (crawl.AnyRuns() && std::chrono::steady_clock::now() < until) {
      if (!stop.Wait(kLook)) return {};
    }
  }
}

void PrintIndexCounts(const IndexBuildFlags& flags, const IndexBuilder& builder, uint64_t documents, uint32_t parts,
                      double seconds, bool low) {
  const IndexCounts& counts = builder.counts();
  if (flags.json) {
    fmt::print(
        R"({{"documents":{},"parts":{},"generation":{},"pages":{},"added":{},"replaced":{},"noindex":{},"gone":{},)"
        R"("relinked":{},"text_bytes":{},"commits":{},"stopped":{},"priority":"{}","seconds":{:.3f}}})"
        "\n",
        documents, parts, builder.generation(), counts.pages, counts.added, counts.replaced, counts.noindex,
        counts.gone, counts.relinked, counts.text_bytes, counts.commits, counts.stopped, low ? "low" : "normal",
        seconds);
    return;
  }
  if (counts.pages + counts.gone + counts.relinked == 0) {
    fmt::print("{}: the index is up to date: {} documents\n", flags.dir, documents);
    return;
  }
  fmt::print(
      "{}: {} documents{}; {} new, {} fetched again, {} gone, {} with changed links, {} not to be indexed, in {}\n",
      flags.dir, documents, parts > 1 ? fmt::format(" in {} parts", parts) : "", counts.added, counts.replaced,
      counts.gone, counts.relinked, counts.noindex, FormatDuration(seconds));
}

}  // namespace

int RunIndexBuild(int argc, char** argv) {
  VerbApp app(
      "index build",
      "Builds the search index of a crawl that was made with outputs.text, in DIR/index, or brings it up to\n"
      "date: new pages, pages fetched again, pages that are gone, and the texts of links to pages (from the link\n"
      "graph, which is built too if the crawl was made with outputs.links). Reads what the last checkpoint\n"
      "holds, whether the crawl runs or not.");
  IndexBuildFlags flags;
  AddIndexBuildFlags(app, flags);
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto crawl = OpenCrawlSources(flags.dir);
  if (!crawl) return Complain(crawl.error());
  IndexStopRequest stop;
  const StopSignals signals([&stop](int request) {
    stop.Ask();
    // A graph that is being built does not stop in between. Nothing is lost: all files are those of the last commit.
    if (request > 1) std::_Exit(kExitSystem);
  });
  auto text = FindCommitted(Env::Posix(), crawl->TextLogs());
  // A crawl that has just begun has no checkpoint with its logs yet.
  while (flags.follow && crawl->shards.front().config.outputs.text && (!text || text->empty()) && crawl->AnyRuns()) {
    if (!stop.Wait(kLook)) return kExitSystem;
    text = FindCommitted(Env::Posix(), crawl->TextLogs());
  }
  if (!text) return Complain(text.error());
  if (text->empty()) {
    PrintError(fmt::format("{}: this crawl has no text log; start the crawl with --set outputs.text=true to get one",
                           flags.dir));
    return kExitBadInput;
  }
  const auto sources = SourcesOf(*crawl);
  if (!sources) return Complain(sources.error());
  const bool low = flags.priority == "low" || (flags.priority == "auto" && crawl->AnyRuns());
  if (low) {
    // Not a reason to stop: the index is the same, only sooner.
    if (const Status lowered = LowerPriority(); !lowered) {
      fmt::print(stderr, "{}; the build goes on without that\n", lowered.error().message());
    }
  }
  IndexBuildOptions options{.index_dir = IndexDirOf(flags.dir), .graph_dir = GraphDirOf(flags.dir)};
  options.parts = flags.parts;
  options.default_parts = crawl->several() ? 1 : crawl->shards.front().wired.shards;
  options.memory = *ParseBytes(flags.memory);
  options.rebuild = flags.rebuild;
  const auto begin = std::chrono::steady_clock::now();
  auto told = begin;
  options.progress = [&](std::string_view step, uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (app.quiet() || now - told < std::chrono::seconds(2)) return;
    told = now;
    fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  };
  options.stop = [&stop] { return stop.asked(); };
  const auto builder = IndexBuilder::Open(Env::Posix(), *sources, options);
  if (!builder) return Complain(builder.error());
  if (!sources->links && !app.quiet()) {
    fmt::print(stderr, "{}: the crawl has no link log: the index is without texts of links and ranks\n", flags.dir);
  }
  for (const std::string& shard : (*builder)->absent()) {
    if (!app.quiet()) fmt::print(stderr, "{}: is not here any more; its pages stay in the index as they were\n", shard);
  }
  const Status followed = FollowIndex(flags, *crawl, **builder, stop);
  if (!followed) return Complain(followed.error());
  const uint64_t documents = (*builder)->documents();
  const uint32_t parts = (*builder)->parts();
  if (flags.compact && !(*builder)->counts().stopped) {
    if (const Status compacted = (*builder)->Compact(); !compacted) return Complain(compacted.error());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  PrintIndexCounts(flags, **builder, documents, parts, seconds, low);
  if ((*builder)->counts().stopped) {
    PrintError(fmt::format("stopped by a signal; 'portolan index build {}' goes on", flags.dir));
    return kExitSystem;
  }
  return kExitOk;
}

}  // namespace portolan
