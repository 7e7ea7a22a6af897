#include "graph/properties.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace portolan::graph {
namespace {

constexpr std::string_view kGraphClass = "it.unimi.dsi.webgraph.BVGraph";
constexpr std::string_view kBigGraphClass = "it.unimi.dsi.big.webgraph.BVGraph";
constexpr uint64_t kMaxJavaNodes = 0x7fffffff;  // more need the "big" class

std::string_view TrimBlanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\f";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// A field of `compressionflags` and where its coding stands.
struct CodingField {
  std::string_view name;
  Code GraphParameters::* code;
};
constexpr CodingField kCodingFields[] = {
    {"OUTDEGREES", &GraphParameters::outdegrees},    {"BLOCKS", &GraphParameters::blocks},
    {"RESIDUALS", &GraphParameters::residuals},      {"REFERENCES", &GraphParameters::references},
    {"BLOCK_COUNT", &GraphParameters::block_counts}, {"OFFSETS", &GraphParameters::offsets},
};

Status ParseFlag(std::string_view flag, GraphParameters& parameters) {
  if (flag == "INTERVALS_GAMMA") return {};  // webgraph-rs has others, this one is what every version-0 graph has
  const size_t split = flag.rfind('_');
  if (split != std::string_view::npos) {
    for (const CodingField& field : kCodingFields) {
      if (field.name != flag.substr(0, split)) continue;
      const std::optional<Code> code = CodeByName(flag.substr(split + 1));
      if (!code) break;
      parameters.*field.code = *code;
      return {};
    }
  }
  return Fail(ErrorCode::kUnsupported, fmt::format("graph properties: unknown coding '{}' in compressionflags", flag));
}

Status ParseFlags(std::string_view flags, GraphParameters& parameters) {
  while (!flags.empty()) {
    const size_t end = std::min(flags.find('|'), flags.size());
    const std::string_view flag = TrimBlanks(flags.substr(0, end));
    if (!flag.empty()) RETURN_IF_ERROR(ParseFlag(flag, parameters));
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return {};
}

template <typename T>
Status ParseCount(std::string_view key, std::string_view value, T& out) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc() || end != value.data() + value.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("graph properties: '{}' is '{}', not a number in range", key, value));
  }
  return {};
}

Status Expect(std::string_view key, std::string_view value, std::initializer_list<std::string_view> known) {
  for (const std::string_view one : known) {
    if (value == one) return {};
  }
  return Fail(ErrorCode::kUnsupported, fmt::format("graph properties: {} '{}' is unknown", key, value));
}

struct SeenKeys {
  bool nodes = false;
  bool arcs = false;
};

Status ParseEntry(std::string_view key, std::string_view value, GraphProperties& properties, SeenKeys& seen) {
  GraphParameters& parameters = properties.parameters;
  GraphStatistics& statistics = properties.statistics;
  if (key == "nodes") {
    seen.nodes = true;
    return ParseCount(key, value, properties.nodes);
  }
  if (key == "arcs") {
    seen.arcs = true;
    return ParseCount(key, value, properties.arcs);
  }
  if (key == "windowsize") return ParseCount(key, value, parameters.window);
  if (key == "maxrefcount") {
    if (value != "-1") return ParseCount(key, value, parameters.max_refs);
    parameters.max_refs = kUnlimitedRefs;
    return {};
  }
  if (key == "minintervallength") return ParseCount(key, value, parameters.min_interval);
  if (key == "zetak") return ParseCount(key, value, parameters.zeta_k);
  if (key == "compressionflags") return ParseFlags(value, parameters);
  if (key == "version") return Expect(key, value, {"0"});
  if (key == "endianness") return Expect(key, value, {"big"});
  if (key == "graphclass") return Expect(key, value, {kGraphClass, kBigGraphClass});
  if (key == "length") return ParseCount(key, value, statistics.bits);
  if (key == "bitsforoutdegrees") return ParseCount(key, value, statistics.bits_for_outdegrees);
  if (key == "bitsforreferences") return ParseCount(key, value, statistics.bits_for_references);
  if (key == "bitsforblocks") return ParseCount(key, value, statistics.bits_for_blocks);
  if (key == "bitsforintervals") return ParseCount(key, value, statistics.bits_for_intervals);
  if (key == "bitsforresiduals") return ParseCount(key, value, statistics.bits_for_residuals);
  if (key == "copiedarcs") return ParseCount(key, value, statistics.copied_arcs);
  if (key == "intervalisedarcs") return ParseCount(key, value, statistics.interval_arcs);
  if (key == "residualarcs") return ParseCount(key, value, statistics.residual_arcs);
  return {};
}

