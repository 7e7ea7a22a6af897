// portolan graph stats: what a graph looks like.

#include "cli/graph_stats.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <queue>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"
#include "graph/bow_tie.h"
#include "graph/hyper_log_log.h"
#include "graph/strong_components.h"

namespace portolan {
namespace {

struct StatsFlags {
  std::string dir;
  GraphLevel level = GraphLevel::kPages;
  uint64_t top = 5;
  unsigned log2m = 0;  // 0: by the room
  bool no_bow_tie = false;
  bool no_distances = false;
  uint64_t memory = 0;
};

// The degree that `part` of the nodes do not exceed.
uint64_t DegreeQuantile(const graph::DegreeStats& stats, double part) {
  const auto wanted = static_cast<uint64_t>(part * static_cast<double>(stats.nodes));
  uint64_t nodes = 0;
  for (const auto& [degree, count] : stats.counts) {
    nodes += count;
    if (nodes > wanted) return degree;
  }
  return stats.max;
}

// The `count` longest lists, the first of equal ones; none of length 0.
Result<std::vector<GraphStatsTop>> LongestLists(graph::GraphScan scan, uint64_t count) {
  struct Ahead {
    bool operator()(const GraphStatsTop& a, const GraphStatsTop& b) const {
      return a.degree != b.degree ? a.degree > b.degree : a.node < b.node;
    }
  };
  std::priority_queue<GraphStatsTop, std::vector<GraphStatsTop>, Ahead> heap;  // the last of them is on top
  while (scan.Next()) {
    const GraphStatsTop candidate{.node = scan.node(), .degree = scan.successors().size(), .name = {}};
    if (candidate.degree == 0) continue;
    if (heap.size() == count && (count == 0 || !Ahead()(candidate, heap.top()))) continue;
    heap.push(candidate);
    if (heap.size() > count) heap.pop();
  }
  RETURN_IF_ERROR(scan.status());
  std::vector<GraphStatsTop> top;
  for (; !heap.empty(); heap.pop()) top.push_back(heap.top());
  std::ranges::reverse(top);
  return top;
}

Result<GraphStatsSide> MeasureSide(const GraphFiles& files, const StatsFlags& flags, GraphDirection direction,
                                   const graph::BvGraph& graph, const GraphNodeNames& names) {
  GraphStatsSide side;
  ASSIGN_OR_RETURN(side.degrees, graph::MeasureDegrees(graph));
  ASSIGN_OR_RETURN(const std::string_view bytes, files.Bytes(GraphBaseName(flags.level, direction) + ".graph"));
  side.bytes = bytes.size();
  side.median = DegreeQuantile(side.degrees, 0.5);
  side.p90 = DegreeQuantile(side.degrees, 0.9);
  side.p99 = DegreeQuantile(side.degrees, 0.99);
  ASSIGN_OR_RETURN(side.top, LongestLists(graph.Scan(), flags.top));
  for (GraphStatsTop& top : side.top) {
    ASSIGN_OR_RETURN(top.name, names.Of(top.node));
  }
  return side;
}

uint64_t OnesIn(std::string_view bytes) {
  uint64_t ones = 0;
  for (const char byte : bytes) ones += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(byte)));
  return ones;
}

Result<GraphStatsParts> MeasureBowTie(const graph::BvGraph& graph, const graph::BvGraph& turned, GraphWork& work) {
  ASSIGN_OR_RETURN(const graph::StrongComponents components, graph::FindStrongComponents(graph, [&](uint64_t visited) {
                     static_cast<void>(work.Tell("strongly connected components: nodes visited", visited));
                   }));
  GraphStatsParts parts;
  parts.components = components.sizes.size();
  if (parts.components > 0) {
    const graph::NodeId largest = components.Largest();
    for (graph::NodeId i = 0; i < components.sizes.size(); ++i) {
      if (i != largest) parts.second = std::max<uint64_t>(parts.second, components.sizes[i]);
    }
  }
  ASSIGN_OR_RETURN(const graph::BowTie tie, graph::FindBowTie(graph, turned, components));
  parts.core = tie.core;
  parts.in = tie.in;
  parts.out = tie.out;
  parts.tendrils = tie.tendrils;
  parts.disconnected = tie.disconnected;
  return parts;
}

Result<GraphStatsDistances> MeasureDistances(const graph::BvGraph& graph, unsigned log2m, GraphWork& work) {
  graph::HyperBallOptions options{.log2m = log2m};
  options.on_iteration = [&](uint32_t iteration, uint64_t changed) {
    static_cast<void>(work.Tell(fmt::format("distance {}, counters that changed", iteration), changed));
  };
  ASSIGN_OR_RETURN(const graph::HyperBallResult balls, graph::HyperBall(graph, options));
  return GraphStatsDistances{.stats = graph::DistancesOf(balls.neighbourhood),
                             .log2m = log2m,
                             .error = graph::HyperLogLogError(log2m),
                             .complete = balls.complete};
}

