#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "cli/graph_stats.h"

namespace portolan {
namespace {

using StatsJson = nlohmann::ordered_json;

double PartOf(uint64_t a, uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string Percent(double part) {
  const double percent = 100 * part;
  return percent > 0 && percent < 0.1 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

// "##########" of `width` for 1; "." for what is too little for one.
std::string Bar(double part, size_t width) {
  const double filled = std::clamp(part, 0.0, 1.0) * static_cast<double>(width);
  const auto count = static_cast<size_t>(filled + 0.5);
  return count > 0 ? std::string(count, '#') : std::string(part > 0 ? "." : "");
}

// Degrees in classes of doubling size: 0, 1, 2 to 3, 4 to 7 …
std::vector<uint64_t> DegreeClasses(const graph::DegreeStats& stats) {
  std::vector<uint64_t> classes;
  for (const auto& [degree, nodes] : stats.counts) {
    const auto index = static_cast<size_t>(std::bit_width(degree));
    if (classes.size() <= index) classes.resize(index + 1);
    classes[index] += nodes;
  }
  return classes;
}

std::string ClassName(size_t index) {
  if (index < 2) return fmt::format("{}", index);
  const uint64_t from = uint64_t{1} << (index - 1);
  return fmt::format("{} to {}", from, 2 * from - 1);
}

void AddSideRow(const char* name, const GraphStatsSide& side, std::string& text) {
  text += fmt::format("  {:<10} {:>10.2f} {:>9} {:>9} {:>9} {:>10}   {:>7}\n", name, side.degrees.mean, side.median,
                      side.p90, side.p99, side.degrees.max, Percent(PartOf(side.degrees.zero, side.degrees.nodes)));
}

void AddFit(const char* name, const GraphStatsSide& side, std::string& text) {
  const auto& fit = side.degrees.fit;
  if (!fit) {
    text += fmt::format("  {:<10} too few nodes\n", name);
    return;
  }
  // A tail that really is one is about so near (graph/power_law.h).
  const bool near = fit->distance <= 0.9 / std::sqrt(static_cast<double>(fit->tail));
  text += fmt::format("  {:<10} exponent {:.2f} ± {:.2f} from {} links on, {} nodes; {} (distance {:.3f})\n", name,
                      fit->alpha, fit->sigma, fit->x_min, fit->tail, near ? "it fits" : "it does not fit well",
                      fit->distance);
}

void AddDegrees(const GraphStats& stats, std::string& text) {
  text += fmt::format("\nlinks per node {:>8} {:>9} {:>9} {:>9} {:>10}   {:>7}\n", "mean", "median", "90 %", "99 %",
                      "most", "none");
  AddSideRow("out", stats.out, text);
  AddSideRow("in", stats.in, text);
  text += "\npower law that fits best\n";
  AddFit("out", stats.out, text);
  AddFit("in", stats.in, text);

  constexpr size_t kBar = 20;
  const std::vector<uint64_t> out = DegreeClasses(stats.out.degrees);
  const std::vector<uint64_t> in = DegreeClasses(stats.in.degrees);
  const double nodes = static_cast<double>(std::max<uint64_t>(1, stats.out.degrees.nodes));
  text += fmt::format("\n  {:<20} {:>10} {:<{}}  {:>10}\n", "links", "nodes out", "", kBar, "nodes in");
  for (size_t i = 0; i < std::max(out.size(), in.size()); ++i) {
    const uint64_t a = i < out.size() ? out[i] : 0;
    const uint64_t b = i < in.size() ? in[i] : 0;
    std::string row =
        fmt::format("  {:<20} {:>10} {:<{}}  {:>10} {}", ClassName(i), a, Bar(static_cast<double>(a) / nodes, kBar),
                    kBar, b, Bar(static_cast<double>(b) / nodes, kBar));
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
}

void AddTop(const char* heading, const GraphStatsSide& side, bool named, std::string& text) {
  if (side.top.empty()) return;
  text += fmt::format("\n{}\n", heading);
  for (const GraphStatsTop& top : side.top) {
    text += fmt::format("  {:>10}  {}{}\n", top.degree, named ? "" : "node ", Printable(top.name));
  }
}

void AddBowTie(const GraphStatsParts& parts, uint64_t nodes, std::string& text) {
  constexpr size_t kBar = 40;
  text += "\nbow tie\n";
  const auto row = [&](const char* name, uint64_t count) {
    std::string line = fmt::format("  {:<14} {:>10}  {:>7}  {}", name, count, Percent(PartOf(count, nodes)),
                                   Bar(PartOf(count, nodes), kBar));
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  row("core", parts.core);
  row("in", parts.in);
  row("out", parts.out);
  row("tendrils", parts.tendrils);
  row("disconnected", parts.disconnected);
  text += fmt::format("  {} strongly connected components; the core is the largest, the next one has {} nodes\n",
                      parts.components, parts.second);
}

void AddDistances(const GraphStatsDistances& distances, std::string& text) {
  constexpr size_t kBar = 40;
  constexpr size_t kMostRows = 24;
  const graph::DistanceStats& stats = distances.stats;
  text += "\ndistances, along links\n";
  if (stats.fractions.empty()) {
    text += "  no node leads to another one\n";
    return;
  }
  // Far ones that are few are summed up, many distances stand together.
  size_t end = stats.fractions.size();
  double rest = 0;
  while (end > 2 && rest + stats.fractions[end - 1] < 0.005) rest += stats.fractions[--end];
  const size_t step = (end + kMostRows - 1) / kMostRows;
  struct Row {
    std::string name;
    double part;
  };
  std::vector<Row> rows;
  for (size_t from = 1; from < end; from += step) {
    const size_t to = std::min(from + step, end) - 1;
    Row row{from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to), 0};
    for (size_t t = from; t <= to; ++t) row.part += stats.fractions[t];
    rows.push_back(std::move(row));
  }
  const double most = std::ranges::max_element(rows, {}, &Row::part)->part;
  for (const Row& row : rows) {
    text += fmt::format("  {:>8}  {:>7}  {}\n", row.name, Percent(row.part), Bar(row.part / most, kBar));
  }
  if (rest > 0) text += fmt::format("  {:>8}  {:>7}\n", "more", Percent(rest));
  text += fmt::format(
      "  mean {:.2f}; 90 % within {:.2f} (the effective diameter); the longest is at least {}\n"
      "  a path leads from a node to another one for {} of all pairs\n"
      "  estimated with counters of 2^{} registers, whose standard error is {:.1f} %\n",
      stats.average, stats.effective_diameter, stats.longest, Percent(std::min(1.0, stats.reachable)), distances.log2m,
      100 * distances.error);
}

StatsJson SideJson(const GraphStatsSide& side, bool named) {
  const graph::DegreeStats& degrees = side.degrees;
  StatsJson json = {{"mean", degrees.mean},
                    {"median", side.median},
                    {"p90", side.p90},
                    {"p99", side.p99},
                    {"max", degrees.max},
                    {"zero", degrees.zero},
                    {"bits_per_link", degrees.arcs == 0 ? 0 : 8 * PartOf(side.bytes, degrees.arcs)}};
  if (degrees.fit) {
    json["power_law"] = {{"exponent", degrees.fit->alpha},
                         {"error", degrees.fit->sigma},
                         {"from", degrees.fit->x_min},
                         {"nodes", degrees.fit->tail},
                         {"distance", degrees.fit->distance}};
  } else {
    json["power_law"] = nullptr;
  }
  StatsJson counts = StatsJson::array();
  for (const auto& [degree, nodes] : degrees.counts) counts.push_back({degree, nodes});
  json["counts"] = std::move(counts);
  StatsJson tops = StatsJson::array();
  for (const GraphStatsTop& top : side.top) {
    StatsJson row = {{"node", top.node}, {"links", top.degree}};
    if (named) row["name"] = top.name;
    tops.push_back(std::move(row));
  }
  json["top"] = std::move(tops);
  return json;
}

}  // namespace

std::string GraphStatsText(const GraphStats& stats) {
  const graph::DegreeStats& out = stats.out.degrees;
  std::string text = fmt::format("{}, generation {}: the graph of {}\n", stats.dir, stats.generation,
                                 stats.named ? GraphLevelName(stats.level) : "an import");
  text += fmt::format("  {:<12} {}", "nodes", out.nodes);
  if (stats.fetched)
    text += fmt::format(", {} of them fetched ({})", *stats.fetched, Percent(PartOf(*stats.fetched, out.nodes)));
  text += fmt::format("\n  {:<12} {}", "links", out.arcs);
  if (out.loops > 0) text += fmt::format(", {} of them from a node to itself", out.loops);
  text += fmt::format("\n  {:<12} {:.2f} bits per link, {:.2f} turned round; {} with the offsets of both\n",
                      "compressed", 8 * PartOf(stats.out.bytes, out.arcs), 8 * PartOf(stats.in.bytes, out.arcs),
                      FormatBytes(stats.out.bytes + stats.in.bytes + stats.offset_bytes));
  AddDegrees(stats, text);
  AddTop("most links out", stats.out, stats.named, text);
  AddTop("most links in", stats.in, stats.named, text);
  if (stats.parts) AddBowTie(*stats.parts, out.nodes, text);
  if (stats.distances) AddDistances(*stats.distances, text);
  return text + fmt::format("\n{} of memory, {}\n", FormatBytes(stats.memory), FormatDuration(stats.seconds));
}

std::string GraphStatsJson(const GraphStats& stats) {
  StatsJson json = {{"dir", stats.dir},
                    {"generation", stats.generation},
                    {"level", GraphLevelName(stats.level)},
                    {"nodes", stats.out.degrees.nodes},
                    {"fetched", stats.fetched ? StatsJson(*stats.fetched) : StatsJson()},
                    {"links", stats.out.degrees.arcs},
                    {"loops", stats.out.degrees.loops},
                    {"out", SideJson(stats.out, stats.named)},
                    {"in", SideJson(stats.in, stats.named)},
                    {"offset_bytes", stats.offset_bytes}};
  if (stats.parts) {
    json["bow_tie"] = {{"core", stats.parts->core},
                       {"in", stats.parts->in},
                       {"out", stats.parts->out},
                       {"tendrils", stats.parts->tendrils},
                       {"disconnected", stats.parts->disconnected},
                       {"components", stats.parts->components},
                       {"second", stats.parts->second}};
  }
  if (stats.distances) {
    const graph::DistanceStats& distances = stats.distances->stats;
    json["distances"] = {{"mean", distances.average},           {"effective_diameter", distances.effective_diameter},
                         {"longest", distances.longest},        {"pairs", distances.pairs},
                         {"reachable", distances.reachable},    {"fractions", distances.fractions},
                         {"precision", stats.distances->log2m}, {"standard_error", stats.distances->error}};
  }
  json["memory_bytes"] = stats.memory;
  json["seconds"] = stats.seconds;
  return json.dump(-1, ' ', false, StatsJson::error_handler_t::replace);
}

}  // namespace portolan
