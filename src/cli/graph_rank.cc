// portolan graph rank: the first nodes of a graph by how much others link to them.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"
#include "follow/graph_names.h"
#include "graph/hyper_ball.h"
#include "graph/hyper_log_log.h"
#include "graph/page_rank.h"

namespace portolan {
namespace {

struct RankFlags {
  std::string dir;
  std::string by;
  GraphLevel level = GraphLevel::kPages;
  uint64_t limit = 20;
  double damping = 0.85;
  double tolerance = 1e-9;
  uint32_t max_iterations = 200;
  unsigned log2m = 0;  // 0: by the room
  uint64_t memory = 0;
  bool json = false;
  bool csv = false;
};

struct Ranking {
  std::vector<double> scores;  // per node
  std::string how;             // a sentence for people
};

Result<Ranking> RankByPageRank(const GraphFiles& files, const RankFlags& flags, GraphWork& work) {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, files.Properties(flags.level, GraphDirection::kForward));
  RETURN_IF_ERROR(RequireGraphMemory("PageRank", properties.nodes * (graph::kPageRankBytesPerNode + 4), flags.memory,
                                     "--by indegree takes less"));
  ASSIGN_OR_RETURN(const graph::BvGraph graph, files.Graph(flags.level, GraphDirection::kForward));
  graph::PageRankOptions options{
      .damping = flags.damping, .tolerance = flags.tolerance, .max_iterations = flags.max_iterations};
  options.on_iteration = [&](uint32_t iteration, double residual) {
    static_cast<void>(work.Tell(fmt::format("PageRank: last change {:.1e}, iteration", residual), iteration));
  };
  ASSIGN_OR_RETURN(graph::PageRankResult ranks, graph::PageRank(graph, options));
  const double error = ranks.residual * flags.damping / (1 - flags.damping);
  Ranking ranking{.scores = std::move(ranks.ranks), .how = {}};
  ranking.how = fmt::format(
      "PageRank with damping {}, {} iterations{}: all ranks together are 1 and differ from the exact ones by at most "
      "{:.1e} in sum. The rank of nodes without links is spread over all nodes.",
      flags.damping, ranks.iterations, ranks.converged ? "" : " (--max-iterations ended it)", error);
  return ranking;
}

Result<Ranking> RankByHarmonic(const GraphFiles& files, const RankFlags& flags, GraphWork& work) {
  // Balls of the transpose hold what reaches a node.
  ASSIGN_OR_RETURN(const graph::BvGraph turned, files.Graph(flags.level, GraphDirection::kTransposed));
  const uint64_t scores = 12 * turned.nodes() + turned.offsets().bits() / 8;  // and the order in which they are listed
  const uint64_t room = flags.memory > scores ? flags.memory - scores : 0;
  const unsigned log2m = flags.log2m != 0 ? flags.log2m : ChooseLog2m(turned.nodes(), room);
  RETURN_IF_ERROR(RequireGraphMemory("harmonic centrality", scores + graph::HyperBallBytes(turned.nodes(), log2m),
                                     flags.memory,
                                     log2m > graph::kMinLog2m ? "try --precision 4" : "--by pagerank takes less"));
  graph::HyperBallOptions options{.log2m = log2m};
  options.on_iteration = [&](uint32_t iteration, uint64_t changed) {
    static_cast<void>(work.Tell(fmt::format("distance {}, counters that changed", iteration), changed));
  };
  ASSIGN_OR_RETURN(const graph::HyperBallResult balls, graph::HyperBall(turned, options));
  Ranking ranking{.scores = {balls.harmonic.begin(), balls.harmonic.end()}, .how = {}};
  ranking.how = fmt::format(
      "Harmonic centrality: the sum of 1 / distance over all nodes that reach the node; estimated by HyperBall with "
      "2^{} "
      "registers, standard error {:.1f} %.",
      log2m, 100 * graph::HyperLogLogError(log2m));
  return ranking;
}

Result<Ranking> RankByIndegree(const GraphFiles& files, const RankFlags& flags, GraphWork& work) {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, files.Properties(flags.level, GraphDirection::kForward));
  RETURN_IF_ERROR(RequireGraphMemory("in-degrees", properties.nodes * 12, flags.memory, ""));
  ASSIGN_OR_RETURN(graph::GraphScan scan, files.Scan(flags.level, GraphDirection::kTransposed));
  Ranking ranking;
  while (scan.Next()) {
    ranking.scores.push_back(static_cast<double>(scan.successors().size()));
    if (scan.node() % (1 << 20) == 0) RETURN_IF_ERROR(work.Tell("in-degrees: nodes", scan.node()));
  }
  RETURN_IF_ERROR(scan.status());
  ranking.how = fmt::format("In-degree: how many {} link to it.",
                            files.HasNames(flags.level) ? GraphLevelName(flags.level) : "nodes");
  return ranking;
}

// The highest scores first, of equal ones the first node.
std::vector<graph::NodeId> FirstByScore(const std::vector<double>& scores, uint64_t limit) {
  std::vector<graph::NodeId> order(scores.size());
  std::iota(order.begin(), order.end(), graph::NodeId{0});
  const size_t count = limit == 0 ? order.size() : static_cast<size_t>(std::min<uint64_t>(limit, order.size()));
  const auto ahead = [&](graph::NodeId a, graph::NodeId b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(), ahead);
  order.resize(count);
  return order;
}