// Two sets of offsets, and the larger of the two searches, which do not run at one time.
uint64_t BowTieBytes(uint64_t nodes) { return nodes * (graph::kStrongComponentsBytesPerNode + 4); }

Result<GraphStats> MeasureGraph(const StatsFlags& flags, GraphWork& work) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const auto files, OpenGraphOf(flags.dir));
  RETURN_IF_ERROR(RequireGraphLevel(*files, flags.dir, flags.level));
  ASSIGN_OR_RETURN(const graph::BvGraph graph, files->Graph(flags.level, GraphDirection::kForward));
  ASSIGN_OR_RETURN(const graph::BvGraph turned, files->Graph(flags.level, GraphDirection::kTransposed));
  ASSIGN_OR_RETURN(const GraphNodeNames names, GraphNodeNames::Open(*files, flags.level));
  GraphStats stats{.dir = flags.dir, .generation = files->generation(), .level = flags.level, .named = names.named()};

  const uint64_t offsets = (graph.offsets().bits() + turned.offsets().bits()) / 8;
  const uint64_t room = flags.memory > offsets ? flags.memory - offsets : 0;
  const unsigned log2m = flags.log2m != 0 ? flags.log2m : ChooseLog2m(graph.nodes(), room);
  const uint64_t tie = flags.no_bow_tie ? 0 : BowTieBytes(graph.nodes());
  const uint64_t balls = flags.no_distances ? 0 : graph::HyperBallBytes(graph.nodes(), log2m);
  stats.memory = offsets + std::max(tie, balls);
  RETURN_IF_ERROR(RequireGraphMemory(
      "measuring distances", offsets + balls, flags.memory,
      log2m > graph::kMinLog2m ? "try --precision 4 or --no-distances" : "--no-distances leaves them out"));
  RETURN_IF_ERROR(RequireGraphMemory("finding the bow tie", offsets + tie, flags.memory, "--no-bow-tie leaves it out"));

  ASSIGN_OR_RETURN(stats.out, MeasureSide(*files, flags, GraphDirection::kForward, graph, names));
  RETURN_IF_ERROR(work.Tell("degrees: links counted", stats.out.degrees.arcs));
  ASSIGN_OR_RETURN(stats.in, MeasureSide(*files, flags, GraphDirection::kTransposed, turned, names));
  for (const GraphDirection direction : {GraphDirection::kForward, GraphDirection::kTransposed}) {
    ASSIGN_OR_RETURN(const std::string_view bytes, files->Bytes(GraphBaseName(flags.level, direction) + ".offsets"));
    stats.offset_bytes += bytes.size();
  }
  if (flags.level == GraphLevel::kPages && names.named()) {
    ASSIGN_OR_RETURN(const std::string_view bits, files->Bytes("pages.fetched"));
    stats.fetched = OnesIn(bits);
  }
  if (!flags.no_bow_tie) {
    ASSIGN_OR_RETURN(stats.parts, MeasureBowTie(graph, turned, work));
  }
  if (!flags.no_distances) {
    ASSIGN_OR_RETURN(stats.distances, MeasureDistances(graph, log2m, work));
  }
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return stats;
}

}  // namespace

int RunGraphStats(int argc, char** argv) {
  VerbApp app("graph stats",
              "What a graph looks like: how many links nodes have, with the power laws that fit best; the bow tie\n"
              "around its largest strongly connected component; how far nodes are from each other.");
  StatsFlags flags;
  std::string memory;
  bool json = false;
  app->add_option("dir", flags.dir, "The crawl's directory, or that of an imported graph")
      ->required()
      ->type_name("DIR");
  const GraphLevelFlags level(app);
  app->add_option("--top", flags.top, "How many nodes with the most links to name")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  AddPrecisionFlag(app, flags.log2m);
  app->add_flag("--no-bow-tie", flags.no_bow_tie, "Without components and bow tie (25 bytes of memory per node)");
  app->add_flag("--no-distances", flags.no_distances, "Without distances, which take the most memory and time");
  AddGraphMemoryFlag(app, memory);
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Distances are estimates by HyperBall; the text says their error. Every page that the crawl knows is a node,\n"
      "fetched or not, and a page that was not fetched has no links out.\n\n"
      "Examples:\n"
      "  portolan graph stats crawl-example.org\n"
      "  portolan graph stats crawl-example.org --domain --json");
  if (const auto code = app.Parse(argc, argv)) return *code;
  flags.level = level.level();
  flags.memory = memory.empty() ? DefaultGraphMemory() : *ParseBytes(memory);
  GraphWork work(app.quiet(), GraphWork::Stop::kEndsTheProgram);
  const auto stats = MeasureGraph(flags, work);
  if (!stats) return Complain(stats.error());
  fmt::print("{}", json ? GraphStatsJson(*stats) + "\n" : GraphStatsText(*stats));
  return kExitOk;
}

}  // namespace portolan
