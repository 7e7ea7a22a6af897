// portolan graph out and in: the links of one page, host or domain.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"
#include "flow/output_records.h"
#include "follow/graph_names.h"
#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "follow/pair_sort.h"
#include "url/url.h"

namespace portolan {
namespace {

struct LookFlags {
  std::string dir;
  std::string url;
  GraphLevel level = GraphLevel::kPages;
  bool json = false;
  uint64_t limit = 1000;
};

// The key of what was asked for: a URL, or for hosts and domains a URL or a name.
Result<std::string> KeyOfQuestion(const std::string& text, GraphLevel level) {
  const bool has_scheme = text.find("://") != std::string::npos;
  const auto url = Url::Parse(has_scheme ? text : "http://" + text);
  if (!url || url->hostname().empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a URL", Printable(text)));
  }
  if (level != GraphLevel::kPages) return KeyOfHostName(url->hostname());
  std::string key;
  std::string href(url->href());
  if (const size_t fragment = href.find('#'); fragment != std::string::npos) href.resize(fragment);
  AppendNodeKey(href, key);
  return key;
}

// "www.example.org": the host of the graph that is next to the key in order.
std::string NearestHost(const GraphFiles& files, std::string_view key) {
  const auto hosts = files.Names(GraphLevel::kHosts);
  if (!hosts || hosts->size() == 0) return {};
  const std::string host(HostOfNodeKey(key));
  const auto at = hosts->LowerBound(host);
  std::string best;
  size_t most = 0;
  for (const int step : {-1, 0}) {
    if (!at || (step == -1 && *at == 0)) continue;
    const uint64_t number = *at - static_cast<uint64_t>(-step);
    std::string candidate;
    if (number >= hosts->size() || !hosts->Get(number, candidate)) continue;
    const auto shared = static_cast<size_t>(std::ranges::mismatch(candidate, host).in1 - candidate.begin());
    if (best.empty() || shared > most) {
      best = candidate;
      most = shared;
    }
  }
  return HostNameOfKey(best);
}

// The node that was asked for. Without one: what is said about that.
struct LookedUp {
  std::optional<uint64_t> node;
  std::string missing;
};

// Of a graph without names: a number.
Result<LookedUp> FindNumber(const GraphFiles& files, const LookFlags& flags) {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, files.Properties(flags.level, GraphDirection::kForward));
  uint64_t number = 0;
  const char* const end = flags.url.data() + flags.url.size();
  const auto [stop, error] = std::from_chars(flags.url.data(), end, number);
  if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': this graph was imported and has no URLs; give a node's number, 0 to {}",
                            Printable(flags.url), properties.nodes == 0 ? 0 : properties.nodes - 1));
  }
  if (error == std::errc() && number < properties.nodes) return LookedUp{.node = number, .missing = {}};
  return LookedUp{
      .node = {},
      .missing = fmt::format("node {} is not in the graph, which has {} nodes", flags.url, properties.nodes)};
}

Result<LookedUp> FindName(const GraphFiles& files, const LookFlags& flags) {
  ASSIGN_OR_RETURN(const std::string key, KeyOfQuestion(flags.url, flags.level));
  ASSIGN_OR_RETURN(const graph::UrlDictionary names, files.Names(flags.level));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> node, names.Find(key));
  if (node) return LookedUp{.node = node, .missing = {}};
  const std::string nearest = NearestHost(files, key);
  return LookedUp{.node = {},
                  .missing = fmt::format("{} is not in the graph{}", NodeNameOfKey(flags.level, key),
                                         nearest.empty() ? "" : "; the nearest host in it is " + nearest)};
}

Result<int> PrintLinks(const LookFlags& flags, GraphDirection direction) {
  const GraphLevel level = flags.level;
  ASSIGN_OR_RETURN(const auto files, OpenGraphOf(flags.dir));
  RETURN_IF_ERROR(RequireGraphLevel(*files, flags.dir, level));
  const bool named = files->HasNames(level);
  ASSIGN_OR_RETURN(const LookedUp found, named ? FindName(*files, flags) : FindNumber(*files, flags));
  if (!found.node) {
    PrintError(found.missing);
    return kExitVerdict;
  }
  const uint64_t node = *found.node;
  ASSIGN_OR_RETURN(const graph::BvGraph links, files->Graph(level, direction));
  graph::BvGraph::Cursor cursor(links);
  ASSIGN_OR_RETURN(const auto list, links.Successors(node, cursor));
  std::optional<LinkTexts> texts;
  if (level == GraphLevel::kPages && named) {
    ASSIGN_OR_RETURN(const std::string_view bytes, files->Bytes("pages.texts"));
    ASSIGN_OR_RETURN(texts, LinkTexts::Open(bytes));
  }
  ASSIGN_OR_RETURN(const GraphNodeNames names, GraphNodeNames::Open(*files, level));
  const bool forward = direction == GraphDirection::kForward;
  ASSIGN_OR_RETURN(const std::string own, names.Of(node));
  ASSIGN_OR_RETURN(const std::string own_json, names.JsonOf(node));
  uint64_t printed = 0;
  for (const graph::NodeId neighbour : list) {
    if (flags.limit > 0 && printed == flags.limit) break;
    ++printed;
    std::string_view text;
    if (texts) {
      ASSIGN_OR_RETURN(text, texts->Find(forward ? MakePair(node, neighbour) : MakePair(neighbour, node)));
    }
    const std::string words = text.empty() ? std::string() : LinkFlagNames(static_cast<uint8_t>(text[0]));
    const std::string_view anchor = text.empty() ? text : text.substr(1);
    if (flags.json) {
      ASSIGN_OR_RETURN(const std::string name, names.JsonOf(neighbour));
      fmt::print(R"({{"source":{},"target":{})", forward ? own_json : name, forward ? name : own_json);
      if (texts) fmt::print(R"(,"anchor":{},"flags":{})", JsonQuote(anchor), JsonQuote(words));
      fmt::print("}}\n");
    } else {
      ASSIGN_OR_RETURN(const std::string name, names.Of(neighbour));
      fmt::print("{}{}{}\n", Printable(name), anchor.empty() ? "" : fmt::format("  \"{}\"", Printable(anchor)),
                 words.empty() ? "" : fmt::format("  [{}]", words));
    }
  }
  if (printed < list.size()) {
    fmt::print(stderr, "{} of {} links; --limit 0 prints all\n", printed, list.size());
  } else if (list.empty() && !flags.json) {
    fmt::print(stderr, "{}{} {}\n", named ? "" : "node ", Printable(own),
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
