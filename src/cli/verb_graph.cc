// portolan graph: the link graph of a crawl: building it, looking into it, and exchanging it. Each part has a parser
// of its own, so that `portolan graph out --help` shows what `out` takes.

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/graph_parts.h"
#include "cli/verbs.h"
#include "io/env.h"

namespace portolan {
namespace {

struct GraphPart {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};
constexpr std::array kGraphParts = {
    GraphPart{"build", "build the graph of a crawl's links, or bring it up to date", &RunGraphBuild},
    GraphPart{"out", "list what a page, host or domain links to", &RunGraphOut},
    GraphPart{"in", "list what links to a page, host or domain", &RunGraphIn},
    GraphPart{"stats", "degrees, bow tie and distances of a graph", &RunGraphStats},
    GraphPart{"rank", "list the first by PageRank, harmonic centrality or in-degree", &RunGraphRank},
    GraphPart{"export", "write a graph for other programs", &RunGraphExport},
    GraphPart{"import", "take a graph of WebGraph's format as that of a directory", &RunGraphImport},
    GraphPart{"check", "check that the files of a graph are intact", &RunGraphCheck},
};

void PrintGraphPage() {
  std::string page =
      "The link graph of a crawl that was made with outputs.links: pages, hosts and domains, in both directions.\n"
      "Graphs of WebGraph's format can be imported, and this one exported.\n\n"
      "usage: portolan graph PART [FLAGS] DIR …\n       portolan graph PART --help\n\n";
  for (const GraphPart& part : kGraphParts) page += fmt::format("  {:<7} {}\n", part.name, part.summary);
  page +=
      "\nExamples:\n"
      "  portolan graph build crawl-example.org\n"
      "  portolan graph in crawl-example.org https://example.org/about\n"
      "  portolan graph out crawl-example.org example.org --host\n"
      "  portolan graph stats crawl-example.org --domain\n"
      "  portolan graph rank crawl-example.org --by harmonic --domain\n"
      "\ndocs/graph.md explains the graph, its sizes and its formats.\n";
  std::fwrite(page.data(), 1, page.size(), stdout);
}

}  // namespace

std::string GraphDirOf(const std::string& dir) { return JoinPath(dir, "graph"); }

Result<std::unique_ptr<GraphFiles>> OpenGraphOf(const std::string& dir) {
  return GraphFiles::Open(Env::Posix(), GraphDirOf(dir));
}

int RunGraph(int argc, char** argv) {
  if (argc < 2) {
    PrintGraphPage();
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    PrintGraphPage();
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const GraphPart& part : kGraphParts) {
    if (part.name == name) return part.run(argc - 1, argv + 1);
    names.push_back(part.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown part '{}' of graph: 'portolan graph' lists them", Printable(name))
                             : fmt::format("unknown part '{}' of graph: did you mean '{}'?", Printable(name), nearest));
  return kExitUsage;
}

}  // namespace portolan
