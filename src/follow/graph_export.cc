#include "follow/graph_export.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/csv.h"
#include "follow/graph_names.h"
#include "follow/name_order.h"
#include "follow/page_hosts.h"
#include "follow/pair_sort.h"

namespace portolan {
namespace {

constexpr uint64_t kTellEveryLines = 1 << 14;

class GraphExporter {
 public:
  GraphExporter(Env& env, const GraphFiles& files, const std::string& out, const GraphExportOptions& options)
      : env_(env), files_(files), out_(out), options_(options) {}

  Result<GraphExportResult> Run();

 private:
  Status Tell(std::string_view step, uint64_t done) {
    return options_.progress && done % kTellEveryLines == 0 ? options_.progress(step, done) : Status();
  }
  // Adds a file to those of the export.
  Result<size_t> Begin(std::string_view suffix) {
    if (options_.sink) {
      made_.push_back(ExportFile::To(options_.sink));
    } else {
      ASSIGN_OR_RETURN(ExportFile file, ExportFile::Create(env_, out_ + std::string(suffix), options_.replace));
      made_.push_back(std::move(file));
    }
    return made_.size() - 1;
  }
  Status Ascii();
  Status Csv();
  Status Names();
  Status CommonCrawl();
  Status WebGraph();
  Result<std::vector<uint32_t>> Vertices();
  Result<std::vector<uint32_t>> HostsPerDomain() const;
  Status Edges(const std::vector<uint32_t>& places);

  Env& env_;
  const GraphFiles& files_;
  const std::string& out_;
  const GraphExportOptions& options_;
  std::vector<ExportFile> made_;
};

Result<GraphExportResult> GraphExporter::Run() {
  if (options_.format == GraphExportFormat::kCommonCrawl && options_.level == GraphLevel::kPages) {
    return Fail(ErrorCode::kInvalidArgument,
                "Common Crawl's format is for graphs of hosts and domains: give --host or "
                "--domain");
  }
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, files_.Properties(options_.level, options_.direction));
  switch (options_.format) {
    case GraphExportFormat::kAscii:
      RETURN_IF_ERROR(Ascii());
      break;
    case GraphExportFormat::kCsv:
      RETURN_IF_ERROR(Csv());
      break;
    case GraphExportFormat::kNames:
      RETURN_IF_ERROR(Names());
      break;
    case GraphExportFormat::kCommonCrawl:
      RETURN_IF_ERROR(CommonCrawl());
      break;
    case GraphExportFormat::kWebGraph:
      RETURN_IF_ERROR(WebGraph());
      break;
  }
  for (ExportFile& file : made_) RETURN_IF_ERROR(file.Seal());
  GraphExportResult result{.files = {}, .nodes = properties.nodes, .arcs = properties.arcs};
  for (ExportFile& file : made_) {
    const Status published = file.Publish();
    if (!published) {
      for (const auto& [path, size] : result.files) static_cast<void>(env_.Remove(path));
      return std::unexpected(published.error());
    }
    if (!options_.sink) result.files.emplace_back(file.path(), file.size());
  }
  return result;
}

// As ASCIIGraph writes it: a blank behind each successor.
Status GraphExporter::Ascii() {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, files_.Properties(options_.level, options_.direction));
  ASSIGN_OR_RETURN(graph::GraphScan scan, files_.Scan(options_.level, options_.direction));
  ASSIGN_OR_RETURN(const size_t at, Begin(""));
  ExportFile& file = made_[at];
  fmt::format_to(std::back_inserter(file.buffer()), "{}\n", properties.nodes);
  while (scan.Next()) {
    for (const graph::NodeId to : scan.successors()) {
      const fmt::format_int digits(to);
      file.buffer().append(digits.data(), digits.size());
      file.buffer() += ' ';
    }
    file.buffer() += '\n';
    RETURN_IF_ERROR(file.FlushFull());
    RETURN_IF_ERROR(Tell("writing lists", scan.node() + 1));
  }
  return scan.status();
}

Status GraphExporter::Csv() {
  ASSIGN_OR_RETURN(graph::GraphScan scan, files_.Scan(options_.level, options_.direction));
  std::optional<graph::UrlDictionary> names;
  if (!options_.numbers && files_.HasNames(options_.level)) {
    ASSIGN_OR_RETURN(names, files_.Names(options_.level));
  }
  ASSIGN_OR_RETURN(const size_t at, Begin(""));
  ExportFile& file = made_[at];
  std::string key;
  const auto field_of = [&](uint64_t node, std::string& field) -> Status {
    if (!names) {
      field = fmt::format_int(node).str();
      return {};
    }
    RETURN_IF_ERROR(names->Get(node, key));
    field.clear();
    AppendCsv(field, NodeNameOfKey(options_.level, key));
    return {};
  };
  file.buffer() += "source,target\n";
  std::string source;
  std::string target;
  uint64_t done = 0;
  while (scan.Next()) {
    if (scan.successors().empty()) continue;
    RETURN_IF_ERROR(field_of(scan.node(), source));
    for (const graph::NodeId to : scan.successors()) {
      RETURN_IF_ERROR(field_of(to, target));
      file.buffer() += source;
      file.buffer() += ',';
      file.buffer() += target;
      file.buffer() += '\n';
      RETURN_IF_ERROR(file.FlushFull());
      RETURN_IF_ERROR(Tell("writing edges", ++done));
    }
  }
  return scan.status();
}

