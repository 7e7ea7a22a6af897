// portolan graph export and import: graphs for other programs, and from them.

#include "follow/graph_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_place.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"
#include "follow/graph_import.h"

namespace portolan {
namespace {

struct FormatName {
  std::string_view name;
  GraphExportFormat format;
  bool one_file;
};
constexpr std::array kFormatNames = {
    FormatName{"ascii", GraphExportFormat::kAscii, true},
    FormatName{"csv", GraphExportFormat::kCsv, true},
    FormatName{"names", GraphExportFormat::kNames, true},
    FormatName{"commoncrawl", GraphExportFormat::kCommonCrawl, false},
    FormatName{"webgraph", GraphExportFormat::kWebGraph, false},
};

constexpr std::string_view kExportFooter =
    "Formats:\n"
    "  ascii        WebGraph's ASCIIGraph: the number of nodes, then a line per node with its successors; WebGraph\n"
    "               wants it to be called BASE.graph-txt\n"
    "  csv          a line per link: source,target, by name, with --numbers by number\n"
    "  names        a line per node: its name; line n, counted from 0, is node n\n"
    "  commoncrawl  OUT-vertices.txt.gz and OUT-edges.txt.gz, of hosts or domains, as Common Crawl publishes them\n"
    "  webgraph     OUT.graph, OUT.offsets and OUT.properties, for WebGraph in Java or Rust\n\n"
    "ascii, csv and names are one file, which is packed if its name ends in .gz; - is standard output. A file that is\n"
    "there stays unless --force is given; an export that fails or is stopped leaves no file.\n\n"
    "Examples:\n"
    "  portolan graph export crawl-example.org links.csv.gz --format csv --host\n"
    "  portolan graph export crawl-example.org shelf/domains --format commoncrawl --domain\n"
    "  portolan graph export crawl-example.org - --format ascii | head";

Status WriteToStandardOutput(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  return Fail(ErrorCode::kIo, "cannot write to standard output");
}

}  // namespace

int RunGraphExport(int argc, char** argv) {
  VerbApp app("graph export", "Writes a graph in a format that other programs read.");
  std::string dir;
  std::string out;
  std::string format;
  std::string memory = "256M";
  GraphExportOptions options;
  bool transposed = false;
  bool json = false;
  std::vector<std::string> names;
  for (const FormatName& known : kFormatNames) names.emplace_back(known.name);
  app->add_option("dir", dir, "The crawl's directory, or that of an imported graph")->required()->type_name("DIR");
  app->add_option("out", out, "The file, or what the names of the files begin with")->required()->type_name("OUT");
  app->add_option("--format", format, "ascii, csv, names, commoncrawl or webgraph")
      ->required()
      ->type_name("FORMAT")
      ->check(CLI::IsMember(names));
  const GraphLevelFlags level(app);
  app->add_flag("--transposed", transposed, "The links turned round: lists say who links to a node");
  app->add_flag("--numbers", options.numbers, "csv: numbers of nodes in place of names");
  app->add_option("--memory", memory, "How much memory commoncrawl may take to sort; more than that is sorted on disk")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  app->add_flag("--force", options.replace, "Replace files that are there");
  app->add_flag("--json", json, "What was written, as one JSON object");
  app.Footer(std::string(kExportFooter));
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto chosen = std::ranges::find(kFormatNames, format, &FormatName::name);
  options.format = chosen->format;
  options.level = level.level();
  options.direction = transposed ? GraphDirection::kTransposed : GraphDirection::kForward;
  options.memory = *ParseBytes(memory);
  const bool to_stdout = out == "-";
  if (to_stdout && (!chosen->one_file || json)) {
    PrintError(json ? "--json and - for standard output do not go together"
                    : fmt::format("{} is several files; give what their names should begin with", format));
    return kExitUsage;
  }
  if (options.numbers && options.format != GraphExportFormat::kCsv) {
    PrintError("--numbers is for --format csv; the other formats have no choice");
    return kExitUsage;
  }
  if (to_stdout) options.sink = WriteToStandardOutput;

  const auto files = OpenGraphOf(dir);
  if (!files) return Complain(files.error());
  if (const Status level_there = RequireGraphLevel(**files, dir, options.level); !level_there) {
    return Complain(level_there.error());
  }
  const bool needs_names =
      options.format == GraphExportFormat::kNames || options.format == GraphExportFormat::kCommonCrawl;
  if (needs_names && !(*files)->HasNames(options.level)) {
    PrintError(fmt::format("{}: this graph was imported and has no names, which {} needs", dir, format));
    return kExitBadInput;
  }
  GraphWork work(app.quiet(), GraphWork::Stop::kIsAnError);
  options.progress = [&](std::string_view step, uint64_t done) { return work.Tell(step, done); };
  const auto written = ExportGraph(Env::Posix(), **files, out, options);
  if (!written && to_stdout && std::ferror(stdout) != 0) return kExitSystem;  // RunCli says it
  if (!written) return work.Complain(written.error(), to_stdout ? "the output is not complete" : "no file is left");
  if (to_stdout) return kExitOk;
  std::string list;
  for (const auto& [path, bytes] : written->files) {
    list += json ? fmt::format(R"({}{{"path":{},"bytes":{}}})", list.empty() ? "" : ",", JsonQuote(path), bytes)
                 : fmt::format("{}  {}\n", Printable(path), FormatBytes(bytes));
  }
  if (json) {
    fmt::print(R"({{"level":"{}","nodes":{},"links":{},"files":[{}]}})", GraphLevelName(options.level), written->nodes,
               written->arcs, list);
    fmt::print("\n");
  } else {
    fmt::print("{} {}, {} links\n{}", written->nodes,
               (*files)->HasNames(options.level) ? GraphLevelName(options.level) : "nodes", written->arcs, list);
  }
  return kExitOk;
}

int RunGraphImport(int argc, char** argv) {
  VerbApp app("graph import",
              "Takes a graph in WebGraph's format as the graph of a directory, so that stats, rank, out, in, check\n"
              "and export work on it. BASE.graph is copied, and turned round for 'in'.");
  std::string dir;
  std::string base;
  std::string memory = "256M";
  GraphImportOptions options;
  bool json = false;
  app->add_option("dir", dir, "A directory of its own; it is made if it is not there")->required()->type_name("DIR");
  app->add_option("base", base, "The files are BASE.graph, BASE.properties and, if it is there, BASE.offsets")
      ->required()
      ->type_name("BASE");
  app->add_option("--memory", memory, "How much memory the sort may take; more than that is sorted on disk")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  app->add_flag("--force", options.replace, "Replace a graph that was imported before");
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Every list is read before anything is written: files that are damaged or of another kind change nothing. Such "
      "a\n"
      "graph has nodes with numbers, counted from 0, but no names.\n\n"
      "Example:\n"
      "  portolan graph import cnr-2000 downloads/cnr-2000\n"
      "  portolan graph stats cnr-2000");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (Env::Posix().Exists(JoinPath(dir, kConfigFile))) {
    PrintError(
        fmt::format("{}: there is a crawl here, whose graph 'portolan graph build' makes; import into a directory "
                    "of its own",
                    dir));
    return kExitBadInput;
  }
  // BASE.graph is what the shell completes to.
  for (const std::string_view suffix : {".graph", ".properties", ".offsets"}) {
    if (!base.ends_with(suffix)) continue;
    base.resize(base.size() - suffix.size());
    break;
  }
  options.memory = *ParseBytes(memory);
  GraphWork work(app.quiet(), GraphWork::Stop::kIsAnError);
  options.progress = [&](std::string_view step, uint64_t done) { return work.Tell(step, done); };
  const auto imported = ImportGraph(Env::Posix(), base, GraphDirOf(dir), options);
  if (!imported) return work.Complain(imported.error(), "nothing has changed");
  if (json) {
    fmt::print(R"({{"generation":{},"nodes":{},"links":{},"offsets":{}}})", imported->generation, imported->nodes,
               imported->arcs, imported->had_offsets ? R"("checked")" : R"("made")");
    fmt::print("\n");
  } else {
    fmt::print("{}: imported {} nodes and {} links; the offsets were {}\n", dir, imported->nodes, imported->arcs,
               imported->had_offsets ? "checked" : "made, as there were none");
  }
  return kExitOk;
}

}  // namespace portolan