double Ratio(uint64_t a, uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string FlagsText(const GraphParameters& parameters) {
  const GraphParameters defaults;
  std::string text;
  for (const CodingField& field : kCodingFields) {
    if (parameters.*field.code == defaults.*field.code) continue;
    if (!text.empty()) text += '|';
    text += fmt::format("{}_{}", field.name, CodeName(parameters.*field.code));
  }
  return text;
}

}  // namespace

Status GraphParameters::Validate() const {
  const auto refuse = [](std::string_view key, uint64_t value, uint64_t low, uint64_t high) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("graph properties: {} is {}, we take {} to {}", key, value, low, high));
  };
  if (window > kMaxWindow) return refuse("windowsize", window, 0, kMaxWindow);
  if (max_refs > kUnlimitedRefs) return refuse("maxrefcount", max_refs, 0, kUnlimitedRefs);
  if (zeta_k < 1 || zeta_k > 16) return refuse("zetak", zeta_k, 1, 16);
  return {};
}

Result<GraphProperties> GraphProperties::Parse(std::string_view text) {
  GraphProperties properties;
  SeenKeys seen;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = TrimBlanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const size_t split = std::min(line.find_first_of("=:"), line.size());
    const std::string_view value = split < line.size() ? TrimBlanks(line.substr(split + 1)) : std::string_view();
    RETURN_IF_ERROR(ParseEntry(TrimBlanks(line.substr(0, split)), value, properties, seen));
  }
  if (!seen.nodes) return Fail(ErrorCode::kCorrupt, "graph properties: no 'nodes'");
  if (!seen.arcs) return Fail(ErrorCode::kCorrupt, "graph properties: no 'arcs'");
  if (properties.nodes > kMaxNodes) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("graph properties: {} nodes, we take at most {}", properties.nodes, kMaxNodes));
  }
  RETURN_IF_ERROR(properties.parameters.Validate());
  return properties;
}

std::string GraphProperties::ToText() const {
  const GraphStatistics& s = statistics;
  std::string text = "#BVGraph properties\n";
  const auto add = [&text](std::string_view key, const auto& value) { text += fmt::format("{}={}\n", key, value); };
  const auto ratio = [&text](std::string_view key, double value) { text += fmt::format("{}={:.3f}\n", key, value); };
  add("graphclass", nodes > kMaxJavaNodes ? kBigGraphClass : kGraphClass);
  add("version", 0);
  add("endianness", "big");
  add("nodes", nodes);
  add("arcs", arcs);
  add("windowsize", parameters.window);
  add("maxrefcount", parameters.max_refs);
  add("minintervallength", parameters.min_interval);
  add("zetak", parameters.zeta_k);
  add("compressionflags", FlagsText(parameters));
  add("length", s.bits);
  ratio("bitsperlink", Ratio(s.bits, arcs));
  ratio("bitspernode", Ratio(s.bits, nodes));
  ratio("avgref", Ratio(s.sum_of_references, nodes));
  ratio("avgdist", Ratio(s.sum_of_chains, nodes));
  add("copiedarcs", s.copied_arcs);
  add("intervalisedarcs", s.interval_arcs);
  add("residualarcs", s.residual_arcs);
  add("bitsforoutdegrees", s.bits_for_outdegrees);
  add("bitsforreferences", s.bits_for_references);
  add("bitsforblocks", s.bits_for_blocks);
  add("bitsforintervals", s.bits_for_intervals);
  add("bitsforresiduals", s.bits_for_residuals);
  return text;
}

}  // namespace portolan::graph
