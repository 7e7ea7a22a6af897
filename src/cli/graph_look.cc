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
  bool host = false;
  bool domain = false;
  bool json = false;
  uint64_t limit = 1000;
};

Result<int> PrintLinks(const LookFlags& flags, GraphDirection direction) {
  const GraphLevel level = flags.domain ? GraphLevel::kDomains : flags.host ? GraphLevel::kHosts : GraphLevel::kPages;
  ASSIGN_OR_RETURN(const std::string key, KeyOfQuestion(flags.url, level));
  ASSIGN_OR_RETURN(const auto files, OpenGraphOf(flags.dir));
  ASSIGN_OR_RETURN(const auto view, LinkView::Open(*files, level, direction));
  ASSIGN_OR_RETURN(GraphLook look, GraphLook::Open(*view));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> node, look.Find(key));
  if (!node) {
    const std::string nearest = NearestHost(*files, key);
    PrintError(fmt::format("{} is not in the graph{}", Printable(NameOfNode(level, key)),
                           nearest.empty() ? "" : fmt::format("; the nearest host in it is {}", Printable(nearest))));
    return kExitVerdict;
  }
  const bool forward = direction == GraphDirection::kForward;
  const std::string own = NameOfNode(level, key);
  uint64_t printed = 0;
  const auto print = [&](const GraphLook::Link& link) {
    ++printed;
    if (flags.json) {
      fmt::print(R"({{"source":{},"target":{})", JsonQuote(forward ? own : link.name),
                 JsonQuote(forward ? link.name : own));
      if (look.has_texts()) fmt::print(R"(,"anchor":{},"flags":{})", JsonQuote(link.anchor), JsonQuote(link.flags));
      fmt::print("}}\n");
    } else {
      fmt::print("{}{}{}\n", Printable(link.name),
                 link.anchor.empty() ? "" : fmt::format("  \"{}\"", Printable(link.anchor)),
                 link.flags.empty() ? "" : fmt::format("  [{}]", link.flags));
    }
    return true;
  };
  ASSIGN_OR_RETURN(const uint64_t total, look.Each(*node, 0, flags.limit, print));
  if (printed < total) {
    fmt::print(stderr, "{} of {} links; --limit 0 prints all\n", printed, total);
  } else if (total == 0 && !flags.json) {
    fmt::print(stderr, "{} {}\n", Printable(own), forward ? "has no links in the graph" : "has no links to it");
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
  app->add_option("url", flags.url, "The URL; with --host or --domain also a name")->required()->type_name("URL");
  app->add_flag("--host", flags.host, "Links between hosts");
  app->add_flag("--domain", flags.domain, "Links between pay-level domains")->excludes("--host");
  app->add_option("--limit", flags.limit, "At most so many; 0: all")->type_name("N")->capture_default_str();
  app->add_flag("--json", flags.json, "As one JSON object per line");
  app.Footer(
      fmt::format("The exit code is 1 if the graph has no such page, host or domain.\n\nExamples:\n"
                  "  portolan graph {0} crawl-example.org https://example.org/about\n"
                  "  portolan graph {0} crawl-example.org example.org --domain",
                  forward ? "out" : "in"));
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto code = PrintLinks(flags, direction);
  return code ? *code : Complain(code.error());
}

}  // namespace

int RunGraphOut(int argc, char** argv) { return RunLook(argc, argv, GraphDirection::kForward); }
int RunGraphIn(int argc, char** argv) { return RunLook(argc, argv, GraphDirection::kTransposed); }

}  // namespace portolan