Status GraphExporter::Names() {
  ASSIGN_OR_RETURN(const graph::UrlDictionary names, files_.Names(options_.level));
  ASSIGN_OR_RETURN(const size_t at, Begin(""));
  ExportFile& file = made_[at];
  graph::UrlDictionary::Scan scan(names);
  while (scan.Next()) {
    AppendLineSafe(NodeNameOfKey(options_.level, scan.key()), file.buffer());
    file.buffer() += '\n';
    RETURN_IF_ERROR(file.FlushFull());
    RETURN_IF_ERROR(Tell("writing names", scan.number() + 1));
  }
  return scan.status();
}

Result<std::vector<uint32_t>> GraphExporter::HostsPerDomain() const {
  ASSIGN_OR_RETURN(const graph::UrlDictionary hosts, files_.Names(GraphLevel::kHosts));
  ASSIGN_OR_RETURN(const graph::UrlDictionary domains, files_.Names(GraphLevel::kDomains));
  ASSIGN_OR_RETURN(const DomainNumbers rules, DomainNumbers::Create());
  std::vector<uint32_t> counts(domains.size());
  graph::UrlDictionary::Scan scan(hosts);
  std::string last;
  std::optional<uint64_t> number;
  while (scan.Next()) {
    std::string domain = rules.DomainOf(scan.key());
    if (!number || domain != last) {
      ASSIGN_OR_RETURN(number, domains.Find(domain));
      if (!number) {
        return Fail(ErrorCode::kUnsupported,
                    fmt::format("the domain of {} is not in the graph: the graph was built with another list of public "
                                "suffixes; build it again",
                                ReversedNameOfKey(scan.key())));
      }
      last = std::move(domain);
    }
    ++counts[*number];
  }
  RETURN_IF_ERROR(scan.status());
  return counts;
}

Result<std::vector<uint32_t>> GraphExporter::Vertices() {
  ASSIGN_OR_RETURN(const graph::UrlDictionary names, files_.Names(options_.level));
  std::vector<uint32_t> hosts;
  if (options_.level == GraphLevel::kDomains) {
    ASSIGN_OR_RETURN(hosts, HostsPerDomain());
  }
  ASSIGN_OR_RETURN(const size_t at, Begin("-vertices.txt.gz"));
  ExportFile& file = made_[at];
  uint64_t place = 0;
  return OrderReversedNames(env_, DirName(out_), names, options_.memory,
                            [&](std::string_view name, uint64_t number) -> Status {
                              fmt::format_to(std::back_inserter(file.buffer()), "{}\t", place++);
                              AppendLineSafe(name, file.buffer());
                              if (!hosts.empty()) {
                                fmt::format_to(std::back_inserter(file.buffer()), "\t{}", hosts[number]);
                              }
                              file.buffer() += '\n';
                              RETURN_IF_ERROR(file.FlushFull());
                              return Tell("writing vertices", place);
                            });
}

Status GraphExporter::Edges(const std::vector<uint32_t>& places) {
  ASSIGN_OR_RETURN(graph::GraphScan scan, files_.Scan(options_.level, options_.direction));
  ASSIGN_OR_RETURN(const size_t at, Begin("-edges.txt.gz"));
  ExportFile& file = made_[at];
  uint64_t done = 0;
  const auto write = [&](uint64_t from, uint64_t to) -> Status {
    const fmt::format_int source(from);
    const fmt::format_int target(to);
    file.buffer().append(source.data(), source.size());
    file.buffer() += '\t';
    file.buffer().append(target.data(), target.size());
    file.buffer() += '\n';
    RETURN_IF_ERROR(file.FlushFull());
    return Tell("writing edges", ++done);
  };
  const bool same = std::ranges::is_sorted(places);
  PairSort pairs(env_, {.dir = DirName(out_), .memory = same ? size_t{4096} : options_.memory});
  while (scan.Next()) {
    if (scan.node() >= places.size()) return Fail(ErrorCode::kCorrupt, "the graph has more nodes than names");
    for (const graph::NodeId to : scan.successors()) {
      if (to >= places.size()) return Fail(ErrorCode::kCorrupt, "the graph has more nodes than names");
      if (same) {
        RETURN_IF_ERROR(write(scan.node(), to));
      } else {
        RETURN_IF_ERROR(pairs.Add(MakePair(places[scan.node()], places[to])));
      }
    }
  }
  RETURN_IF_ERROR(scan.status());
  if (same) return {};
  RETURN_IF_ERROR(pairs.Sort());
  for (uint64_t pair = 0;;) {
    ASSIGN_OR_RETURN(const bool more, pairs.Next(pair));
    if (!more) return {};
    RETURN_IF_ERROR(write(pair >> 32, pair & 0xffffffff));
  }
}

Status GraphExporter::CommonCrawl() {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> places, Vertices());
  return Edges(places);
}

Status GraphExporter::WebGraph() {
  constexpr size_t kPiece = ExportFile::kBuffer;
  for (const std::string_view suffix : {".graph", ".offsets", ".properties"}) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     files_.Bytes(GraphBaseName(options_.level, options_.direction) + std::string(suffix)));
    ASSIGN_OR_RETURN(const size_t at, Begin(suffix));
    for (size_t done = 0; done < bytes.size(); done += kPiece) {
      RETURN_IF_ERROR(made_[at].Append(bytes.substr(done, kPiece)));
      if (options_.progress) RETURN_IF_ERROR(options_.progress("copying bytes", done));
    }
  }
  return {};
}

}  // namespace

Result<GraphExportResult> ExportGraph(Env& env, const GraphFiles& files, const std::string& out,
                                      const GraphExportOptions& options) {
  return GraphExporter(env, files, out, options).Run();
}

}  // namespace portolan