Status PrintRanking(const GraphFiles& files, const RankFlags& flags, const Ranking& ranking) {
  const std::vector<graph::NodeId> order = FirstByScore(ranking.scores, flags.limit);
  ASSIGN_OR_RETURN(const GraphNodeNames names, GraphNodeNames::Open(files, flags.level));
  if (flags.csv) fmt::print("rank,node,name,score\n");
  std::string field;
  for (size_t i = 0; i < order.size(); ++i) {
    const graph::NodeId node = order[i];
    const double score = ranking.scores[node];
    // As short as the number that it is: harmonic centralities are floats.
    const std::string exact =
        flags.by == "harmonic" ? fmt::format("{}", static_cast<float>(score)) : fmt::format("{}", score);
    if (flags.json) {
      ASSIGN_OR_RETURN(const std::string name, names.JsonOf(node));
      fmt::print("{{\"rank\":{},\"node\":{},\"name\":{},\"score\":{}}}\n", i + 1, node, names.named() ? name : "null",
                 exact);
    } else if (flags.csv) {
      field.clear();
      if (names.named()) {
        ASSIGN_OR_RETURN(const std::string name, names.Of(node));
        AppendCsv(field, name);
      }
      fmt::print("{},{},{},{}\n", i + 1, node, field, exact);
    } else {
      ASSIGN_OR_RETURN(const std::string name, names.Of(node));
      fmt::print("{:>6}  {:>14}  {}{}\n", i + 1,
                 flags.by == "indegree"   ? fmt::format("{:.0f}", score)
                 : flags.by == "harmonic" ? fmt::format("{:.2f}", score)
                                          : fmt::format("{:.4e}", score),
                 names.named() ? "" : "node ", Printable(name));
    }
  }
  if (!flags.json && !flags.csv)
    fmt::print("{} of {} {}. {}\n", order.size(), ranking.scores.size(),
               names.named() ? GraphLevelName(flags.level) : "nodes", ranking.how);
  return {};
}

Status RankGraph(const RankFlags& flags, GraphWork& work) {
  ASSIGN_OR_RETURN(const auto files, OpenGraphOf(flags.dir));
  RETURN_IF_ERROR(RequireGraphLevel(*files, flags.dir, flags.level));
  Result<Ranking> ranking = flags.by == "pagerank"   ? RankByPageRank(*files, flags, work)
                            : flags.by == "harmonic" ? RankByHarmonic(*files, flags, work)
                                                     : RankByIndegree(*files, flags, work);
  if (!ranking) return std::unexpected(ranking.error());
  return PrintRanking(*files, flags, *ranking);
}

}  // namespace

int RunGraphRank(int argc, char** argv) {
  VerbApp app("graph rank", "Lists the nodes of a graph that others link to most.");
  RankFlags flags;
  std::string memory;
  app->add_option("dir", flags.dir, "The crawl's directory, or that of an imported graph")
      ->required()
      ->type_name("DIR");
  app->add_option("--by", flags.by, "pagerank, harmonic (harmonic centrality) or indegree")
      ->required()
      ->type_name("BY")
      ->check(CLI::IsMember({"pagerank", "harmonic", "indegree"}));
  const GraphLevelFlags level(app);
  app->add_option("--limit", flags.limit, "At most so many; 0: all")->type_name("N")->capture_default_str();
  app->add_option("--damping", flags.damping, "pagerank: the share of surfers that follow a link; 0 to below 1")
      ->type_name("SHARE")
      ->capture_default_str();
  app->add_option("--tolerance", flags.tolerance, "pagerank: ends when the ranks change by less than this, in sum")
      ->type_name("SUM")
      ->capture_default_str();
  app->add_option("--max-iterations", flags.max_iterations, "pagerank: ends after so many at the latest")
      ->type_name("N")
      ->capture_default_str();
  AddPrecisionFlag(app, flags.log2m);
  AddGraphMemoryFlag(app, memory);
  auto* const json = app->add_flag("--json", flags.json, "As one JSON object per line");
  app->add_flag("--csv", flags.csv, "As CSV: rank,node,name,score")->excludes(json);
  app.Footer(
      "PageRank: how often a surfer comes by who follows a random link with probability SHARE and else goes to any "
      "node.\n"
      "From a node without links it goes to any node, so that the rank of such nodes is spread evenly over all.\n"
      "Memory per node: pagerank 20 bytes, indegree 12, harmonic 2 * 2^BITS + 16.25.\n\n"
      "Examples:\n"
      "  portolan graph rank crawl-example.org --by pagerank\n"
      "  portolan graph rank crawl-example.org --by harmonic --domain --limit 100 --csv");
  if (const auto code = app.Parse(argc, argv)) return *code;
  flags.level = level.level();
  flags.memory = memory.empty() ? DefaultGraphMemory() : *ParseBytes(memory);
  GraphWork work(app.quiet(), GraphWork::Stop::kEndsTheProgram);
  const Status ranked = RankGraph(flags, work);
  return ranked ? kExitOk : Complain(ranked.error());
}

}  // namespace portolan
