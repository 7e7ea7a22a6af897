// portolan graph out and in: the links of one page, host or domain.

#include "follow/graph_look.h"

#include <fmt/core.h>

#include <optional>
#include <string>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"

namespace portolan {
namespace {

struct LookFlags {
  std::string dir;
  std::string url;
  GraphLevel level = GraphLevel::kPages;
  bool json = false;
  uint64_t limit = 1000;
};

Result<int> PrintLinks(const LookFlags& flags, GraphDirection direction) {
  ASSIGN_OR_RETURN(const auto files, OpenGraphOf(flags.dir));
  RETURN_IF_ERROR(RequireGraphLevel(*files, flags.dir, flags.level));
  ASSIGN_OR_RETURN(const auto view, LinkView::Open(*files, flags.level, direction));
  ASSIGN_OR_RETURN(GraphLook look, GraphLook::Open(*view));
  ASSIGN_OR_RETURN(const GraphLook::Found found, look.Find(flags.url));
  if (!found.node) {
    std::string what = fmt::format("{} is not in the graph", Printable(found.name));
    if (!look.named()) what = fmt::format("node {}, which has {} nodes", what, view->nodes());
    if (!found.nearest.empty()) what += "; the nearest host in it is " + Printable(found.nearest);
    PrintError(what);
    return kExitVerdict;
  }
  const bool forward = direction == GraphDirection::kForward;
  const std::string own = look.JsonOf(found.name);
  uint64_t printed = 0;
  const auto print = [&](const GraphLook::Link& link) {
    ++printed;
    if (flags.json) {
      const std::string name = look.JsonOf(link.name);
      fmt::print(R"({{"source":{},"target":{})", forward ? own : name, forward ? name : own);
      if (look.has_texts()) fmt::print(R"(,"anchor":{},"flags":{})", JsonQuote(link.anchor), JsonQuote(link.flags));
      fmt::print("}}\n");
    } else {
      fmt::print("{}{}{}\n", Printable(link.name),
                 link.anchor.empty() ? "" : fmt::format("  \"{}\"", Printable(link.anchor)),
                 link.flags.empty() ? "" : fmt::format("  [{}]", link.flags));
    }
    return true;
  };
  ASSIGN_OR_RETURN(const uint64_t total, look.Each(*found.node, 0, flags.limit, print));
  if (printed < total) {
    fmt::print(stderr, "{} of {} links; --limit 0 prints all\n", printed, total);
  } else if (total == 0 && !flags.json) {
    fmt::print(stderr, "{}{} {}\n", look.named() ? "" : "node ", Printable(found.name),
               forward ? "has no links in the graph" : "has no links to it");
  }
  return kExitOk;
}

int RunLook(int argc, char** argv, GraphDirection direction) {
  const bool forward = direction == GraphDirection::kForward;
  VerbApp app(forward ? "graph out" : "graph in",
              forward
                  ? "Lists what a page links to, with anchor text and flags, by the graph that 'graph build' made."
                  : "Lists what links to a page, with anchor text and flags, by the graph that 'graph build' made.");
  LookFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_option("url", flags.url,
                  "The URL; with --host or --domain also a name; of an imported graph the number of a node")
      ->required()
      ->type_name("URL");
  const GraphLevelFlags level(app);
  app->add_option("--limit", flags.limit, "At most so many; 0: all")->type_name("N")->capture_default_str();
  app->add_flag("--json", flags.json, "As one JSON object per line");
  app.Footer(
      fmt::format("The exit code is 1 if the graph has no such page, host or domain.\n\nExamples:\n"
                  "  portolan graph {0} crawl-example.org https://example.org/about\n"
                  "  portolan graph {0} crawl-example.org example.org --domain\n"
                  "  portolan graph {0} cnr-2000 17",
                  forward ? "out" : "in"));
  if (const auto code = app.Parse(argc, argv)) return *code;
  flags.level = level.level();
  const auto code = PrintLinks(flags, direction);
  return code ? *code : Complain(code.error());
}

}  // namespace

int RunGraphOut(int argc, char** argv) { return RunLook(argc, argv, GraphDirection::kForward); }
int RunGraphIn(int argc, char** argv) { return RunLook(argc, argv, GraphDirection::kTransposed); }

}  // namespace portolan
